#pragma once

#include <string>
#include <vector>

#include "sandbox/error.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {

enum class LauncherPurpose { command, probe };

/// Starts escrow-launcher with `control` as its channel, in a session of its own, by posix_spawn: the server may be
/// large and is never forked. Gives the pidfd; who holds it must wait for the process.
Result<UniqueFd> spawn_launcher(const std::string& program, int control, LauncherPurpose purpose);

/// Starts a trusted program of the host with an empty environment, its output going to `output`.
Result<UniqueFd> spawn_plain(const std::string& program, std::vector<std::string> argv, int output);

}  // namespace escrow::sandbox
