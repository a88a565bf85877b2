#include "tests/escape/escape_fixture.h"

// Attacks through system calls.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;

namespace {

struct Expected {
  const char* attack;
  const char* result;
};

void check_all(const std::vector<Expected>& table) {
  AttackedCage cage;
  std::vector<std::string> attacks, expected;
  for (const Expected& row : table) {
    attacks.emplace_back(row.attack);
    expected.push_back(std::string(row.attack) + " " + row.result);
  }
  CHECK(cage.attack(attacks) == expected);
}

}  // namespace

TEST_CASE("a guest that traces and reads other processes is refused") {
  check_all({{"ptrace", "EPERM"}, {"process_vm_readv", "EPERM"}, {"kcmp", "EPERM"}, {"pidfd_getfd", "ENOSYS"}});
}

TEST_CASE("a guest in profile debug may trace its own children") {
  AttackedCage cage;
  cage.profile.name = "debug";
  CHECK(cage.attack_one("ptrace") == "ok");
}

TEST_CASE("a guest that makes namespaces to become root again is refused") {
  check_all({{"unshare-user", "EPERM"},
             {"unshare-net", "EPERM"},
             {"clone-newuser", "EPERM"},
             {"clone-newpid", "EPERM"},
             {"clone3", "ENOSYS"},
             {"setns", "EPERM"}});
}

TEST_CASE("a guest that asks for kernel interfaces of wide surface finds none") {
  check_all({{"io_uring_setup", "ENOSYS"},
             {"add_key", "ENOSYS"},
             {"keyctl", "ENOSYS"},
             {"bpf", "ENOSYS"},
             {"perf_event_open", "ENOSYS"},
             {"userfaultfd", "ENOSYS"},
             {"init_module", "EPERM"},
             {"reboot", "EPERM"},
             {"syslog", "EPERM"}});
}

TEST_CASE("a guest that mounts, unmounts or changes root is refused") {
  check_all({{"mount", "EPERM"},
             {"umount", "EPERM"},
             {"fsopen", "ENOSYS"},
             {"open_tree", "ENOSYS"},
             {"chroot", "EPERM"},
             {"open_by_handle_at", "EPERM"}});
}

TEST_CASE("a guest that opens sockets of odd families is refused, and an upper half of the number does not help") {
  check_all({{"af-vsock", "EAFNOSUPPORT"},
             {"af-packet", "EAFNOSUPPORT"},
             {"af-alg", "EAFNOSUPPORT"},
             {"netlink-audit", "EAFNOSUPPORT"},
             {"family-with-high-bits", "EAFNOSUPPORT"},
             {"af-inet-raw", "EPERM"},
             {"netlink-route", "ok"}});
}

TEST_CASE("a guest that types into a terminal is refused, and an upper half of the number does not help") {
  check_all({{"tiocsti", "EPERM"}, {"tiocsti-with-high-bits", "EPERM"}, {"tioclinux", "EPERM"}});
}

TEST_CASE("a guest that speaks to the kernel as another architecture dies") {
  AttackedCage cage;
  CHECK(cage.attack_one("x32") == "signal 31");
  // By the filter, or, where the kernel has no 32-bit entry at all, by the processor.
  const std::string int80 = cage.attack_one("int80");
  CHECK((int80 == "signal 31" || int80 == "signal 11"));
}

TEST_CASE("a guest may ask for its personality but not take a dangerous one") {
  check_all({{"personality", "EPERM"}, {"personality-query", "ok"}});
}

TEST_CASE("a guest that writes kernel settings or makes devices is refused") {
  AttackedCage cage;
  CHECK(cage.attack_one("sysctl") != "ok");
  CHECK(cage.attack_one("mknod") != "ok");
}

TEST_CASE("a guest that raises its own limits is refused") {
  check_all({{"raise-limit", "EPERM"}});
}

TEST_CASE("a guest inherits no descriptor but the standard three") {
  check_all({{"inherited-descriptor", "ok"}});
}

TEST_CASE("a guest has no capability, no new privilege, and a filter") {
  Cage cage;
  const Execution execution = cage.sh("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
  CHECK(text(execution.out) ==
        "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n"
        "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
}

TEST_CASE("a guest that kills the runner or forges its report changes nothing") {
  Cage cage;
  const Execution execution = cage.sh("kill -9 1; kill -STOP 1; echo forged > /proc/1/fd/64; exit 5");
  CHECK(execution.exit_code == 5);
  CHECK(execution.reason == ExitReason::exit);
}
