#pragma once

#include <string_view>

namespace escrow::engine {

/// Walks a text line by line; lines are views without their '\n'.
class LineCursor {
 public:
  explicit LineCursor(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  /// 1-based number of the line that `peek` shows.
  std::size_t number() const { return number_; }

  std::string_view peek() const { return rest_.substr(0, rest_.find('\n')); }

  /// The line after the one `peek` shows; empty at the end.
  std::string_view peek_second() const {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return {};
    const std::string_view after = rest_.substr(end + 1);
    return after.substr(0, after.find('\n'));
  }

  std::string_view next() {
    const std::string_view line = peek();
    rest_.remove_prefix(line.size() < rest_.size() ? line.size() + 1 : line.size());
    ++number_;
    return line;
  }

 private:
  std::string_view rest_;
  std::size_t number_ = 1;
};

/// The line without the '\r' of a CRLF ending.
inline std::string_view without_cr(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace escrow::engine
