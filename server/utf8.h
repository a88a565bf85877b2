#pragma once

#include <string>
#include <string_view>

namespace escrow::server {

/// `bytes` with every byte that is no part of well-formed UTF-8 (Unicode 15, table 3-7) replaced by U+FFFD.
std::string valid_utf8(std::string_view bytes);

}  // namespace escrow::server
