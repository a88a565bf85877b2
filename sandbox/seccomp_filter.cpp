#include "sandbox/seccomp_filter.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include "sandbox/packet.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

struct ContextDeleter {
  void operator()(void* context) const { seccomp_release(context); }
};
using Context = std::unique_ptr<void, ContextDeleter>;

/// As the SCMP_A… macros, which are C.
scmp_arg_cmp argument(unsigned index, scmp_compare comparison, scmp_datum_t first, scmp_datum_t second = 0) {
  return {index, comparison, first, second};
}

constexpr std::array kTracingCalls = {"ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd"};

bool is_tracing_call(std::string_view name) {
  for (const char* call : kTracingCalls)
    if (name == call) return true;
  return false;
}

// A header older than the kernel may lack one.
constexpr std::uint64_t kNamespaceFlags = 0x00000080ull /* CLONE_NEWTIME */ | CLONE_NEWNS | CLONE_NEWCGROUP |
                                          CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

int deny_calls(scmp_filter_ctx context, Tracing tracing) {
  for (const DeniedCall& call : denied_calls()) {
    if (tracing == Tracing::allowed && is_tracing_call(call.name)) continue;
    const int number = seccomp_syscall_resolve_name(std::string(call.name).c_str());
    if (number == __NR_SCMP_ERROR) continue;  // newer than this libseccomp; the default action below covers none of it
    const int failed = seccomp_rule_add(context, SCMP_ACT_ERRNO(static_cast<std::uint32_t>(call.error)), number, 0);
    if (failed != 0) return failed;
  }
  return 0;
}

/// New namespaces would give a guest capabilities again, and with them kernel surface. clone3 hides its flags behind a
/// pointer, which a filter cannot read, so it is denied whole and libc falls back to clone.
int deny_namespaces(scmp_filter_ctx context) {
  for (std::uint64_t bit = 1; bit <= kNamespaceFlags; bit <<= 1) {
    if ((kNamespaceFlags & bit) == 0) continue;
    const scmp_arg_cmp set = argument(0, SCMP_CMP_MASKED_EQ, bit, bit);
    // The time namespace's bit lies within clone's exit-signal byte, where it means nothing.
    if (bit != 0x80)
      if (int failed = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, set)) return failed;
    if (int failed = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 1, set)) return failed;
  }
  return 0;
}

/// The kernel looks at the low 32 bits of an ioctl's number, so a comparison of all 64 would be walked around.
int deny_terminal_injection(scmp_filter_ctx context) {
  constexpr std::uint64_t low = 0xffffffffull;
  for (std::uint64_t request : {std::uint64_t{TIOCSTI}, std::uint64_t{TIOCLINUX}}) {
    const scmp_arg_cmp same = argument(1, SCMP_CMP_MASKED_EQ, low, request);
    if (int failed = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1, same)) return failed;
  }
  return 0;
}

int deny_family_range(scmp_filter_ctx context, int first, int last) {
  for (int family = first; family <= last; ++family) {
    const scmp_arg_cmp same = argument(0, SCMP_CMP_MASKED_EQ, 0xffffffffull, static_cast<scmp_datum_t>(family));
    for (int call : {SCMP_SYS(socket), SCMP_SYS(socketpair)})
      if (int failed = seccomp_rule_add(context, SCMP_ACT_ERRNO(EAFNOSUPPORT), call, 1, same)) return failed;
  }
  return 0;
}

/// AF_UNIX, AF_INET, AF_INET6 and route netlink are what programs use; each other family is kernel code that only an
/// attacker visits (VSOCK reaches the hypervisor, ALG and PACKET have a history).
int deny_socket_families(scmp_filter_ctx context) {
  static_assert(AF_UNIX == 1 && AF_INET == 2 && AF_INET6 == 10 && AF_NETLINK == 16);
  if (int failed = deny_family_range(context, 3, 9)) return failed;
  if (int failed = deny_family_range(context, 11, 15)) return failed;
  if (int failed = deny_family_range(context, 17, 63)) return failed;
  const scmp_arg_cmp beyond = argument(0, SCMP_CMP_GE, 64);
  if (int failed = seccomp_rule_add(context, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1, beyond)) return failed;
  const scmp_arg_cmp netlink = argument(0, SCMP_CMP_EQ, AF_NETLINK);
  const scmp_arg_cmp other = argument(2, SCMP_CMP_NE, NETLINK_ROUTE);
  return seccomp_rule_add(context, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 2, netlink, other);
}

