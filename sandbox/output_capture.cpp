#include "sandbox/output_capture.h"

#include <algorithm>

namespace escrow::sandbox {

void OutputCapture::append(std::string_view bytes) {
  total_ += bytes.size();
  const std::size_t to_head = std::min<std::size_t>(bytes.size(), head_limit_ - head_.size());
  head_.append(bytes.substr(0, to_head));
  tail_.append(bytes.substr(to_head));
  // Cut only when twice the size, so that a long stream of small pieces stays linear.
  if (tail_.size() > 2 * tail_limit_) tail_.erase(0, tail_.size() - tail_limit_);
}

Captured OutputCapture::take() {
  if (tail_.size() > tail_limit_) tail_.erase(0, tail_.size() - tail_limit_);
  Captured captured{.head = std::move(head_), .tail = std::move(tail_), .total_bytes = total_, .dropped_bytes = 0};
  captured.dropped_bytes = total_ - captured.head.size() - captured.tail.size();
  head_.clear();
  tail_.clear();
  return captured;
}

}  // namespace escrow::sandbox
