#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace escrow::server::cli {

/// Text of agents and repositories as one line that a terminal shows and never obeys: hidden and control characters
/// as visible escapes, a line's end as `\n`, at most `max` columns.
std::string plain_line(std::string_view text, std::size_t max = 200);

}  // namespace escrow::server::cli
