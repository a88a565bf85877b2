#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "sandbox/error.h"
#include "sandbox/launcher/workspace_mount.h"
#include "sandbox/runner_protocol.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {

/// Descriptors of a LaunchRequest.
struct LaunchFds {
  UniqueFd stage, lock, seccomp;
};

/// bubblewrap with the runner waiting in it.
class Cage {
 public:
  Cage() = default;
  Cage(const Cage&) = delete;
  Cage& operator=(const Cage&) = delete;

  /// Covers the scaffold directory, lays out what bubblewrap binds, and starts it. In the namespaces of
  /// `enter_namespaces`.
  Result<void> start(const LaunchRequest& request, const LaunchFds& fds);

  /// Keeps a session's lock for as long as there are mounts of ours.
  void hold(UniqueFd lock) { session_lock_ = std::move(lock); }
  /// Shows the tool directories of HOME as they stand now. Once, when a command is known: what is mounted earlier does
  /// not follow what happens below.
  void mount_homes();

  const Scaffold& scaffold() const { return scaffold_; }
  int runner() const { return runner_.get(); }
  int process() const { return process_.get(); }

  /// After bubblewrap ended by itself: what it wrote, or its status.
  std::string last_words();

  /// Kills it and waits until no process of it is left.
  void end();

 private:
  Result<void> lay_out(const LaunchRequest& request);
  Result<void> spawn(const LaunchRequest& request, const LaunchFds& fds);

  std::string home_place(std::size_t index) const;

  Scaffold scaffold_;
  std::vector<HomeOverlay> homes_;
  UniqueFd runner_, process_, words_, session_lock_;
  pid_t pid_ = -1;
};

}  // namespace escrow::sandbox
