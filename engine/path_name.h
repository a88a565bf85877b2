#pragma once

#include <string>
#include <string_view>

namespace escrow::engine {

/// The last component of a '/'-separated path; slashes at the end are no component.
std::string_view base_name(std::string_view path);

/// Lower case, and each component without the dots and blanks at its end: the name that a lenient file system would
/// open.
std::string lenient_path(std::string_view path);

}  // namespace escrow::engine
