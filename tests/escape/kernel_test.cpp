#include "tests/escape/escape_fixture.h"

// Attacks through system calls.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;

TEST_CASE("a guest that traces and reads other processes is refused") {
  check_attacks({
      {"attaching to a child as its tracer", "ptrace-attach", "EPERM"},
      {"seizing a child as its tracer", "ptrace-seize", "EPERM"},
      {"asking to be traced", "ptrace-traceme", "EPERM"},
      {"reading the memory of another process", "process-vm-readv", "EPERM"},
      {"writing the memory of another process", "process-vm-writev", "EPERM"},
      {"taking a descriptor out of another process", "pidfd-getfd", "ENOSYS"},
      {"comparing the kernel objects of two processes", "kcmp", "EPERM"},
  });
}

TEST_CASE("a guest in profile debug may trace its own children, and still not the runner") {
  AttackedCage cage;
  cage.profile.name = "debug";
  CHECK(cage.attack_one("ptrace-attach") == "ok");
  CHECK(cage.attack_one("open-memory=1") == "EACCES");
}

TEST_CASE("a guest that makes namespaces to become root again is refused") {
  check_attacks({
      {"a user namespace by unshare", "unshare-user", "EPERM"},
      {"a mount namespace by unshare", "unshare-mount", "EPERM", Control::namespaces},
      {"a pid namespace by unshare", "unshare-pid", "EPERM", Control::namespaces},
      {"a network namespace by unshare", "unshare-net", "EPERM", Control::namespaces},
      {"an IPC namespace by unshare", "unshare-ipc", "EPERM", Control::namespaces},
      {"a UTS namespace by unshare", "unshare-uts", "EPERM", Control::namespaces},
      {"a cgroup namespace by unshare", "unshare-cgroup", "EPERM", Control::namespaces},
      {"a time namespace by unshare", "unshare-time", "EPERM", Control::namespaces},
      {"a user namespace by clone", "clone-user", "EPERM"},
      {"a mount namespace by clone", "clone-mount", "EPERM", Control::namespaces},
      {"a pid namespace by clone", "clone-pid", "EPERM", Control::namespaces},
      {"a network namespace by clone", "clone-net", "EPERM", Control::namespaces},
      {"a child by clone3, whose flags no filter can read", "clone3", "ENOSYS"},
      {"a user namespace by clone3", "clone3-user", "ENOSYS"},
      {"entering a network namespace", "setns-net", "EPERM", Control::namespaces},
      {"entering a mount namespace", "setns-mount", "EPERM", Control::namespaces},
  });
}

TEST_CASE("a guest that asks for kernel interfaces of wide surface finds none") {
  check_attacks({
      {"setting up an io_uring", "io-uring-setup", "ENOSYS"},
      {"registering with an io_uring", "io-uring-register", "ENOSYS", Control::bare, "EINVAL|EBADF"},
      {"entering an io_uring", "io-uring-enter", "ENOSYS", Control::bare, "EBADF"},
      {"making a BPF map", "bpf", "ENOSYS"},
      {"counting events of the processor", "perf-event-open", "ENOSYS"},
      {"handling page faults in user space", "userfaultfd", "ENOSYS"},
      {"adding a key to a keyring", "add-key", "ENOSYS"},
      {"requesting a key, which starts a helper", "request-key", "ENOSYS", Control::bare, "ENOKEY|ok"},
      {"controlling a keyring", "keyctl", "ENOSYS"},
      {"a call newer than what was reviewed", "call-newer-than-the-table", "ENOSYS", Control::harmful,
       "no kernel has it yet"},
      {"cloning a mount by the newest call for it", "open-tree-attr", "ENOSYS", Control::bare, "EBADF|ENOENT|EINVAL"},
  });
}

