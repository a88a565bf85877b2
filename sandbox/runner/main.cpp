// Waits inside the sandbox for one command, runs it, and reports how it ended.
//
// It is the first process of the pid namespace: bubblewrap has put it behind the mounts, without capabilities, with
// the filter installed. It cannot be traced or killed from inside, and when it ends, everything in the namespace does.
// A command is over when its own process is: what it left running is killed before the report, so that nobody writes
// any more when the workspace's changes are read.

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>

#include "sandbox/bwrap_args.h"
#include "sandbox/landlock.h"
#include "sandbox/packet.h"
#include "sandbox/runner/connect.h"
#include "sandbox/runner/disk_watch.h"
#include "sandbox/runner/guest.h"
#include "sandbox/runner/watchdog.h"
#include "sandbox/runner_protocol.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kWatchdogInterval{100};

/// The command under way.
struct Run {
  Guest guest;
  UniqueFd events;
  GuestLimits limits;
  std::optional<int> status;
  std::string limit;
};

void report(int events, const Error& error) {
  (void)send_packet(events, PacketType::failed, encode(error));
}

void kill_everything() {
  kill(-1, SIGKILL);
}

/// Takes in whoever has ended. True while there is anybody left.
bool reap(Run& run, int flags) {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, flags);
    if (pid == run.guest.pid) run.status = status;
    if (pid == 0) return true;
    if (pid < 0 && errno == ECHILD) return false;
    if (pid < 0 && errno != EINTR) return false;
    if (pid > 0 && flags == 0) kill_everything();  // it may have forked before it died
  }
}

std::string limit_of_signal(int status) {
  if (!WIFSIGNALED(status)) return {};
  if (WTERMSIG(status) == SIGXCPU) return "cpu";
  if (WTERMSIG(status) == SIGXFSZ) return "file-size";
  return {};
}

void report_exit(Run& run) {
  kill_everything();
  reap(run, 0);
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto microseconds = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
  };
  ExitedReport exited{.wait_status = run.status.value_or(SIGKILL),
                      .cpu_us = microseconds(used.ru_utime) + microseconds(used.ru_stime),
                      .max_rss_kib = static_cast<std::uint64_t>(used.ru_maxrss),
                      .limit = run.limit};
  if (exited.limit.empty()) exited.limit = limit_of_signal(exited.wait_status);
  (void)send_packet(run.events.get(), PacketType::exited, encode(exited));
}

/// The server asks to kill, or is gone: either way everything ends.
void hear_server(Run& run) {
  (void)receive_packet(run.events.get());
  kill_everything();
}

void supervise(Run& run, DiskWatch& disk, int child_signals) {
  auto next_look = Clock::now() + kWatchdogInterval;
  while (!run.status) {
    std::array<pollfd, 2> waits{pollfd{child_signals, POLLIN, 0}, pollfd{run.events.get(), POLLIN, 0}};
    const int ready = poll(waits.data(), waits.size(), static_cast<int>(kWatchdogInterval.count()));
    // By the clock, not by the silence: a guest that keeps us busy with signals must not go unwatched.
    if (Clock::now() >= next_look) {
      if (run.limit.empty()) run.limit = exceeded_limit(run.limits);
      if (run.limit.empty() && disk.is_exceeded()) run.limit = "stage";
      next_look = Clock::now() + kWatchdogInterval;
    }
    if (waits[0].revents != 0) {
      signalfd_siginfo ignored{};
      (void)!read(child_signals, &ignored, sizeof ignored);
      reap(run, WNOHANG);
    }
    if (ready > 0 && waits[1].revents != 0) hear_server(run);
    if (!run.limit.empty()) kill_everything();
  }
  report_exit(run);
}

UniqueFd watch_children() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  return UniqueFd(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// Whoever started us may have said that there is a sandbox around us, and built none.
bool is_sandboxed() {
  return getpid() == 1 && prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER &&
         prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 0;
}

Result<Guest> begin(const ExecuteRequest& request, std::vector<UniqueFd>& fds) {
  if (!is_sandboxed())
    return Error{ErrorKind::unavailable, "bubblewrap started the runner without a sandbox around it; nothing was run"};
  if (request.argv.empty()) return Error{ErrorKind::invalid_argument, "the command is empty"};
  // Again, though we may have stood there: the workspace was mounted over this directory after we started.
  if (chdir(request.cwd.c_str()) != 0)
    return Error{ErrorKind::invalid_argument, "cwd " + request.cwd + ": " + std::strerror(errno)};
  const StartedReport started{.landlock_abi = restrict_by_landlock(request.landlock_read, request.landlock_write)};
  // The host's root, even without capabilities, owns what only Landlock and the mounts keep it from; one is not enough.
  if (getuid() == 0 && started.landlock_abi == 0)
    return Error{
        ErrorKind::unavailable,
        "the workspace belongs to root, and this kernel has no Landlock: give it to an ordinary user, or run as one"};
  Result<Guest> guest = start_guest(request, {fds[0].get(), fds[1].get(), fds[2].get()});
  if (!guest) return guest;
  std::vector<int> passed;
  if (guest->terminal) passed.push_back(guest->terminal.get());
  (void)send_packet(fds[3].get(), PacketType::started, encode(started), passed);
  guest->terminal.reset();
  return guest;
}

int run_one() {
  const UniqueFd child_signals = watch_children();
  Result<std::optional<Packet>> packet = receive_packet(kRunnerFd);
  if (!packet || !*packet || (*packet)->type != PacketType::execute || (*packet)->fds.size() != 4) return 0;
  std::vector<UniqueFd>& fds = (*packet)->fds;
  const std::optional<ExecuteRequest> request = decode_execute((*packet)->payload);
  if (!request) {
    report(fds[3].get(), {ErrorKind::io, "runner: the request is malformed"});
    return 1;
  }
  DiskWatch disk(request->landlock_write.empty() ? std::string() : request->landlock_write.front(),
                 request->limits.stage_bytes);
  begin_watching();
  Result<Guest> guest = begin(*request, fds);
  if (!guest) {
    report(fds[3].get(), guest.error());
    return 1;
  }
  Run run{
      .guest = std::move(*guest), .events = std::move(fds[3]), .limits = request->limits, .status = {}, .limit = {}};
  fds.clear();  // the command's ends of its pipes are its own now
  supervise(run, disk, child_signals.get());
  return 0;
}

/// Run as the command of a probe's sandbox: what holds here.
int print_probe() {
  const int filter = prctl(PR_GET_SECCOMP);
  const std::string text = "seccomp " + std::to_string(filter) + "\nlandlock " + std::to_string(landlock_abi()) + "\n";
  return write(STDOUT_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1;
}

}  // namespace
}  // namespace escrow::sandbox

int main(int argc, char** argv) {
  using namespace escrow::sandbox;
  if (argc == 2 && std::strcmp(argv[1], "--probe") == 0) return print_probe();
  if (argc == 4 && std::strcmp(argv[1], "--connect") == 0) return tunnel_through_proxy(argv[2], argv[3]);
  // Others of this user may neither trace us nor look through /proc at our descriptors.
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC);
  return run_one();
}
