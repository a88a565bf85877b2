#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/profile.h"

namespace escrow::sandbox {

/// A directory of the host's root: bound read-only, or a symlink made again (`/bin -> usr/bin`).
struct RootEntry {
  std::string path;
  std::string link_target;  ///< empty: a directory
  bool operator==(const RootEntry&) const = default;
};

/// What bwrap_args needs to know of the host. Gathered by `gather_host_facts`; values here, so that tests can invent
/// any host.
struct HostFacts {
  std::string scaffold;                        ///< where the launcher's own tmpfs lies, in its own mount namespace
  std::vector<RootEntry> roots;                ///< of the allow-list, those that exist
  std::vector<std::string> blank_files;        ///< within the roots, covered by an unreadable file
  std::vector<std::string> blank_directories;  ///< … by an unreadable directory
  std::string resolv_conf;                     ///< real path of /etc/resolv.conf; empty if there is none
  std::vector<std::string> proc_read_only;     ///< of /proc, for a guest that is the host's root
  std::string home;                            ///< the guest's HOME; empty if it has none
  std::vector<std::string> home_overlays;      ///< tool directories within HOME, in the order of `LaunchRequest::homes`
  std::vector<std::string> read_only;          ///< further host paths (of the profile, a worktree's git directory)
  std::uint64_t tmp_bytes = 0;                 ///< size of /tmp; the other tmpfs get a part of it
  bool operator==(const HostFacts&) const = default;
};

/// Descriptors that the launcher hands to bubblewrap. High, so that they never meet one that something else opened.
inline constexpr int kRunnerFd = 64;
inline constexpr int kSeccompFd = 65;
inline constexpr int kArgsFd = 66;

/// Where the runner lies inside.
inline constexpr const char* kRunnerPath = "/run/escrow/runner";

/// The options of bubblewrap, as they go through `--args FD`; its command is always the runner. Pure.
///
/// Order is policy: namespaces and privileges; the allow-listed root, read-only; what is blanked in it; /dev, /proc and
/// fresh tmpfs; HOME and the tool directories in it; further read-only paths; the workspace, last of the writable
/// ones, so that nothing lies over it; then the root itself turns read-only. The network namespace is the launcher's
/// own, made without any interface but lo, which bubblewrap inherits. The workspace is an empty directory here:
/// the launcher mounts over it later, by propagation, so no mount may lie inside its path.
std::vector<std::string> bwrap_args(const Profile& profile, const HostFacts& facts);

}  // namespace escrow::sandbox
