#include "sandbox/launcher/namespaces.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "sandbox/guest_env.h"
#include "sandbox/packet.h"

namespace escrow::sandbox {
namespace {

bool write_file(const std::string& path, const std::string& text) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string read_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The ids this process has, each mapped to itself.
std::string identity_map(const char* own_map) {
  std::ifstream file(own_map);
  std::ostringstream map;
  unsigned long long inside = 0, outside = 0, count = 0;
  while (file >> inside >> outside >> count) map << inside << ' ' << inside << ' ' << count << '\n';
  return map.str();
}

Error refused(const std::string& step) {
  const int why = errno;
  std::string message = step + ": " + std::strerror(why);
  if (read_line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1")
    message +=
        " (AppArmor restricts user namespaces; allow them for bwrap and escrow-launcher, or: sudo sysctl "
        "kernel.apparmor_restrict_unprivileged_userns=0)";
  else if (read_line("/proc/sys/kernel/unprivileged_userns_clone") == "0")
    message += " (user namespaces are off: sudo sysctl kernel.unprivileged_userns_clone=1)";
  else if (read_line("/proc/sys/user/max_user_namespaces") == "0")
    message += " (user namespaces are off: sudo sysctl user.max_user_namespaces=15000)";
  else if (why == EPERM)
    message += " (an outer container or sandbox forbids it)";
  return {ErrorKind::unavailable, message};
}

/// A map of more than one id must be written by a process outside of the new namespace.
class OutsideMapper {
 public:
  bool start() {
    if (pipe2(go_.data(), O_CLOEXEC) != 0) return false;
    const pid_t parent = getpid();
    child_ = fork();
    if (child_ != 0) {
      close(go_[0]);
      return child_ > 0;
    }
    close(go_[1]);
    char byte = 0;
    const std::string uids = identity_map("/proc/self/uid_map"), gids = identity_map("/proc/self/gid_map");
    const std::string proc = "/proc/" + std::to_string(parent);
    const bool mapped =
        read(go_[0], &byte, 1) == 1 && write_file(proc + "/gid_map", gids) && write_file(proc + "/uid_map", uids);
    _exit(mapped ? 0 : 1);
  }

  bool finish() {
    int status = -1;
    const bool told = write(go_[1], "", 1) == 1;
    close(go_[1]);
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    return told && status == 0;
  }

 private:
  std::array<int, 2> go_{};
  pid_t child_ = -1;
};

bool map_own_id(uid_t uid, gid_t gid) {
  const std::string user = std::to_string(uid), group = std::to_string(gid);
  return write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", group + " " + group + " 1\n") &&
         write_file("/proc/self/uid_map", user + " " + user + " 1\n");
}

Result<void> enter_user_namespace() {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  OutsideMapper mapper;
  if (uid == 0 && !mapper.start()) return io_error("starting the id mapper");
  const bool entered = unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) == 0;
  const int why = errno;
  const bool mapped = uid == 0 ? mapper.finish() : entered && map_own_id(uid, gid);
  if (!entered) {
    errno = why;
    return refused("making namespaces");
  }
  if (!mapped) return refused("mapping user ids");
  return {};
}

struct Listener {
  int type;
  unsigned short port;
  in_addr_t address;
};

// Port 443 and 80 on every address of lo: an allowed name is resolved to one of 127.64.0.0/16, for programs that know
// no proxy. In the order that EgressGuard takes them.
constexpr std::array kListeners = {Listener{SOCK_STREAM, kProxyPort, INADDR_LOOPBACK},
                                   Listener{SOCK_DGRAM, 53, INADDR_LOOPBACK}, Listener{SOCK_STREAM, 443, INADDR_ANY},
                                   Listener{SOCK_STREAM, 80, INADDR_ANY}};

Result<UniqueFd> listen_on(const Listener& listener) {
  UniqueFd fd(socket(AF_INET, listener.type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(listener.port);
  address.sin_addr.s_addr = htonl(listener.address);
  if (!fd || bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      (listener.type == SOCK_STREAM && listen(fd.get(), 128) != 0))
    return io_error("listening in the sandbox's network namespace");
  return fd;
}

Result<void> bring_loopback_up() {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (!fd || ioctl(fd.get(), SIOCSIFFLAGS, &request) != 0) return io_error("bringing lo up");
  return {};
}

}  // namespace

Result<void> enter_namespaces() {
  if (Result<void> entered = enter_user_namespace(); !entered) return entered;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return refused("making mounts private");
  return {};
}

Result<std::vector<UniqueFd>> open_listeners() {
  if (Result<void> up = bring_loopback_up(); !up) return up.error();
  std::vector<UniqueFd> listeners;
  for (const Listener& listener : kListeners) {
    Result<UniqueFd> fd = listen_on(listener);
    if (!fd) return fd.error();
    listeners.push_back(std::move(*fd));
  }
  return listeners;
}

}  // namespace escrow::sandbox
