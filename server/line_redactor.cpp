#include "server/line_redactor.h"

#include <utility>

#include "engine/redact.h"
#include "engine/secrets.h"

namespace escrow::server {
namespace {

/// An unfinished line longer than this is handed on all the same (a progress bar, a minified file), but for its end.
constexpr std::size_t kLongestHeld = 8192;
/// What the beginning of a secret can be long before it is recognised as one.
constexpr std::size_t kUnrecognised = 1024;

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
         c == '+' || c == '/' || c == '=' || c == '.' || c == '%' || static_cast<unsigned char>(c) >= 0x80;
}

/// Where an endless line can be cut without cutting a secret.
std::size_t cut_of(const std::string& line) {
  std::size_t cut = line.size() - kUnrecognised;
  for (const auto& match : engine::find_secrets(line, engine::BareValues::count)) {
    if (match.begin < cut && cut < match.end) cut = match.begin;
  }
  return cut == 0 ? line.size() : cut;
}

}  // namespace

std::size_t LineRedactor::ready() const {
  const std::size_t newline = held_.rfind('\n');
  const std::size_t lines = newline == std::string::npos ? 0 : newline + 1;
  if (held_.size() - lines > kLongestHeld) return lines > 0 ? lines : cut_of(held_);
  const bool may_go = hold_ == Hold::word && !held_.empty() && !is_word_byte(held_.back());
  return may_go ? held_.size() : lines;
}

std::string LineRedactor::take(std::string_view bytes) {
  held_ += bytes;
  std::string out;
  while (const std::size_t end = ready()) {
    std::string rest = held_.substr(end);
    held_.resize(end);
    out += engine::redact_piece(std::exchange(held_, std::move(rest)), in_key_);
  }
  return out;
}

std::string LineRedactor::finish() {
  return engine::redact_piece(std::exchange(held_, {}), in_key_);
}

}  // namespace escrow::server
