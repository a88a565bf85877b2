#include "engine/lazy_regex.h"

#include <cassert>

namespace escrow::engine {

const re2::RE2& LazyRegex::compiled() const {
  std::call_once(once_, [this] {
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);
    options.set_log_errors(false);
    regex_ = std::make_unique<re2::RE2>(pattern_, options);
    assert(regex_->ok());
  });
  return *regex_;
}

bool LazyRegex::find(std::string_view text, std::size_t from, std::size_t& begin, std::size_t& end) const {
  re2::StringPiece found;
  const re2::StringPiece input(text.data(), text.size());
  if (from > text.size()) return false;
  if (!compiled().Match(input, from, text.size(), re2::RE2::UNANCHORED, &found, 1)) return false;
  begin = static_cast<std::size_t>(found.data() - text.data());
  end = begin + found.size();
  return true;
}

bool LazyRegex::matches(std::string_view text) const {
  return compiled().Match(re2::StringPiece(text.data(), text.size()), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::string_view LazyRegex::capture(std::string_view text) const {
  re2::StringPiece groups[2];
  const re2::StringPiece input(text.data(), text.size());
  if (!compiled().Match(input, 0, text.size(), re2::RE2::UNANCHORED, groups, 2)) return {};
  return {groups[1].data(), groups[1].size()};
}

}  // namespace escrow::engine
