#pragma once

#include <cstddef>
#include <string>

#include "server/error.h"

namespace escrow::server::cli {

/// As much as one message of the protocol may hold.
inline constexpr std::size_t kMaxInputBytes = 64u << 20;

/// The bytes of a file, or of stdin for an empty name or `-`. More than kMaxInputBytes is `limit_exceeded`.
Result<std::string> read_input(const std::string& file);

/// How messages name that input.
std::string input_name(const std::string& file);

}  // namespace escrow::server::cli
