#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Durations and sizes as people write them: in policy files, on the command line, and back on the screen.
namespace escrow::server {

/// `500ms`, `30s`, `5m`, `24h`, `7d` in milliseconds. Empty for anything else, a bare number and overflow included.
std::optional<std::int64_t> parse_duration_ms(std::string_view text);

/// `1048576`, `512K`, `64M`, `4G` (powers of 1024) in bytes. Empty for anything else.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// What a person reads: `48 ms`, `1.2 s`, `5 min`, `24 h`.
std::string format_duration_ms(std::int64_t ms);

/// What a person reads: `812 B`, `1.5 MiB`.
std::string format_bytes(std::uint64_t bytes);

}  // namespace escrow::server
