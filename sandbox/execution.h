#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/tree_changes.h"

/// What happened to a command: a value, whatever happened. Only a failing cage is an Error.
namespace escrow::sandbox {

enum class ExitReason { exit, timeout, limit, killed, policy };
std::string_view name_of(ExitReason reason);

enum class ViolationKind { egress, path, syscall, limit, socket, symlink, outside_workspace };
/// Wire spelling: `outside-workspace` with a dash.
std::string_view name_of(ViolationKind kind);

struct Violation {
  ViolationKind kind = ViolationKind::egress;
  std::string detail;  ///< host:port, path, call
  bool operator==(const Violation&) const = default;
};

/// The boundary that really held, named on every result.
struct Enforcement {
  std::string backend = "none";     ///< bubblewrap, seatbelt, none
  std::string level = "none";       ///< sandbox, policy-only, none
  std::vector<std::string> layers;  ///< userns, pidns, netns, mountns, seccomp, landlock, …
  std::string writable = "none";    ///< overlay, copy, clone, direct, none
  std::string memory = "none";      ///< cgroup, rlimit-data+watchdog, rlimit-data, none
  bool operator==(const Enforcement&) const = default;
};

struct Usage {
  std::chrono::milliseconds cpu{0};
  std::uint64_t max_rss_bytes = 0;
  bool operator==(const Usage&) const = default;
};

/// Head and tail of a stream, and how much was dropped between them.
struct Captured {
  std::string head, tail;
  std::uint64_t total_bytes = 0;
  std::uint64_t dropped_bytes = 0;
  bool operator==(const Captured&) const = default;
};

struct Execution {
  std::optional<int> exit_code;
  std::optional<int> signal;
  ExitReason reason = ExitReason::exit;
  Captured out, err;  ///< `err` stays empty with a pty
  std::chrono::milliseconds duration{0};
  Usage usage;
  Enforcement enforcement;
  std::vector<Violation> violations;
  TreeChanges changes;
  bool operator==(const Execution&) const = default;
};

}  // namespace escrow::sandbox
