#pragma once

#include <re2/re2.h>

#include <memory>
#include <mutex>
#include <string_view>

namespace escrow::engine {

/// A regular expression compiled when it is first needed; most runs need few of the hundreds there are.
///
/// Bytes, not code points (a diff need not be valid UTF-8); linear time in the text. Thread-safe.
class LazyRegex {
 public:
  explicit LazyRegex(const char* pattern) : pattern_(pattern) {}

  /// Begin and end of the leftmost match at or after `from`.
  bool find(std::string_view text, std::size_t from, std::size_t& begin, std::size_t& end) const;
  bool matches(std::string_view text) const;
  /// The first group of the leftmost match; empty if there is no match.
  std::string_view capture(std::string_view text) const;

  const re2::RE2& compiled() const;

 private:
  const char* pattern_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<re2::RE2> regex_;
};

}  // namespace escrow::engine
