#include "sandbox/launched_cage.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "sandbox/bwrap_args.h"
#include "sandbox/packet.h"
#include "sandbox/runner_protocol.h"
#include "sandbox/seccomp_filter.h"
#include "sandbox/trusted_binary.h"

namespace escrow::sandbox {
namespace {

struct Programs {
  std::string bwrap, launcher, runner;
};

Result<Programs> find_programs(const ExecutorOptions& options, const std::string& workspace) {
  Result<std::string> bwrap = find_bubblewrap(workspace);
  if (!bwrap) return bwrap.error();
  Result<std::string> launcher = check_own_program(options.libexec_dir + "/escrow-launcher", workspace);
  if (!launcher) return launcher.error();
  Result<std::string> runner = check_own_program(options.libexec_dir + "/escrow-runner", workspace);
  if (!runner) return runner.error();
  return Programs{*bwrap, *launcher, *runner};
}

/// What posix_spawn is told: nothing inherited but the channel at descriptor 3, no signal blocked or ignored, a session
/// of its own.
class SpawnPlan {
 public:
  explicit SpawnPlan(int control) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_adddup2(&actions_, control, 3);
    for (int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0);
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

  int spawn(pid_t& pid, const std::string& program, char** argv, char** env) const {
    return posix_spawn(&pid, program.c_str(), &actions_, &attributes_, argv, env);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

Result<UniqueFd> spawn_launcher(const std::string& program, int control) {
  // HOME only: it tells which files elsewhere are secrets. The rest of our environment is nobody's business there.
  const char* home = getenv("HOME");
  std::string home_entry = std::string("HOME=") + (home ? home : "");
  std::array<char*, 2> argv = {const_cast<char*>("escrow-launcher"), nullptr}, env = {home_entry.data(), nullptr};
  pid_t pid = -1;
  if (const int failed = SpawnPlan(control).spawn(pid, program, argv.data(), env.data()))
    return Error{ErrorKind::unavailable, "starting " + program + ": " + std::strerror(failed)};
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process) {
    const Error error = io_error("watching " + program);
    ::kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return error;
  }
  return process;
}

LaunchRequest launch_request(const Programs& programs, const Profile& profile, const LaunchedCage& cage) {
  return {.bwrap = programs.bwrap,
          .bwrap_args = bwrap_args(profile, cage.facts),
          .runner = programs.runner,
          .scaffold = cage.facts.scaffold,
          .uid = cage.guest.uid,
          .gid = cage.guest.gid,
          .homes = home_overlays(cage.facts)};
}

Result<void> start_launcher(const Programs& programs, const Profile& profile, LaunchedCage& cage) {
  const Result<std::string>& program = seccomp_program(profile.name == "debug" ? Tracing::allowed : Tracing::denied);
  if (!program) return program.error();
  Result<UniqueFd> filter = make_memory_file("seccomp", *program);
  if (!filter) return filter.error();
  Result<std::pair<UniqueFd, UniqueFd>> channel = make_channel();
  if (!channel) return channel.error();
  Result<UniqueFd> process = spawn_launcher(programs.launcher, channel->second.get());
  if (!process) return process.error();
  cage.control = std::move(channel->first);
  cage.process = std::move(*process);
  return send_packet(cage.control.get(), PacketType::launch, encode(launch_request(programs, profile, cage)),
                     {cage.stage.directory.get(), cage.stage.lock.get(), filter->get()});
}

}  // namespace

Result<LaunchedCage> launch_cage(const ExecutorOptions& options, const Profile& profile) {
  LaunchedCage cage;
  cage.guest = guest_identity(profile.workspace);
  if (Result<void> fits = check_workspace(profile.workspace, cage.guest); !fits) return fits.error();
  if (lies_within(options.state_dir, profile.workspace))
    return Error{ErrorKind::invalid_argument, options.state_dir + ": Escrow's state lies in the workspace; move it out"};
  Result<Programs> programs = find_programs(options, profile.workspace);
  if (!programs) return programs.error();
  cage.facts = gather_host_facts(profile, cage.guest, options.state_dir);
  if (cage.facts.scaffold.empty()) return Error{ErrorKind::unavailable, "no directory to build the sandbox on (/sys, /mnt, /srv)"};
  Result<Stage> stage = make_stage(options.state_dir);
  if (!stage) return stage.error();
  cage.stage = std::move(*stage);
  if (Result<void> started = start_launcher(*programs, profile, cage); !started) {
    remove_stage(cage.stage.path);
    return started.error();
  }
  return cage;
}

}  // namespace escrow::sandbox
