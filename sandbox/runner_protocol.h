#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/command.h"
#include "sandbox/error.h"
#include "sandbox/profile.h"

/// What server, launcher and runner say to each other: values and their bytes.
///
///   server ── launch ──▶ launcher ── starts bubblewrap and, in it, the runner, which waits
///   server ◀── ready ─── launcher          (with the listeners of the sandbox's network namespace)
///   server ── run ─────▶ launcher ── mounts the workspace, then ── execute ──▶ runner
///   server ◀── mounted ─ launcher
///   server ◀── started, exited ─────────────────────────────────────────────── runner
///   server closes the channel: the launcher kills what is left and removes the stage.
///
/// Either side may say `failed` instead, with an error that is the caller's to read.
namespace escrow::sandbox {

/// Laid over a directory of HOME so that a tool may write there; what it wrote is thrown away.
struct HomeOverlay {
  std::string path;                ///< absolute
  std::vector<std::string> masks;  ///< relative paths that must not be seen
  bool operator==(const HomeOverlay&) const = default;
};

/// What to build, before a command is known. Descriptors: the stage directory, its lock, the seccomp program.
struct LaunchRequest {
  std::string bwrap;
  std::vector<std::string> bwrap_args;
  std::string runner;              ///< host path of escrow-runner
  std::string scaffold;            ///< directory that the launcher covers with its own tmpfs, in its own namespace
  std::uint32_t uid = 0, gid = 0;  ///< whom the guest runs as
  std::vector<HomeOverlay> homes;
  bool operator==(const LaunchRequest&) const = default;
};

/// The workspace as the guest is to see it.
struct MountRequest {
  std::string workspace;
  Writable writable = Writable::overlay;
  std::uint64_t copy_limit_bytes = 0;  ///< how much may be copied where overlay is refused; 0 refuses the copy
  bool try_overlay = true;             ///< false only in tests of the copy
  std::string session;                 ///< whose upper layer is written; empty: one for this command alone
  std::vector<std::string> masked;     ///< relative paths that must not be seen
  std::map<std::string, std::string> unsaved;
  bool operator==(const MountRequest&) const = default;
};

/// Limits as the runner sets them. Zero: not limited.
struct GuestLimits {
  std::uint64_t data_bytes = 0;      ///< RLIMIT_DATA, each process
  std::uint64_t tree_rss_bytes = 0;  ///< the watchdog's, all processes together
  std::uint64_t file_bytes = 0;
  std::uint64_t pids = 0;
  std::uint64_t files = 0;
  std::uint64_t cpu_seconds = 0;
  std::uint64_t stage_bytes = 0;  ///< the watchdog's, what all files together may take on the workspace's disk
  bool operator==(const GuestLimits&) const = default;
};

/// What to run. Descriptors: stdin, stdout, stderr and the socket on which to report; in a RunRequest with a session,
/// that session's lock as well.
struct ExecuteRequest {
  std::vector<std::string> argv;
  std::vector<std::string> env;  ///< NAME=value
  std::string cwd;
  std::optional<PtySize> pty;
  GuestLimits limits;
  std::vector<std::string> landlock_read;   ///< what may be read and executed
  std::vector<std::string> landlock_write;  ///< what may be written as well; the workspace first
  bool operator==(const ExecuteRequest&) const = default;
};

struct RunRequest {
  MountRequest mount;
  ExecuteRequest execute;
  bool operator==(const RunRequest&) const = default;
};

/// launcher → server.
struct MountedReport {
  std::string writable;  ///< overlay, copy, direct, none
  bool operator==(const MountedReport&) const = default;
};

/// runner → server, just before the command starts. With a pty, its master comes along.
struct StartedReport {
  int landlock_abi = 0;  ///< 0: not held
  bool operator==(const StartedReport&) const = default;
};

/// runner → server, once no process of the sandbox but the runner is left.
struct ExitedReport {
  int wait_status = 0;
  std::uint64_t cpu_us = 0;
  std::uint64_t max_rss_kib = 0;
  std::string limit;  ///< which limit ended it: memory, pids, cpu, file-size, stage; empty if none did
  bool operator==(const ExitedReport&) const = default;
};

std::string encode(const LaunchRequest& value);
std::string encode(const RunRequest& value);
std::string encode(const ExecuteRequest& value);
std::string encode(const MountedReport& value);
std::string encode(const StartedReport& value);
std::string encode(const ExitedReport& value);
std::string encode(const Error& value);

/// Nothing if the bytes are not exactly one such value.
std::optional<LaunchRequest> decode_launch(std::string_view bytes);
std::optional<RunRequest> decode_run(std::string_view bytes);
std::optional<ExecuteRequest> decode_execute(std::string_view bytes);
std::optional<MountedReport> decode_mounted(std::string_view bytes);
std::optional<StartedReport> decode_started(std::string_view bytes);
std::optional<ExitedReport> decode_exited(std::string_view bytes);
std::optional<Error> decode_error(std::string_view bytes);

}  // namespace escrow::sandbox
