#pragma once

#include <string>

#include "sandbox/error.h"

namespace escrow::sandbox {

/// Removes `name` below the open directory `parent`, whatever it holds: directories without permission are opened up
/// first, no symbolic link is followed. Absent is success.
Result<void> remove_tree(int parent, const std::string& name);

}  // namespace escrow::sandbox
