#pragma once

#include <cstdint>
#include <string>

#include "sandbox/runner_protocol.h"

namespace escrow::sandbox {

/// What all processes of this pid namespace use together.
struct TreeUsage {
  std::uint64_t private_bytes = 0;  ///< resident, without what is shared with files or others
  std::uint64_t processes = 0;
};

TreeUsage tree_usage();

/// The name of the limit that `usage` is over (memory, pids); empty if none is.
std::string exceeded_limit(const TreeUsage& usage, const GuestLimits& limits);

}  // namespace escrow::sandbox
