#include "engine/lazy_regex.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

#include "engine/text.h"

// RE2 makes a class of every letter of a `(?i)` expression, which then costs several times as much to compile as the
// same expression in lower case, for a run that often looks at a few lines with it. So a short text is put in lower
// case, and the expression as well. A long text keeps its letters: callers that go on from match to match would have it
// lowered each time anew.

namespace escrow::engine {
namespace {

constexpr std::string_view kAnyCase = "(?i)";
constexpr std::size_t kLongestFolded = 512;  // bytes
constexpr std::size_t kMostGroups = 5;

std::unique_ptr<re2::RE2> compile(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  auto regex = std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  assert(regex->ok());
  return regex;
}

/// Any case everywhere, and nothing in it that lower case would change: no other flags, no character by its number.
bool is_foldable(std::string_view pattern) {
  if (!pattern.starts_with(kAnyCase)) return false;
  for (std::size_t at = kAnyCase.size(); at + 1 < pattern.size(); ++at) {
    if (pattern[at] == '\\' && std::string_view("xpPQC").find(pattern[at + 1]) != std::string_view::npos) return false;
    if (pattern[at] == '(' && pattern[at + 1] == '?' && pattern.substr(at, 3) != "(?:") return false;
    if (pattern[at] == '\\') ++at;
  }
  return is_ascii(pattern);
}

/// The letters in lower case; `\S` stays `\S`.
std::string lower_pattern(std::string_view pattern) {
  std::string out;
  for (std::size_t at = kAnyCase.size(); at < pattern.size(); ++at) {
    const bool escape = pattern[at] == '\\' && at + 1 < pattern.size();
    out += lower(pattern[at]);
    if (escape) out += pattern[++at];
  }
  return out;
}

std::string_view fold(std::string_view text) {
  thread_local std::array<char, kLongestFolded> buffer;
  std::transform(text.begin(), text.end(), buffer.begin(), [](char c) { return lower(c); });
  return {buffer.data(), text.size()};
}

}  // namespace

LazyRegex::LazyRegex(const char* pattern) : pattern_(pattern), folds_(is_foldable(pattern)) {}

const re2::RE2& LazyRegex::as_written() const {
  std::call_once(program_.once, [this] { program_.regex = compile(pattern_); });
  return *program_.regex;
}

const re2::RE2& LazyRegex::folded() const {
  std::call_once(folded_.once, [this] { folded_.regex = compile(lower_pattern(pattern_)); });
  return *folded_.regex;
}

/// The groups point into `text`.
bool LazyRegex::match(std::string_view text, std::size_t from, std::span<re2::StringPiece> groups) const {
  if (from > text.size()) return false;
  const bool folds = folds_ && text.size() <= kLongestFolded;
  const std::string_view input = folds ? fold(text) : text;
  const re2::RE2& regex = folds ? folded() : as_written();
  const bool found = regex.Match(re2::StringPiece(input.data(), input.size()), from, input.size(), re2::RE2::UNANCHORED,
                                 groups.data(), static_cast<int>(groups.size()));
  if (!found || !folds) return found;
  for (re2::StringPiece& group : groups) {
    if (group.data() != nullptr) group = re2::StringPiece(text.data() + (group.data() - input.data()), group.size());
  }
  return true;
}

bool LazyRegex::find(std::string_view text, std::size_t from, std::size_t& begin, std::size_t& end) const {
  std::array<re2::StringPiece, 1> found;
  if (!match(text, from, found)) return false;
  begin = static_cast<std::size_t>(found[0].data() - text.data());
  end = begin + found[0].size();
  return true;
}

bool LazyRegex::matches(std::string_view text) const {
  return match(text, 0, {});
}

std::string_view LazyRegex::capture(std::string_view text) const {
  std::array<std::string_view, 2> groups;
  return capture_all(text, groups) ? groups[1] : std::string_view();
}

bool LazyRegex::capture_all(std::string_view text, std::span<std::string_view> out) const {
  std::array<re2::StringPiece, kMostGroups> groups;
  assert(out.size() <= groups.size());
  if (!match(text, 0, std::span(groups).first(out.size()))) return false;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = {groups[i].data(), groups[i].size()};
  return true;
}

}  // namespace escrow::engine
