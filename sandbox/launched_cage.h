#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/error.h"
#include "sandbox/executor.h"
#include "sandbox/host_facts.h"
#include "sandbox/profile.h"
#include "sandbox/seccomp_filter.h"
#include "sandbox/stage.h"
#include "sandbox/trusted_binary.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {

/// Everything that a sandbox's walls depend on. Two sandboxes of equal plans are interchangeable.
struct CagePlan {
  Programs programs;
  GuestIdentity guest;
  HostFacts facts;
  std::vector<std::string> bwrap_args;
  Tracing tracing = Tracing::denied;
  /// Device and inode of what is blanked: a file that was replaced since is no longer covered.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blanked;
  bool operator==(const CagePlan&) const = default;
};

/// Checks the profile and looks at the host. Loop thread; well below a millisecond.
Result<CagePlan> plan_cage(const ExecutorOptions& options, const Profile& profile);

/// A launcher under way, its sandbox starting or waiting for a command. Closing `control` ends it, and it takes its
/// stage away.
struct LaunchedCage {
  UniqueFd control;  ///< the channel to the launcher
  UniqueFd process;  ///< pidfd of the launcher
  Stage stage;
  GuestIdentity guest;
  HostFacts facts;
  /// Of the sandbox's network namespace, once its launcher has said that it is ready.
  std::optional<std::vector<UniqueFd>> listeners = {};
};

/// Makes a stage and starts a launcher on it, without waiting for anything. Never forks: the server may be large.
/// Nothing is left behind on an error.
Result<LaunchedCage> launch_cage(const ExecutorOptions& options, const CagePlan& plan);

}  // namespace escrow::sandbox
