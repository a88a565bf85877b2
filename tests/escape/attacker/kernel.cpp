// Against the kernel: interfaces of wide surface, other architectures, machine-wide settings, terminals.

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "tests/escape/attacker/attacks.h"

namespace attacker {
namespace {

constexpr long kProcessKeyring = -2;

Outcome set_up_ring(const std::string&) {
  std::uint32_t parameters[30] = {};  // struct io_uring_params
  const long fd = syscall(SYS_io_uring_setup, 1, parameters);
  return fd < 0 ? errno : of(close(static_cast<int>(fd)) == 0);
}

Outcome load_map(const std::string&) {
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = attributes.value_size = 4;
  attributes.max_entries = 1;
  return raw(SYS_bpf, BPF_MAP_CREATE, word(&attributes), sizeof attributes);
}

Outcome count_events(const std::string&) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.exclude_kernel = 1;
  return raw(SYS_perf_event_open, word(&attributes), 0, -1, -1, 0);
}

/// Reads only: what the clock is now is asked of the call that would set it.
Outcome adjust_clock(const std::string&) {
  timex now{};
  return syscall(SYS_adjtimex, &now) < 0 ? errno : 0;
}

Outcome type_into_terminal(unsigned long request) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return errno;
  const int slave = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  char letter = 'x';
  const Outcome result = raw(SYS_ioctl, slave, static_cast<long>(request), word(&letter));
  close(slave);
  close(terminal);
  return result;
}

/// As one whose controlling terminal it is: TIOCSTI without privilege is for its own terminal only.
template <unsigned long Request>
Outcome inject(const std::string&) {
  return in_child([] {
    setsid();
    const int terminal = posix_openpt(O_RDWR);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return errno;
    const int slave = open(ptsname(terminal), O_RDWR);
    ioctl(slave, TIOCSCTTY, 0);
    char letter = 'x';
    return raw(SYS_ioctl, slave, static_cast<long>(Request), word(&letter));
  });
}

Outcome foreign_interrupt(const std::string&) {
#if defined(__x86_64__)
  return in_child([] {
    long result = 20;  // getpid of i386
    asm volatile("int $0x80" : "+a"(result)::"memory");
    return result > 0 ? 0 : EPERM;
  });
#else
  return kSignal + SIGSYS;
#endif
}

Outcome foreign_number(const std::string&) {
#if defined(__x86_64__)
  return in_child([] { return raw(0x40000000L | SYS_getpid); });
#else
  return kSignal + SIGSYS;
#endif
}

Outcome map_page_zero(const std::string&) {
  return of(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
}

}  // namespace

std::vector<Attack> kernel_attacks() {
  return {
    {"io-uring-setup", set_up_ring},
        {"io-uring-register", [](const std::string&) { return raw(SYS_io_uring_register, -1, 0, 0, 0); }},
        {"io-uring-enter", [](const std::string&) { return raw(SYS_io_uring_enter, -1, 0, 0, 0, 0, 0); }},
        {"bpf", load_map}, {"perf-event-open", count_events},
        {"userfaultfd", [](const std::string&) { return raw(SYS_userfaultfd, 1 /* user mode only */ | O_CLOEXEC); }},
        {"add-key",
         [](const std::string&) { return raw(SYS_add_key, word("user"), word("k"), word("v"), 1, kProcessKeyring); }},
        {"request-key", [](const std::string&) { return raw(SYS_request_key, word("user"), word("k"), 0, 0); }},
        {"keyctl", [](const std::string&) { return raw(SYS_keyctl, 0 /* get id */, kProcessKeyring, 1); }},
        {"init-module", [](const std::string&) { return raw(SYS_init_module, 0, 0, 0); }},
        {"finit-module", [](const std::string&) { return raw(SYS_finit_module, -1, word(""), 0); }},
        {"delete-module",
         [](const std::string&) { return raw(SYS_delete_module, word("no-such-module"), O_NONBLOCK); }},
        {"kexec-load", [](const std::string&) { return raw(SYS_kexec_load, 0, 1000, 0, 0); }},
        {"reboot", [](const std::string&) { return raw(SYS_reboot, 0, 0, 0, 0); }},
        {"swapon", [](const std::string&) { return raw(SYS_swapon, word("/no-such-file"), 0); }},
        {"syslog", [](const std::string&) { return raw(SYS_syslog, 10 /* size of the buffer */, 0, 0); }},
        {"clock-settime", [](const std::string&) { return raw(SYS_clock_settime, CLOCK_REALTIME, 0); }},
        {"adjtimex", adjust_clock}, {"acct", [](const std::string&) { return raw(SYS_acct, word("/no-such-file")); }},
        {"quotactl", [](const std::string&) { return raw(SYS_quotactl, 0x800001L << 8, word("/dev/no-such"), 0, 0); }},
        {"fanotify", [](const std::string&) { return raw(SYS_fanotify_init, 0, 0); }},
#if defined(__x86_64__)
        {"iopl", [](const std::string&) { return raw(SYS_iopl, 0); }},
        {"ioperm", [](const std::string&) { return raw(SYS_ioperm, 0x80, 1, 0); }},
        {"modify-ldt", [](const std::string&) { return raw(SYS_modify_ldt, 0, 0, 0); }},
#endif
        {"call-newer-than-the-table", [](const std::string&) { return raw(600); }},
        {"open-tree-attr", [](const std::string&) { return raw(467, -1, word(""), 0, 0, 0); }},
        {"tiocsti", inject<TIOCSTI>}, {"tiocsti-with-high-bits", inject<TIOCSTI | (1ul << 32)>},
        {"tioclinux", [](const std::string&) { return type_into_terminal(TIOCLINUX); }}, {"int80", foreign_interrupt},
        {"x32", foreign_number},
        {"personality",
         [](const std::string&) { return in_child([] { return raw(SYS_personality, READ_IMPLIES_EXEC); }); }},
        {"personality-query", [](const std::string&) { return raw(SYS_personality, 0xffffffffL); }},
        {"map-page-zero", map_page_zero},
  };
}

}  // namespace attacker
