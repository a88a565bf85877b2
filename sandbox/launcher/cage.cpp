#include "sandbox/launcher/cage.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include "sandbox/bwrap_args.h"
#include "sandbox/packet.h"

namespace escrow::sandbox {
namespace {

/// Names are resolved by the listener at port 53, which knows what is allowed.
constexpr std::string_view kResolvConf = "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n";

bool make_file(const std::string& path, mode_t mode, std::string_view text) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return fd && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
         fchmod(fd.get(), mode) == 0;
}

bool make_directory(const std::string& path, mode_t mode) {
  return mkdir(path.c_str(), 0700) == 0 && chmod(path.c_str(), mode) == 0;
}

std::string joined(const std::vector<std::string>& args) {
  std::string bytes;
  for (const std::string& arg : args) bytes.append(arg).push_back('\0');
  return bytes;
}

bool become(std::uint32_t uid, std::uint32_t gid) {
  if (uid == geteuid() && gid == getegid()) return true;
  return setgroups(0, nullptr) == 0 && setresgid(gid, gid, gid) == 0 && setresuid(uid, uid, uid) == 0;
}

/// In the child, between fork and exec: only calls that are safe there. Never returns.
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is changed below, and nothing may be allocated here.
[[noreturn]] void exec_bwrap(const LaunchRequest& request, std::vector<std::pair<int, int>> places) {
  // Two steps, since a source may lie where a target is to be.
  for (auto& [fd, target] : places) fd = fcntl(fd, F_DUPFD, 128);
  for (const auto& [fd, target] : places) {
    if (fd < 0 || dup2(fd, target) < 0) _exit(125);
    close(fd);
  }
  signal(SIGPIPE, SIG_DFL);
  for (int number : {SIGINT, SIGHUP, SIGTERM, SIGQUIT}) signal(number, SIG_DFL);
  if (!become(request.uid, request.gid)) _exit(124);
  const std::string args_fd = std::to_string(kArgsFd);
  std::array<const char*, 6> argv = {"bwrap", "--args", args_fd.c_str(), "--", kRunnerPath, nullptr};
  std::array<char*, 1> env = {nullptr};
  execve(request.bwrap.c_str(), const_cast<char**>(argv.data()), env.data());
  _exit(126);
}

}  // namespace

Result<void> Cage::lay_out(const LaunchRequest& request) {
  const std::string& base = scaffold_.path;
  if (mount("tmpfs", base.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0)
    return io_error("covering " + base);
  // Shared: what is mounted on `m` later reaches the sandbox, whose copy of this mount is a slave of ours.
  if (mount(nullptr, base.c_str(), nullptr, MS_SHARED, nullptr) != 0) return io_error("sharing " + base);
  if (!make_directory(base + "/m", 0755) || !make_directory(base + "/blank.d", 0) ||
      !make_directory(base + "/home", 0755) || !make_file(base + "/blank", 0, "") ||
      !make_file(base + "/resolv.conf", 0444, kResolvConf) || !make_file(base + "/runner", 0555, ""))
    return io_error("filling " + base);
  // Bound, so that a guest of another name reaches it wherever it is installed.
  if (mount(request.runner.c_str(), (base + "/runner").c_str(), nullptr, MS_BIND, nullptr) != 0)
    return io_error("binding " + request.runner);
  homes_ = request.homes;
  for (std::size_t i = 0; i < homes_.size(); ++i)
    if (!make_directory(home_place(i), 0755)) return io_error("making " + home_place(i));
  return {};
}

std::string Cage::home_place(std::size_t index) const {
  return scaffold_.path + "/home/" + std::to_string(index);
}

/// Without one the tool is missing inside, which the command will say; nothing is loosened.
void Cage::mount_homes() {
  for (std::size_t i = 0; i < homes_.size(); ++i)
    (void)mount_home(scaffold_, homes_[i], std::to_string(i), home_place(i));
}

Result<void> Cage::spawn(const LaunchRequest& request, const LaunchFds& fds) {
  Result<std::pair<UniqueFd, UniqueFd>> channel = make_channel();
  Result<UniqueFd> args = make_memory_file("bwrap-args", joined(request.bwrap_args));
  words_.reset(memfd_create("bwrap-output", MFD_CLOEXEC));
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!channel) return channel.error();
  if (!args) return args.error();
  if (!words_ || !null) return io_error("opening /dev/null");
  runner_ = std::move(channel->first);
  pid_ = fork();
  if (pid_ < 0) return io_error("starting bubblewrap");
  if (pid_ == 0)
    exec_bwrap(request, {{null.get(), 0},
                         {words_.get(), 1},
                         {words_.get(), 2},
                         {channel->second.get(), kRunnerFd},
                         {fds.seccomp.get(), kSeccompFd},
                         {args->get(), kArgsFd}});
  process_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!process_) return io_error("watching bubblewrap");
  return {};
}

Result<void> Cage::start(const LaunchRequest& request, const LaunchFds& fds) {
  scaffold_ = {.path = request.scaffold, .stage = fds.stage.get(), .uid = request.uid, .gid = request.gid};
  if (Result<void> laid = lay_out(request); !laid) return laid;
  return spawn(request, fds);
}

std::string Cage::last_words() {
  int status = 0;
  if (pid_ > 0 && waitpid(pid_, &status, 0) == pid_) pid_ = -1;
  std::array<char, 4096> text{};
  const ssize_t got = pread(words_.get(), text.data(), text.size(), 0);
  std::string words(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!words.empty() && words.back() == '\n') words.pop_back();
  if (!words.empty()) return words;
  if (WIFEXITED(status)) return "bubblewrap ended with status " + std::to_string(WEXITSTATUS(status));
  return std::string("bubblewrap ended by ") + strsignal(WTERMSIG(status));
}

namespace {

/// Processes whose parent we are, as /proc tells.
std::vector<pid_t> children() {
  std::vector<pid_t> pids;
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
  for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
  return pids;
}

}  // namespace

/// bubblewrap's death kills the sandbox's first process, and the namespace's end everything in it. We are a subreaper,
/// so that one becomes our child: when there is nobody left to wait for, nobody is left. Killed early in its life,
/// bubblewrap leaves a child behind that waits for it for ever; hence the second look.
void Cage::end() {
  if (pid_ > 0) kill(pid_, SIGKILL);
  pid_ = -1;
  runner_.reset();
  for (;;) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno != EINTR) return;
    if (ended != 0) continue;
    usleep(1000);
    for (pid_t pid : children()) kill(pid, SIGKILL);
  }
}

}  // namespace escrow::sandbox
