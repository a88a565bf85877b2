#pragma once

#include "tests/bench/tasks.h"

namespace escrow::bench {

/// The rows about the cage alone: a warm sandbox beside plain posix_spawn, bare bubblewrap and what else is installed,
/// large workspaces, bursts. Prints its own table.
int run_sandbox(const Setting& setting);

}  // namespace escrow::bench
