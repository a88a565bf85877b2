#pragma once

#include <map>
#include <string>
#include <vector>

#include "sandbox/command.h"
#include "sandbox/host_facts.h"
#include "sandbox/profile.h"

namespace escrow::sandbox {

using Environment = std::map<std::string, std::string>;

/// The server's own environment.
Environment host_environment();

/// Where the listeners of the sandbox's network namespace wait.
inline constexpr unsigned short kProxyPort = 3128;

/// NAME=value for the guest, sorted. Pure. In order, later wins: an allow-list of the host's variables (PATH, locale,
/// terminal, time zone) and the profile's; what the cage sets (HOME, TMPDIR, proxies, git settings that keep
/// repository configuration from running programs); the command's own delta.
std::vector<std::string> guest_env(const Environment& host, const GuestIdentity& guest, const Profile& profile,
                                   const Command& command);

}  // namespace escrow::sandbox
