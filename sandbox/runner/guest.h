#pragma once

#include <sys/types.h>

#include <array>

#include "sandbox/error.h"
#include "sandbox/runner_protocol.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {

/// A started command.
struct Guest {
  pid_t pid = -1;
  UniqueFd terminal;  ///< the pty's master, if one was asked for
};

/// Starts the command as its own session, with its limits. A program that can't be executed is the command's failure,
/// as in a shell: it says so on stderr and ends with 127 or 126.
Result<Guest> start_guest(const ExecuteRequest& request, const std::array<int, 3>& stdio);

}  // namespace escrow::sandbox
