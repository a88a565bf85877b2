#pragma once

#include <map>
#include <string>
#include <vector>

#include "sandbox/error.h"

namespace escrow::sandbox {

/// What the extra lower layer on top of the workspace is to hold.
struct MaskRequest {
  std::vector<std::string> globs;         ///< hidden, beside the built-in list
  std::vector<std::string> never_masked;  ///< relative paths that stay visible whatever matches
  std::map<std::string, std::string> unsaved;
  std::vector<std::string> foreign_secrets;  ///< absolute paths whose other hard links are to be hidden too
};

/// Relative paths in the workspace that a guest must not see: those the built-in list and the globs name, those whose
/// text says so, and every further name (hard link) of the same file. One walk, without stat except for the hits;
/// `.git` and `node_modules` are not looked into for names.
std::vector<std::string> find_masked(int workspace, const MaskRequest& request);

/// Fills the open, empty directory `layer`: a whiteout for each masked path, a file for each unsaved text, and the
/// directories above them with the workspace's mode, owner and times. Reports whether anything is in it.
Result<bool> build_mask_layer(int layer, int workspace, const std::vector<std::string>& masked,
                              const std::map<std::string, std::string>& unsaved);

}  // namespace escrow::sandbox
