#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/bwrap_args.h"
#include "sandbox/error.h"
#include "sandbox/profile.h"
#include "sandbox/runner_protocol.h"

namespace escrow::sandbox {

/// Whom the guest runs as: us, or, started by root, the owner of the workspace root.
struct GuestIdentity {
  std::uint32_t uid = 0, gid = 0;
  std::string name;
  std::string home;  ///< empty if there is none
  bool operator==(const GuestIdentity&) const = default;
};

GuestIdentity guest_identity(const std::string& workspace);

/// Refuses a workspace that is not an absolute real path of a directory, or that contains the system or HOME.
Result<void> check_workspace(const std::string& workspace, const GuestIdentity& guest);

/// Looks at the host: which directories of the allow-list exist, what to blank in them, which tool directories HOME
/// has. Reads directories and links only. `state_dir` is never shown.
HostFacts gather_host_facts(const Profile& profile, const GuestIdentity& guest, const std::string& state_dir);

/// The tool directories as the launcher overlays them, credentials masked.
std::vector<HomeOverlay> home_overlays(const HostFacts& facts);

/// Is `path` equal to `root` or below it? Both absolute, without `..`.
bool lies_within(const std::string& path, const std::string& root);

/// min(4 GiB, half of RAM), unless the limits say less.
std::uint64_t memory_limit(const Limits& limits);

}  // namespace escrow::sandbox
