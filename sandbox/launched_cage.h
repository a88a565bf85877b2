#pragma once

#include <string>
#include <utility>

#include "sandbox/error.h"
#include "sandbox/executor.h"
#include "sandbox/host_facts.h"
#include "sandbox/profile.h"
#include "sandbox/stage.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {

/// A launcher under way, its sandbox starting or waiting for a command. Closing `control` ends it, and it takes its
/// stage away.
struct LaunchedCage {
  UniqueFd control;  ///< the channel to the launcher
  UniqueFd process;  ///< pidfd of the launcher
  Stage stage;
  GuestIdentity guest;
  HostFacts facts;
};

/// Checks the profile, makes a stage and starts a launcher on it, without waiting for anything. Never forks: the
/// server may be large. Nothing is left behind on an error.
Result<LaunchedCage> launch_cage(const ExecutorOptions& options, const Profile& profile);

}  // namespace escrow::sandbox
