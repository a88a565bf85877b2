#pragma once

#include <optional>
#include <string_view>

namespace escrow::engine {

/// The well-known package that `name` could be mistaken for: one slip of a key, two letters swapped, or a separator
/// away. Empty if it is well known itself, or near none.
std::optional<std::string_view> find_lookalike_package(std::string_view name);

/// True if the names differ by one insertion, deletion, substitution or swap of neighbours.
bool is_one_slip_apart(std::string_view a, std::string_view b);

}  // namespace escrow::engine
