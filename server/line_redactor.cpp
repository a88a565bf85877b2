#include "server/line_redactor.h"

#include <utility>

#include "engine/redact.h"

namespace escrow::server {
namespace {

/// An unfinished line longer than this is handed on all the same: a progress bar, a minified file.
constexpr std::size_t kLongestHeld = 8192;

}  // namespace

std::string LineRedactor::take(std::string_view bytes) {
  held_ += bytes;
  const std::size_t newline = held_.rfind('\n');
  const std::size_t end = newline != std::string::npos ? newline + 1 : held_.size() > kLongestHeld ? held_.size() : 0;
  if (end == 0) return {};
  std::string rest = held_.substr(end);
  held_.resize(end);
  std::string lines = engine::redact(std::exchange(held_, std::move(rest)));
  return lines;
}

std::string LineRedactor::finish() {
  return engine::redact(std::exchange(held_, {}));
}

}  // namespace escrow::server