TEST_CASE("a guest that changes the machine is refused") {
  check_attacks({
    {"loading a module", "init-module", "EPERM", Control::bare, "EFAULT|ENOEXEC|ENOENT"},
        {"loading a module from a file", "finit-module", "EPERM", Control::bare, "EBADF"},
        {"unloading a module", "delete-module", "EPERM", Control::bare, "ENOENT"},
        {"loading another kernel", "kexec-load", "EPERM", Control::bare, "EINVAL"},
        {"rebooting", "reboot", "EPERM", Control::bare, "EINVAL"},
        {"swapping to a file", "swapon", "EPERM", Control::bare, "ENOENT"},
        {"reading the kernel's log", "syslog", "EPERM"},
        {"setting the clock", "clock-settime", "EPERM", Control::bare, "EFAULT"},
        {"steering the clock", "adjtimex", "EPERM"},
        {"accounting processes to a file", "acct", "EPERM", Control::bare, "ENOENT"},
        {"asking for quotas", "quotactl", "EPERM", Control::bare, "ENOENT"},
        {"watching every file of the machine", "fanotify", "EPERM"},
#if defined(__x86_64__)
        {"opening the device ports", "iopl", "EPERM"}, {"opening one device port", "ioperm", "EPERM"},
        {"a segment of its own making", "modify-ldt", "EPERM"},
#endif
  });
}

TEST_CASE("a guest that types into a terminal is refused, and an upper half of the number does not help") {
  check_attacks({
      {"typing into its own terminal", "tiocsti", "EPERM"},
      {"typing with high bits in the request", "tiocsti-with-high-bits", "EPERM"},
      {"pasting into a console", "tioclinux", "EPERM", Control::bare, "ENOTTY"},
  });
}

TEST_CASE("a guest that speaks to the kernel as another architecture dies") {
  check_attacks({
      // By the filter, or, where the kernel has no 32-bit entry at all, by the processor.
      {"a 32-bit system call", "int80", "SIGSYS|SIGSEGV", Control::bare, "ok|SIGSEGV"},
      {"an x32 system call", "x32", "SIGSYS", Control::bare, "ok"},
  });
}

TEST_CASE("a guest may ask for its personality but not take a dangerous one") {
  check_attacks({
      {"making every readable page executable", "personality", "EPERM"},
      {"mapping the page at zero", "map-page-zero", "EPERM", Control::bare, "ok"},
  });
  AttackedCage cage;
  CHECK(cage.attack_one("personality-query") == "ok");
}

TEST_CASE("a guest that raises its own limits or rights is refused") {
  check_attacks({
      {"raising its memory limit", "raise-data-limit", "EPERM", Control::bare},
      {"raising its process limit", "raise-process-limit", "EPERM", Control::bare},
      {"raising its file size limit", "raise-file-limit", "EPERM", Control::bare},
      {"raising its core limit", "raise-core-limit", "EPERM", Control::bare},
      {"taking a capability", "raise-capability", "EPERM", Control::namespaces},
      {"dropping groups that deny it something", "setgroups", "EPERM", Control::bare},
      {"going before everybody else", "renice", "EACCES|EPERM", Control::bare},
      {"running in real time", "real-time", "EPERM", Control::bare},
      {"taking the filter off", "drop-filter", "EINVAL", Control::harmful, "there is no filter to take off"},
      {"allowing privileges again", "allow-privileges", "EINVAL", Control::harmful, "there is nothing to allow again"},
  });
}

TEST_CASE("a guest inherits no descriptor but the standard three") {
  AttackedCage cage;
  const UniqueFd secret(open("/etc/passwd", O_RDONLY));  // not closed on exec: a careless server's
  CHECK(cage.attack_one("inherited-descriptor") == "ok");
  CHECK(outcome_in(run_bare({attacker_program().string(), "inherited-descriptor"})) != "ok");
}

TEST_CASE("a guest has no capability, no new privilege, and a filter") {
  Cage cage;
  const Execution execution = cage.sh("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
  CHECK(text(execution.out) ==
        "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n"
        "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
}

TEST_CASE("a set-uid program of another owner gives a guest nothing") {
  if (geteuid() != 0) return skipped("a set-uid program", "needs root, to make one that is not the guest's");
  AttackedCage cage;
  // The guest is then the owner of the workspace, an ordinary user; the program is root's.
  constexpr uid_t user = 65534;
  REQUIRE(chown(cage.tree.workspace().c_str(), user, user) == 0);
  fs::permissions(cage.tree.workspace() / "attacker", fs::perms(04755));
  fs::copy_file(attacker_program(), cage.tree.outside() / "attacker");
  fs::permissions(cage.tree.outside() / "attacker", fs::perms(04755));
  CHECK(cage.attack_one("am-i-root") == "EPERM");
  CHECK(outcome_in(run_bare({"/usr/bin/setpriv", "--reuid", "65534", "--clear-groups",
                             (cage.tree.outside() / "attacker").string(), "am-i-root"})) == "ok");
}
