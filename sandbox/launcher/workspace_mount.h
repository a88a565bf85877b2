#pragma once

#include <string>

#include "sandbox/error.h"
#include "sandbox/runner_protocol.h"

namespace escrow::sandbox {

/// The launcher's own tmpfs and the stage it serves. Paths are in the launcher's mount namespace.
struct Scaffold {
  std::string path;  ///< holds `m`, where the workspace appears, and what bubblewrap binds
  int stage = -1;    ///< the stage directory; not owned
  std::uint32_t uid = 0, gid = 0;
};

/// Mounts a writable layer over the directory `lower` at `target`: stage/<name>/{upper,work,mask}. Secrets in it are
/// hidden by whiteouts in a layer between.
Result<void> mount_home(const Scaffold& scaffold, const HomeOverlay& home, const std::string& name,
                        const std::string& target);

/// Makes the workspace appear at `<scaffold>/m`, as the request wants it seen. The mount propagates into a sandbox that
/// has bound that directory already.
Result<MountedReport> mount_workspace(const Scaffold& scaffold, const MountRequest& request);

/// Mounts an overlay on the launcher's own tmpfs, as a probe: `overlay` if the kernel lets us, `none` if it refuses.
Result<MountedReport> try_overlay(const Scaffold& scaffold);

}  // namespace escrow::sandbox
