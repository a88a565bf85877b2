#pragma once

#include <vector>

#include "sandbox/error.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {

/// Puts this process into its own user, mount and network namespaces. An ordinary user keeps its one id; root keeps
/// all of its own, since files of every owner must stay reachable in the workspace. Mounts no longer propagate to the
/// host. Errors are `unavailable` and say what forbids it and what to do.
Result<void> enter_namespaces();

/// Brings lo up and listens in the network namespace: the proxy at kProxyPort, names at UDP port 53, and TCP ports 443
/// and 80. Whoever holds these descriptors answers the guest, from whatever namespace it lives in.
Result<std::vector<UniqueFd>> open_listeners();

}  // namespace escrow::sandbox
