// A guest that means harm. `attacker [--in-namespaces] NAME[=ARGUMENT]…` tries each attack and prints `NAME outcome`,
// a line each; the tests know what each line must be. Static, so that it runs wherever it is copied.
//
// With --in-namespaces it first makes itself root of new namespaces: that is how the tests show, outside of the cage
// and without touching the host, that an attack which needs privilege works where nothing stops it.

#include "tests/escape/attacker/attacks.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

namespace attacker {

Outcome raw(long number, long a, long b, long c, long d, long e, long f) {
  return syscall(number, a, b, c, d, e, f) < 0 ? errno : 0;
}

Outcome in_child(Outcome (*action)()) {
  const pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) _exit(action());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? kSignal + WTERMSIG(status) : WEXITSTATUS(status);
}

Victim::Victim() : pid_(fork()) {
  if (pid_ != 0) return;
  pause();
  _exit(0);
}

Victim::~Victim() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

namespace {

bool write_file(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY);
  const bool written = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) close(fd);
  return written;
}

/// Root of a user, mount, pid, network, IPC and UTS namespace of its own; the caller goes on in a child of it.
bool become_root_of_namespaces() {
  const std::string uid = std::to_string(geteuid()), gid = std::to_string(getegid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0)
    return false;
  if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/gid_map", "0 " + gid + " 1\n") ||
      !write_file("/proc/self/uid_map", "0 " + uid + " 1\n"))
    return false;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  const pid_t child = fork();
  if (child <= 0) return child == 0;
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

const Attack* find(const std::string& name) {
  static const std::vector<Attack> all = [] {
    std::vector<Attack> joined;
    for (const auto& part : {process_attacks(), kernel_attacks(), file_attacks(), network_attacks(), flood_attacks()})
      joined.insert(joined.end(), part.begin(), part.end());
    return joined;
  }();
  for (const Attack& attack : all)
    if (name == attack.name) return &attack;
  return nullptr;
}

std::string spelled(Outcome outcome) {
  if (outcome == 0) return "ok";
  if (outcome > kSignal) return std::string("SIG") + sigabbrev_np(outcome - kSignal);
  const char* name = strerrorname_np(outcome);
  return name ? name : "errno " + std::to_string(outcome);
}

}  // namespace
}  // namespace attacker

int main(int argc, char** argv) {
  using namespace attacker;
  int first = 1;
  if (argc > 1 && std::strcmp(argv[1], "--in-namespaces") == 0) {
    if (!become_root_of_namespaces()) return 1;
    first = 2;
  }
  for (int i = first; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Attack* attack = find(name);
    if (!attack) return 2;
    const Outcome outcome = attack->run(equals == std::string::npos ? "" : word.substr(equals + 1));
    std::printf("%s %s\n", name.c_str(), spelled(outcome).c_str());
    std::fflush(stdout);
  }
  return 0;
}