/// Of the internet's protocols only TCP, UDP and ICMP are open: for the others the kernel loads modules that few have
/// looked at. Libraries that prefer MPTCP (Go) take "not supported" as the answer that it is.
int deny_protocols(scmp_filter_ctx context) {
  constexpr std::uint64_t dccp = 33;
  for (int family : {AF_INET, AF_INET6}) {
    const scmp_arg_cmp same = argument(0, SCMP_CMP_MASKED_EQ, 0xffffffffull, static_cast<scmp_datum_t>(family));
    for (const scmp_arg_cmp& protocol :
         {argument(2, SCMP_CMP_EQ, dccp), argument(2, SCMP_CMP_GT, std::uint64_t{IPPROTO_ICMPV6})})
      if (int failed = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 2, same, protocol))
        return failed;
  }
  return 0;
}

/// `setarch -R`, as debuggers and some runtimes use it, stays open; what widens a process's own attack surface does
/// not. The query is the value with all bits set. A rule may compare an argument once, so "bit 31 marks the query" is
/// said in two halves: a denied bit counts without bit 31, and bit 31 counts unless every other bit is set too.
int deny_personalities(scmp_filter_ctx context) {
  constexpr std::uint64_t query = 1ull << 31;
  const std::uint32_t deny = SCMP_ACT_ERRNO(EPERM);
  for (std::uint64_t bit :
       {std::uint64_t{READ_IMPLIES_EXEC}, std::uint64_t{ADDR_COMPAT_LAYOUT}, std::uint64_t{MMAP_PAGE_ZERO}}) {
    const scmp_arg_cmp set = argument(0, SCMP_CMP_MASKED_EQ, bit | query, bit);
    if (int failed = seccomp_rule_add(context, deny, SCMP_SYS(personality), 1, set)) return failed;
  }
  for (std::uint64_t bit = 1; bit < query; bit <<= 1) {
    const scmp_arg_cmp half = argument(0, SCMP_CMP_MASKED_EQ, bit | query, query);
    if (int failed = seccomp_rule_add(context, deny, SCMP_SYS(personality), 1, half)) return failed;
  }
  return 0;
}

int add_rules(scmp_filter_ctx context, Tracing tracing) {
  if (int failed = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS)) return failed;
  if (int failed = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2)) return failed;
  if (int failed = deny_calls(context, tracing)) return failed;
  if (int failed = deny_namespaces(context)) return failed;
  if (int failed = deny_terminal_injection(context)) return failed;
  if (int failed = deny_socket_families(context)) return failed;
  if (int failed = deny_protocols(context)) return failed;
  return deny_personalities(context);
}

Result<std::string> exported(scmp_filter_ctx context) {
  const UniqueFd file(memfd_create("seccomp", MFD_CLOEXEC));
  if (!file || seccomp_export_bpf(context, file.get()) != 0) return io_error("writing the seccomp filter");
  std::string program(static_cast<std::size_t>(lseek(file.get(), 0, SEEK_END)), '\0');
  if (pread(file.get(), program.data(), program.size(), 0) != static_cast<ssize_t>(program.size()))
    return io_error("reading the seccomp filter");
  return program;
}

/// Calls newer than the table below were never looked at: the guest's kernel does not have them. libseccomp knows calls
/// by name only, and only those of its own time, so this goes before its program, by number. New calls have had one
/// number on every architecture since 424. Numbers with bit 30 are x32's: the program kills for them.
std::string without_newer_calls(const std::string& program) {
  constexpr std::uint32_t last_reviewed = 466;  // removexattrat
  constexpr std::uint32_t x32 = 0x40000000;
  const std::array<sock_filter, 4> before = {sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                             sock_filter BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, x32, 2, 0),
                                             sock_filter BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last_reviewed, 0, 1),
                                             sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)};
  return std::string(reinterpret_cast<const char*>(before.data()), sizeof before) + program;
}

Result<std::string> compile(Tracing tracing) {
  const Context context(seccomp_init(SCMP_ACT_ALLOW));
  if (!context) return Error{ErrorKind::unavailable, "seccomp: libseccomp does not start"};
  if (const int failed = add_rules(context.get(), tracing))
    return Error{ErrorKind::unavailable, std::string("seccomp: a rule is refused: ") + std::strerror(-failed)};
  Result<std::string> program = exported(context.get());
  if (!program) return program;
  return without_newer_calls(*program);
}

}  // namespace

