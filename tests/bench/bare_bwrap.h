#pragma once

#include <string>
#include <vector>

namespace escrow::bench {

/// The command line of a plain bubblewrap with the mounts and namespaces that Escrow gives a command in `workspace`,
/// without its launcher, runner, filter and overlay: what the kernel and bubblewrap alone take. What is bound in the
/// sandbox's place is made below `scratch`.
std::vector<std::string> bare_bwrap(const std::string& workspace, const std::string& scratch,
                                    const std::vector<std::string>& command);

}  // namespace escrow::bench
