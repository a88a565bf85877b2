#pragma once

#include <string_view>

namespace escrow::engine {

/// The last component of a '/'-separated path; slashes at the end are no component.
std::string_view base_name(std::string_view path);

}  // namespace escrow::engine
