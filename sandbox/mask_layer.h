#pragma once

#include <map>
#include <string>
#include <vector>

#include "sandbox/error.h"

namespace escrow::sandbox {

/// Fills the open, empty directory `layer`: a whiteout for each masked path, a file for each unsaved text, and the
/// directories above them with the workspace's mode, owner and times. Reports whether anything is in it.
Result<bool> build_mask_layer(int layer, int workspace, const std::vector<std::string>& masked,
                              const std::map<std::string, std::string>& unsaved);

}  // namespace escrow::sandbox
