#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace escrow::sandbox {

enum class ProbeReason {
  ok,
  missing_binary,
  untrusted_binary,
  userns_off,
  apparmor,
  nested_container,
  overlay_refused,
  timeout,
  failed,
  unsupported_os
};
std::string_view name_of(ProbeReason reason);

/// One capability as found, for `escrow doctor`.
struct ProbeItem {
  std::string name;  ///< bubblewrap, user-namespaces, overlay, seccomp, landlock, cgroup, …
  bool available = false;
  std::string detail;  ///< version, ABI, or what went wrong
  std::string fix;     ///< the command that mends it; empty if nothing is wrong or nothing helps
};

/// What this host can enforce. Found by running a real minimal sandbox.
struct Probe {
  bool available = false;  ///< a sandbox ran
  ProbeReason reason = ProbeReason::failed;
  std::string message;  ///< what, where, what to do
  std::string bwrap_path;
  std::string bwrap_version;
  bool overlay = false;
  int landlock_abi = 0;  ///< 0: none
  bool seccomp = false;
  std::vector<ProbeItem> items;
};

/// Runs it once a process (2 s limit) and remembers the answer. Any thread.
const Probe& probe_host(const std::string& libexec_dir);

}  // namespace escrow::sandbox
