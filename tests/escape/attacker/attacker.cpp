// A guest that means harm. `attacker NAME…` tries each attack and prints `NAME errno-or-ok`, a line each; the tests
// know what each line must be. Static, so that it runs wherever it is copied.

#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

int raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return syscall(number, a, b, c, d, e, f) < 0 ? errno : 0;
}

int of(bool succeeded) {
  return succeeded ? 0 : errno;
}

/// What happens to a child that does this: errno, or 1000 and the signal that killed it.
template <class Action>
int in_child(Action action) {
  const pid_t child = fork();
  if (child == 0) _exit(action());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

int ptrace_child() {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const int result = raw(SYS_ptrace, PTRACE_ATTACH, child);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return result;
}

int read_memory_of_parent() {
  char buffer[8];
  iovec local{buffer, sizeof buffer}, remote{reinterpret_cast<void*>(0x400000), sizeof buffer};
  return raw(SYS_process_vm_readv, getppid(), reinterpret_cast<long>(&local), 1, reinterpret_cast<long>(&remote), 1);
}

int clone_with(unsigned long flags) {
  return in_child([flags] {
    const long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    return child < 0 ? errno : 0;
  });
}

int socket_of(int family, int type, int protocol) {
  const int fd = socket(family, type, protocol);
  return of(fd >= 0 && close(fd) == 0);
}

int inject_into_terminal(unsigned long request) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) return 2000;
  char letter = 'x';
  const int result = raw(SYS_ioctl, terminal, static_cast<long>(request), reinterpret_cast<long>(&letter));
  close(terminal);
  return result;
}

int connect_to(const char* address, unsigned short port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  unsigned a = 0, b = 0, c = 0, d = 0;
  std::sscanf(address, "%u.%u.%u.%u", &a, &b, &c, &d);
  where.sin_addr.s_addr = htonl(a << 24 | b << 16 | c << 8 | d);
  return of(connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0);
}

int send_datagram() {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(53);
  where.sin_addr.s_addr = htonl(0x01010101);
  return of(sendto(fd, "x", 1, 0, reinterpret_cast<sockaddr*>(&where), sizeof where) == 1);
}

int connect_to_unix(const std::string& path, bool abstract) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  std::memcpy(where.sun_path + (abstract ? 1 : 0), path.data(), std::min(path.size(), sizeof where.sun_path - 2));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return of(connect(fd, reinterpret_cast<sockaddr*>(&where), length) == 0);
}

/// Is a descriptor other than the three standard ones open?
int inherited_descriptor() {
  for (int fd = 3; fd < 4096; ++fd)
    if (fcntl(fd, F_GETFD) >= 0) return fd;
  return 0;
}

int int80_getpid() {
#if defined(__x86_64__)
  return in_child([] {
    long result = 20;
    asm volatile("int $0x80" : "+a"(result)::"memory");
    return result > 0 ? 0 : 1;
  });
#else
  return 1000 + SIGSYS;
#endif
}

int x32_getpid() {
#if defined(__x86_64__)
  return in_child([] { return raw(0x40000000L | SYS_getpid); });
#else
  return 1000 + SIGSYS;
#endif
}

int clone3_plain() {
  std::uint64_t arguments[11] = {};
  arguments[4] = SIGCHLD;
  const long child = syscall(SYS_clone3, arguments, sizeof arguments);
  if (child == 0) _exit(0);
  return child < 0 ? errno : 0;
}

