#pragma once

#include <chrono>
#include <cstdint>

namespace escrow::server {

/// Milliseconds since the Unix epoch; what `engine` is given as `now`.
inline std::int64_t now_ms() {
  using std::chrono::duration_cast;
  return duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace escrow::server
