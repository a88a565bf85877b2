#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/probe.h"

/// What a person is told of the host beyond whether a sandbox runs: what stands in the way, what is out of date, and
/// the command that mends it. For `escrow doctor`; nothing here decides whether a command may run.
namespace escrow::sandbox {

/// Compares dotted numbers, part by part; what follows a number (`2.39.5-0+deb12u2`) does not count. Pure.
bool is_older_version(std::string_view version, std::string_view than);

/// The advisories that a release of `program` (git, bubblewrap) is older than the fix of: `ID: what it allows`. By the
/// number alone: a distribution may have mended an older one. Pure.
std::vector<std::string> advisories_for(std::string_view program, std::string_view version);

/// The command that installs or upgrades a package, by the text of /etc/os-release; empty if the system is unknown.
std::string install_command(std::string_view os_release, std::string_view package);

/// The command that writes an AppArmor profile which lets these two programs make user namespaces, and loads it. Pure.
std::string apparmor_command(std::string_view launcher, std::string_view bwrap);

/// Text of this host's /etc/os-release; empty if there is none.
std::string os_release();

/// AppArmor (where it restricts), an outer container (where there is one), git, each only if it has to do with this
/// host. Runs `git --version`.
std::vector<ProbeItem> host_advice(const Probe& probe, const std::string& libexec_dir);

}  // namespace escrow::sandbox
