#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/command.h"
#include "sandbox/error.h"
#include "sandbox/execution.h"
#include "sandbox/profile.h"
#include "sandbox/session_stage.h"

namespace boost::asio {
class io_context;
}

namespace escrow::sandbox {

enum class Stream { out, err };

/// A command under way. Loop thread only. Dropping it kills the command and everything it started; no event comes
/// after that. `write_stdin` needs a pty or `Command::stdin_open`, `resize` a pty; without one they do nothing.
class RunningExecution {
 public:
  virtual ~RunningExecution() = default;
  virtual void kill() = 0;
  virtual void write_stdin(std::string_view bytes) = 0;
  virtual void close_stdin() = 0;
  virtual void resize(PtySize size) = 0;
};

/// What the caller hears, on the loop thread, never from inside `start`.
struct ExecutionEvents {
  /// Output as it comes, in order per stream, whole bytes: a chunk may end inside a UTF-8 sequence.
  std::function<void(Stream, std::string_view)> on_output = {};
  /// Exactly once, and last: the Execution, or the Error of a cage that could not be set up (nothing ran).
  std::function<void(Result<Execution>)> on_done = {};
};

/// The sandboxes that wait for a command.
struct PoolStatus {
  std::size_t ready = 0;                 ///< waiting now
  std::size_t wanted = 0;                ///< how many are to wait
  std::uint64_t warm = 0;                ///< commands that found one ready
  std::uint64_t cold = 0;                ///< commands that had to wait for theirs
  std::uint64_t slow = 0;                ///< of the warm ones, those that took longer than `kHandOffGoal` to begin
  std::chrono::microseconds typical{0};  ///< median of the last warm hand-offs, from `start` to the command's own begin
  std::chrono::microseconds worst{0};    ///< the longest of them
  bool operator==(const PoolStatus&) const = default;
};
inline constexpr std::chrono::milliseconds kHandOffGoal{50};

/// Starts guest processes; the only thing in the product that does.
///
/// One of the two seams for tests. Implementations: bwrap_executor (Linux); where no boundary can be set up,
/// `start` returns `unavailable` and nothing runs.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual Result<std::unique_ptr<RunningExecution>> start(Command command, Profile profile, ExecutionEvents events) = 0;
  /// The paths' review is over: they leave the session's stage, now or when its command has ended.
  virtual void settle(const std::string& session, std::vector<SettledPath> paths) {
    (void)session;
    (void)paths;
  }
  /// Throws away what the session's commands wrote, once none of them runs.
  virtual void end_session(const std::string& session) { (void)session; }
  /// Commands of this profile are to be expected: a sandbox may be made ready. Says nothing about what does not work.
  virtual void prepare(const Profile&) {}
  virtual PoolStatus pool() const { return {}; }
};

/// How many sandboxes wait for a command, for each workspace and profile that was used of late. With `most` 0 none
/// does.
struct PoolSize {
  std::size_t least = 0, most = 0;
  std::chrono::milliseconds idle{std::chrono::minutes(10)};  ///< after so long without a command none waits any more
};

/// Where the cage keeps and finds things.
struct ExecutorOptions {
  std::string state_dir = {};    ///< 0700, outside every workspace; stages live in `<state_dir>/stages`
  std::string libexec_dir = {};  ///< holds escrow-launcher and escrow-runner
  /// Where the kernel refuses overlayfs, a workspace up to this size is copied; 0 refuses instead.
  std::uint64_t copy_limit_bytes = 512u << 20;
  bool try_overlay = true;  ///< false: as if the kernel refused it (tests)
  /// Tests only: an allowed host may resolve to an address that is not of the public internet.
  bool private_egress = false;
  PoolSize pool = {};
  /// Makes the test for one workspace, on the thread that will use it. Absent: nothing is a build output.
  std::function<ArtefactTest(const std::string& workspace)> artefacts = {};
};

/// bubblewrap on Linux. `loop` must outlive the executor, the executor its executions. Sweeps stages that a crashed
/// server left behind.
std::unique_ptr<Executor> make_bwrap_executor(boost::asio::io_context& loop, ExecutorOptions options);

}  // namespace escrow::sandbox
