#pragma once

#include <string>
#include <vector>

namespace escrow::sandbox {

/// The ABI of the running kernel's Landlock; 0 if it has none or it is switched off.
int landlock_abi();

/// Holds this process and all that it starts to reading `read` and writing `write`, and from ABI 6 keeps abstract
/// sockets and signals within. A second layer behind the mounts, so best effort: paths that do not exist are left
/// out. Needs no_new_privs. Returns the ABI that holds; 0 if none does (ABI 1 counts as none: it refuses every rename
/// across directories).
int restrict_by_landlock(const std::vector<std::string>& read, const std::vector<std::string>& write);

}  // namespace escrow::sandbox