int attack(const std::string& name, const char* argument) {
  const std::string given = argument ? argument : "";
  if (name == "ptrace") return ptrace_child();
  if (name == "process_vm_readv") return read_memory_of_parent();
  if (name == "kcmp") return raw(SYS_kcmp, getpid(), getpid(), 0, 0, 1);
  if (name == "pidfd_getfd") return raw(SYS_pidfd_getfd, -1, 0, 0);
  if (name == "clone3") return clone3_plain();
  if (name == "unshare-user") return in_child([] { return raw(SYS_unshare, CLONE_NEWUSER); });
  if (name == "unshare-net") return in_child([] { return raw(SYS_unshare, CLONE_NEWNET); });
  if (name == "clone-newuser") return clone_with(CLONE_NEWUSER);
  if (name == "clone-newpid") return clone_with(CLONE_NEWPID);
  if (name == "io_uring_setup") return raw(SYS_io_uring_setup, 1, 0);
  if (name == "add_key")
    return raw(SYS_add_key, reinterpret_cast<long>("user"), reinterpret_cast<long>("k"), reinterpret_cast<long>("v"), 1,
               -3);
  if (name == "keyctl") return raw(SYS_keyctl, 0, -3, 0);
  if (name == "bpf") return raw(SYS_bpf, 0, 0, 0);
  if (name == "perf_event_open") return raw(SYS_perf_event_open, 0, 0, -1, -1, 0);
  if (name == "userfaultfd") return raw(SYS_userfaultfd, 1);
  if (name == "mount") return of(mount("none", "/tmp", "tmpfs", 0, nullptr) == 0);
  if (name == "umount") return of(umount2("/etc/shadow", MNT_DETACH) == 0);
  if (name == "fsopen") return raw(SYS_fsopen, reinterpret_cast<long>("tmpfs"), 0);
  if (name == "open_tree") return raw(SYS_open_tree, AT_FDCWD, reinterpret_cast<long>("/"), 1);
  if (name == "chroot") return of(chroot("/tmp") == 0);
  if (name == "setns") return raw(SYS_setns, -1, 0);
  if (name == "open_by_handle_at") return raw(SYS_open_by_handle_at, AT_FDCWD, 0, 0);
  if (name == "init_module") return raw(SYS_init_module, 0, 0, 0);
  if (name == "reboot") return raw(SYS_reboot, 0, 0, 0, 0);
  if (name == "syslog") return raw(SYS_syslog, 10, 0, 0);
  if (name == "af-vsock") return socket_of(40, SOCK_STREAM, 0);
  if (name == "af-packet") return socket_of(AF_PACKET, SOCK_RAW, 0);
  if (name == "af-alg") return socket_of(38, SOCK_SEQPACKET, 0);
  if (name == "af-inet-raw") return socket_of(AF_INET, SOCK_RAW, IPPROTO_ICMP);
  if (name == "netlink-audit") return socket_of(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT);
  if (name == "netlink-route") return socket_of(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  if (name == "family-with-high-bits") return raw(SYS_socket, (1L << 32) | 40, SOCK_STREAM, 0);
  if (name == "tiocsti") return inject_into_terminal(TIOCSTI);
  if (name == "tiocsti-with-high-bits") return inject_into_terminal(TIOCSTI | (1ul << 32));
  if (name == "tioclinux") return inject_into_terminal(TIOCLINUX);
  if (name == "personality") return raw(SYS_personality, READ_IMPLIES_EXEC);
  if (name == "personality-query") return raw(SYS_personality, 0xffffffffL);
  if (name == "int80") return int80_getpid();
  if (name == "x32") return x32_getpid();
  if (name == "tcp") return connect_to("192.0.2.1", 80);
  if (name == "tcp-host-loopback") return connect_to("127.0.0.1", static_cast<unsigned short>(std::stoi(given)));
  if (name == "udp") return send_datagram();
  if (name == "unix-path") return connect_to_unix(given, false);
  if (name == "unix-abstract") return connect_to_unix(given, true);
  if (name == "inherited-descriptor") return inherited_descriptor();
  if (name == "kill-runner") return of(kill(1, SIGKILL) == 0 && (usleep(50'000), kill(1, 0) == 0)) != 0 ? errno : 0;
  if (name == "sysctl") return of(open("/proc/sys/kernel/core_pattern", O_WRONLY) >= 0);
  if (name == "mknod") return of(mknod("device", S_IFBLK | 0600, makedev(254, 0)) == 0);
  if (name == "overlay-xattr") return of(setxattr(given.c_str(), "user.overlay.opaque", "y", 1, 0) == 0);
  if (name == "trusted-xattr") return of(setxattr(given.c_str(), "trusted.overlay.opaque", "y", 1, 0) == 0);
  if (name == "raise-limit") {
    rlimit limit{};
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_max = RLIM_INFINITY;
    return of(setrlimit(RLIMIT_DATA, &limit) == 0);
  }
  return 3000;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const int result = attack(name, equals == std::string::npos ? nullptr : argv[i] + equals + 1);
    if (result == 0)
      std::printf("%s ok\n", name.c_str());
    else if (result > 1000)
      std::printf("%s signal %d\n", name.c_str(), result - 1000);
    else
      std::printf("%s %s\n", name.c_str(), strerrorname_np(result) ? strerrorname_np(result) : "?");
    std::fflush(stdout);
  }
  return 0;
}
