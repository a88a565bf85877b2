#pragma once

#include <string>

#include "sandbox/runner_protocol.h"

namespace escrow::sandbox {

/// Once, before the command starts: what grows is counted from here on. The sandbox may have waited for long.
void begin_watching();

/// The name of the limit that all processes of this pid namespace are over together (memory, pids); empty if none is.
/// Threads count as processes, as they do for RLIMIT_NPROC. Reads a line or two of /proc for each process; more only
/// while the machine's shared memory has grown by so much that it would matter whose it is.
std::string exceeded_limit(const GuestLimits& limits);

}  // namespace escrow::sandbox
