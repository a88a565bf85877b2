#pragma once

#include <re2/re2.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

namespace escrow::engine {

/// A regular expression compiled when it is first needed; most runs need few of the hundreds there are.
///
/// Bytes, not code points (a diff need not be valid UTF-8); linear time in the text. Thread-safe.
class LazyRegex {
 public:
  /// `pattern` must outlive the object. One that begins with `(?i)` has no other flags, or is compiled as it is.
  explicit LazyRegex(const char* pattern);

  /// Begin and end of the leftmost match at or after `from`.
  bool find(std::string_view text, std::size_t from, std::size_t& begin, std::size_t& end) const;
  bool matches(std::string_view text) const;
  /// The first group of the leftmost match; empty if there is no match.
  std::string_view capture(std::string_view text) const;
  /// The leftmost match and its first groups, as many as `out` holds (at most 4); a group that took no part is empty.
  bool capture_all(std::string_view text, std::span<std::string_view> out) const;

 private:
  /// Compiled on first use.
  struct Program {
    std::once_flag once;
    std::unique_ptr<re2::RE2> regex;
  };

  const re2::RE2& as_written() const;
  const re2::RE2& folded() const;
  bool match(std::string_view text, std::size_t from, std::span<re2::StringPiece> groups) const;

  const char* pattern_;
  bool folds_;  ///< case does not count: short texts are matched in lower case
  mutable Program program_, folded_;
};

}  // namespace escrow::engine
