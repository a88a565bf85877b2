#pragma once

#include <cstdint>

#include "sandbox/error.h"

namespace escrow::sandbox {

struct CopyPlan {
  std::uint64_t limit_bytes = 0;  ///< more than this in files is refused
  std::uint64_t limit_entries = 200'000;
  int mask = -1;  ///< directory of whiteouts (left out) and files (taken instead); see build_mask_layer
};

/// Copies the tree below the open directory `from` into `to`: contents (as reflinks where the file system can), modes,
/// times, owners where permitted, links as links. FIFOs, sockets and devices are left out.
Result<void> copy_tree(int from, int to, const CopyPlan& plan);

}  // namespace escrow::sandbox
