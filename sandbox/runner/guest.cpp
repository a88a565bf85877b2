#include "sandbox/runner/guest.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "sandbox/packet.h"

extern char** environ;

namespace escrow::sandbox {
namespace {

struct Terminal {
  UniqueFd master, slave;
};

/// Made inside, so that its name means something to the guest.
Result<Terminal> make_terminal(PtySize size) {
  Terminal terminal;
  terminal.master.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.master || grantpt(terminal.master.get()) != 0 || unlockpt(terminal.master.get()) != 0)
    return io_error("making a terminal");
  std::array<char, 64> name{};
  if (ptsname_r(terminal.master.get(), name.data(), name.size()) != 0) return io_error("naming the terminal");
  terminal.slave.reset(open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  winsize window{};
  window.ws_col = size.cols;
  window.ws_row = size.rows;
  if (!terminal.slave || ioctl(terminal.master.get(), TIOCSWINSZ, &window) != 0)
    return io_error("opening the terminal");
  return terminal;
}

void limit(int resource, std::uint64_t value) {
  const auto which = static_cast<__rlimit_resource_t>(resource);
  rlimit now{};
  if (value == 0 || getrlimit(which, &now) != 0) return;
  value = std::min<std::uint64_t>(value, now.rlim_max);
  const rlimit both{value, value};
  setrlimit(which, &both);
}

void set_limits(const GuestLimits& limits) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  limit(RLIMIT_DATA, limits.data_bytes);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  limit(RLIMIT_NPROC, limits.pids);
  limit(RLIMIT_NOFILE, limits.files);
  if (limits.cpu_seconds == 0) return;
  // The soft limit gives SIGXCPU, by which the cause is known; the hard one ends whoever ignores that.
  const rlimit cpu{limits.cpu_seconds, limits.cpu_seconds + 1};
  setrlimit(RLIMIT_CPU, &cpu);
}

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void exec_failed(const char* program) {
  const int why = errno;
  const std::string message = std::string("escrow: ") + program + ": " + std::strerror(why) + "\n";
  (void)!write(STDERR_FILENO, message.data(), message.size());
  _exit(why == ENOENT ? 127 : 126);
}

[[noreturn]] void exec_guest(const ExecuteRequest& request, std::array<int, 3> stdio, const Terminal& terminal) {
  setsid();
  if (terminal.slave) {
    ioctl(terminal.slave.get(), TIOCSCTTY, 0);
    stdio.fill(terminal.slave.get());
  }
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (dup2(stdio[static_cast<std::size_t>(fd)], fd) < 0) _exit(125);
  reset_signals();
  set_limits(request.limits);
  std::vector<char*> argv = pointers_to(request.argv), env = pointers_to(request.env);
  environ = env.data();
  execvp(argv.front(), argv.data());
  exec_failed(argv.front());
}

}  // namespace

Result<Guest> start_guest(const ExecuteRequest& request, const std::array<int, 3>& stdio) {
  Terminal terminal;
  if (request.pty) {
    Result<Terminal> made = make_terminal(*request.pty);
    if (!made) return made.error();
    terminal = std::move(*made);
  }
  const pid_t pid = fork();
  if (pid < 0) return io_error("starting the command");
  if (pid == 0) exec_guest(request, stdio, terminal);
  return Guest{.pid = pid, .terminal = std::move(terminal.master)};
}

}  // namespace escrow::sandbox
