#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sandbox/execution.h"

namespace escrow::sandbox {

/// Keeps the beginning and the end of a stream, at most `limit` bytes together, and counts the rest.
class OutputCapture {
 public:
  explicit OutputCapture(std::uint64_t limit) : head_limit_(limit / 2), tail_limit_(limit - limit / 2) {}

  void append(std::string_view bytes);
  std::uint64_t total_bytes() const { return total_; }
  Captured take();

 private:
  std::uint64_t head_limit_, tail_limit_, total_ = 0;
  std::string head_, tail_;
};

}  // namespace escrow::sandbox
