#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace escrow::sandbox {

/// Paths that steer what runs outside of the cage later: git's hooks and configuration, editors' and agents'
/// settings, shell start-up files. At any depth, so nested repositories count; case-insensitive; trailing dots and
/// spaces ignored. Pure.
bool is_protected(std::string_view path);

/// Those that exist in the workspace, topmost only, sorted.
std::vector<std::string> find_protected(int workspace);

}  // namespace escrow::sandbox
