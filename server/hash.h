#pragma once

#include <string>
#include <string_view>

namespace escrow::server {

/// SHA-256 (FIPS 180-4) as 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

/// 128 random bits from the system's generator as 32 hex digits: tokens, nonces, ids that must not be guessed.
std::string random_token();

}  // namespace escrow::server
