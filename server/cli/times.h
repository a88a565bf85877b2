#pragma once

#include <cstdint>
#include <string>

namespace escrow::server::cli {

/// `2026-03-01 14:05` in the person's time zone.
std::string local_time(std::int64_t ms);

}  // namespace escrow::server::cli