const std::vector<DeniedCall>& denied_calls() {
  static const std::vector<DeniedCall> calls = {
      {"ptrace", EPERM, "reads and steers other processes"},
      {"process_vm_readv", EPERM, "reads other processes' memory"},
      {"process_vm_writev", EPERM, "writes other processes' memory"},
      {"kcmp", EPERM, "tells kernel objects of processes apart"},
      {"pidfd_getfd", ENOSYS, "takes descriptors out of other processes"},
      {"io_uring_setup", ENOSYS, "performs calls that no filter sees"},
      {"io_uring_enter", ENOSYS, "performs calls that no filter sees"},
      {"io_uring_register", ENOSYS, "performs calls that no filter sees"},
      {"clone3", ENOSYS, "its namespace flags lie where no filter can look; libc falls back to clone"},
      {"bpf", ENOSYS, "loads programs into the kernel"},
      {"perf_event_open", ENOSYS, "large surface, leaks addresses"},
      {"userfaultfd", ENOSYS, "stops the kernel at a page fault of the attacker's choosing"},
      {"keyctl", ENOSYS, "keyrings are not namespaced"},
      {"add_key", ENOSYS, "keyrings are not namespaced"},
      {"request_key", ENOSYS, "keyrings are not namespaced; starts a helper on the host"},
      {"mount", EPERM, "changes what paths mean"},
      {"umount2", EPERM, "uncovers what a mount hides"},
      {"pivot_root", EPERM, "changes the root"},
      {"chroot", EPERM, "changes the root"},
      {"open_tree", ENOSYS, "new mount interface"},
      {"move_mount", ENOSYS, "new mount interface"},
      {"fsopen", ENOSYS, "new mount interface"},
      {"fsconfig", ENOSYS, "new mount interface"},
      {"fsmount", ENOSYS, "new mount interface"},
      {"fspick", ENOSYS, "new mount interface"},
      {"mount_setattr", ENOSYS, "new mount interface"},
      {"setns", EPERM, "enters other namespaces"},
      {"open_by_handle_at", EPERM, "opens files past every directory above them"},
      {"kexec_load", EPERM, "replaces the kernel"},
      {"kexec_file_load", EPERM, "replaces the kernel"},
      {"init_module", EPERM, "loads code into the kernel"},
      {"finit_module", EPERM, "loads code into the kernel"},
      {"delete_module", EPERM, "unloads kernel code"},
      {"reboot", EPERM, "stops the machine"},
      {"swapon", EPERM, "machine-wide"},
      {"swapoff", EPERM, "machine-wide"},
      {"settimeofday", EPERM, "machine-wide"},
      {"clock_settime", EPERM, "machine-wide"},
      {"clock_adjtime", EPERM, "machine-wide"},
      {"adjtimex", EPERM, "machine-wide"},
      {"stime", EPERM, "machine-wide"},
      {"quotactl", EPERM, "machine-wide"},
      {"quotactl_fd", EPERM, "machine-wide"},
      {"acct", EPERM, "machine-wide"},
      {"syslog", EPERM, "the kernel's log holds addresses"},
      {"vhangup", EPERM, "hangs up the terminal"},
      {"iopl", EPERM, "device ports"},
      {"ioperm", EPERM, "device ports"},
      {"lookup_dcookie", EPERM, "profiles the whole machine"},
      {"nfsservctl", EPERM, "obsolete"},
      {"uselib", EPERM, "obsolete"},
      {"modify_ldt", EPERM, "obsolete, with a history"},
      {"vm86", EPERM, "obsolete"},
      {"vm86old", EPERM, "obsolete"},
      {"fanotify_init", EPERM, "watches the whole machine"},
      {"move_pages", EPERM, "steers other processes' memory"},
      {"migrate_pages", EPERM, "steers other processes' memory"},
  };
  return calls;
}

const Result<std::string>& seccomp_program(Tracing tracing) {
  static const Result<std::string> denied = compile(Tracing::denied);
  if (tracing == Tracing::denied) return denied;
  static const Result<std::string> allowed = compile(Tracing::allowed);
  return allowed;
}

}  // namespace escrow::sandbox
