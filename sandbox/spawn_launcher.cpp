#include "sandbox/spawn_launcher.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "sandbox/packet.h"

namespace escrow::sandbox {
namespace {

/// What posix_spawn is told: nothing inherited but the descriptors given, no signal blocked or ignored, a session of
/// its own.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void place(int fd, int at) { posix_spawn_file_actions_adddup2(&actions_, fd, at); }
  void place_nothing(int at) { posix_spawn_file_actions_addopen(&actions_, at, "/dev/null", O_RDWR, 0); }

  /// The pidfd of the process.
  Result<UniqueFd> spawn(const std::string& program, std::vector<std::string> argv,
                         std::vector<std::string> env) const {
    pid_t pid = -1;
    if (const int failed =
            posix_spawn(&pid, program.c_str(), &actions_, &attributes_, pointers(argv).data(), pointers(env).data()))
      return Error{ErrorKind::unavailable, "starting " + program + ": " + std::strerror(failed)};
    UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (process) return process;
    const Error error = io_error("watching " + program);
    ::kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return error;
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> list;
    for (std::string& string : strings) list.push_back(string.data());
    list.push_back(nullptr);
    return list;
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

Result<UniqueFd> spawn_launcher(const std::string& program, int control, LauncherPurpose purpose) {
  SpawnPlan plan;
  plan.place(control, 3);
  for (int fd : {0, 1, 2}) plan.place_nothing(fd);
  std::vector<std::string> argv = {"escrow-launcher"};
  if (purpose == LauncherPurpose::probe) argv.emplace_back("--probe");
  // HOME only: it tells which files elsewhere are secrets. The rest of our environment is nobody's business there.
  const char* home = getenv("HOME");
  return plan.spawn(program, std::move(argv), {std::string("HOME=") + (home ? home : "")});
}

Result<UniqueFd> spawn_plain(const std::string& program, std::vector<std::string> argv, int output) {
  SpawnPlan plan;
  plan.place_nothing(0);
  plan.place(output, 1);
  plan.place_nothing(2);
  return plan.spawn(program, std::move(argv), {});
}

}  // namespace escrow::sandbox
