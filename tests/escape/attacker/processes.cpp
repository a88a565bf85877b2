// Against other processes, and out of the namespaces.

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <mqueue.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "tests/escape/attacker/attacks.h"

namespace attacker {
namespace {

char memory_of_the_victim[8] = "private";  // at the same address in every child of ours

Outcome attach(long request) {
  const Victim victim;
  return raw(SYS_ptrace, request, victim.pid());
}

Outcome transfer(long call) {
  const Victim victim;
  char buffer[8] = {};
  iovec local{buffer, sizeof buffer}, remote{memory_of_the_victim, sizeof buffer};
  return raw(call, victim.pid(), word(&local), 1, word(&remote), 1);
}

Outcome take_descriptor() {
  const Victim victim;
  const long pidfd = syscall(SYS_pidfd_open, victim.pid(), 0);
  return pidfd < 0 ? errno : raw(SYS_pidfd_getfd, pidfd, 0, 0);
}

Outcome compare_descriptors() {
  const Victim victim;
  // KCMP_FILE
  return syscall(SYS_kcmp, getpid(), victim.pid(), 0, 0, 0) < 0 ? errno : 0;
}

Outcome open_of_process(const std::string& pid, const char* file, int flags) {
  return of(open(("/proc/" + pid + "/" + file).c_str(), flags | O_CLOEXEC) >= 0);
}

template <int Flag>
Outcome unshare_one(const std::string&) {
  return in_child([] { return raw(SYS_unshare, Flag); });
}

template <unsigned long Flag>
Outcome clone_one(const std::string&) {
  return in_child([] {
    const long child = syscall(SYS_clone, Flag | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    return child < 0 ? errno : 0;
  });
}

template <std::uint64_t Flags>
Outcome clone3_with(const std::string&) {
  return in_child([] {
    std::uint64_t arguments[11] = {};
    arguments[0] = Flags;
    arguments[4] = SIGCHLD;
    const long child = syscall(SYS_clone3, arguments, sizeof arguments);
    if (child == 0) _exit(0);
    return child < 0 ? errno : 0;
  });
}

template <int Type>
Outcome enter_own(const std::string& name) {
  const int fd = open(("/proc/self/ns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  return fd < 0 ? errno : raw(SYS_setns, fd, Type);
}

Outcome signal_by_descriptor(const std::string& pid) {
  const long pidfd = syscall(SYS_pidfd_open, std::atol(pid.c_str()), 0);
  return pidfd < 0 ? errno : raw(SYS_pidfd_send_signal, pidfd, SIGTERM);
}

Outcome limit_other(const std::string& pid) {
  rlimit limit{};
  return of(prlimit(std::atoi(pid.c_str()), RLIMIT_NOFILE, nullptr, &limit) == 0);
}

Outcome pin_other(const std::string& pid) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  return of(sched_setaffinity(std::atoi(pid.c_str()), sizeof set, &set) == 0);
}

Outcome real_time(const std::string&) {
  sched_param parameters{};
  parameters.sched_priority = 1;
  return of(sched_setscheduler(0, SCHED_FIFO, &parameters) == 0);
}

Outcome raise_capability(const std::string&) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  data[CAP_SYS_ADMIN / 32].effective = data[CAP_SYS_ADMIN / 32].permitted = 1u << (CAP_SYS_ADMIN % 32);
  return raw(SYS_capset, word(&header), word(&data[0]));
}

template <int Resource>
Outcome raise_limit(const std::string&) {
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  return of(setrlimit(static_cast<__rlimit_resource_t>(Resource), &all) == 0);
}

/// Is a descriptor other than the three standard ones open? Its number, as if it were an error.
Outcome inherited_descriptor(const std::string&) {
  for (int fd = 3; fd < 4096; ++fd)
    if (fcntl(fd, F_GETFD) >= 0) return fd;
  return 0;
}

/// Is there a segment of this key, which another process made?
Outcome shared_segment(const std::string& key) {
  return of(shmget(static_cast<key_t>(std::atol(key.c_str())), 0, 0) >= 0);
}

Outcome message_queue(const std::string& name) {
  return of(mq_open(name.c_str(), O_RDONLY) >= 0);
}

Outcome posix_memory(const std::string& name) {
  return of(shm_open(name.c_str(), O_RDONLY, 0) >= 0);
}

}  // namespace

std::vector<Attack> process_attacks() {
  return {
      {"ptrace-attach", [](const std::string&) { return attach(PTRACE_ATTACH); }},
      {"ptrace-seize", [](const std::string&) { return attach(PTRACE_SEIZE); }},
      {"ptrace-traceme", [](const std::string&) { return in_child([] { return raw(SYS_ptrace, PTRACE_TRACEME); }); }},
      {"process-vm-readv", [](const std::string&) { return transfer(SYS_process_vm_readv); }},
      {"process-vm-writev", [](const std::string&) { return transfer(SYS_process_vm_writev); }},
      {"pidfd-getfd", [](const std::string&) { return take_descriptor(); }},
      {"kcmp", [](const std::string&) { return compare_descriptors(); }},
      {"open-memory", [](const std::string& pid) { return open_of_process(pid, "mem", O_RDWR); }},
      {"open-environment", [](const std::string& pid) { return open_of_process(pid, "environ", O_RDONLY); }},
      {"open-maps", [](const std::string& pid) { return open_of_process(pid, "maps", O_RDONLY); }},
      {"list-descriptors", [](const std::string& pid) { return open_of_process(pid, "fd", O_RDONLY | O_DIRECTORY); }},
      {"list-root", [](const std::string& pid) { return open_of_process(pid, "root/", O_RDONLY | O_DIRECTORY); }},
      {"list-cwd", [](const std::string& pid) { return open_of_process(pid, "cwd/", O_RDONLY | O_DIRECTORY); }},
      {"unshare-user", unshare_one<CLONE_NEWUSER>},
      {"unshare-mount", unshare_one<CLONE_NEWNS>},
      {"unshare-pid", unshare_one<CLONE_NEWPID>},
      {"unshare-net", unshare_one<CLONE_NEWNET>},
      {"unshare-ipc", unshare_one<CLONE_NEWIPC>},
      {"unshare-uts", unshare_one<CLONE_NEWUTS>},
      {"unshare-cgroup", unshare_one<CLONE_NEWCGROUP>},
      {"unshare-time", unshare_one<0x80>},
      {"clone-user", clone_one<CLONE_NEWUSER>},
      {"clone-mount", clone_one<CLONE_NEWNS>},
      {"clone-pid", clone_one<CLONE_NEWPID>},
      {"clone-net", clone_one<CLONE_NEWNET>},
      {"clone3", clone3_with<0>},
      {"clone3-user", clone3_with<CLONE_NEWUSER>},
      {"setns-net", [](const std::string&) { return enter_own<CLONE_NEWNET>("net"); }},
      {"setns-mount", [](const std::string&) { return enter_own<CLONE_NEWNS>("mnt"); }},
      {"kill", [](const std::string& pid) { return of(kill(std::atoi(pid.c_str()), SIGTERM) == 0); }},
      {"kill-by-pidfd", signal_by_descriptor},
      {"kill-everybody", [](const std::string&) { return in_child([] { return of(kill(-1, SIGKILL) == 0); }); }},
      {"limit-other", limit_other},
      {"pin-other", pin_other},
      {"renice", [](const std::string&) { return of(setpriority(PRIO_PROCESS, 0, -20) == 0); }},
      {"real-time", real_time},
      {"raise-capability", raise_capability},
      {"setgroups", [](const std::string&) { return of(setgroups(0, nullptr) == 0); }},
      {"raise-data-limit", raise_limit<RLIMIT_DATA>},
      {"raise-process-limit", raise_limit<RLIMIT_NPROC>},
      {"raise-file-limit", raise_limit<RLIMIT_FSIZE>},
      {"raise-core-limit", raise_limit<RLIMIT_CORE>},
      {"inherited-descriptor", inherited_descriptor},
      {"shared-segment", shared_segment},
      {"message-queue", message_queue},
      {"posix-memory", posix_memory},
      {"am-i-root", [](const std::string&) { return geteuid() == 0 ? 0 : EPERM; }},
      {"drop-filter", [](const std::string&) { return of(prctl(PR_SET_SECCOMP, 0, 0) == 0); }},
      {"allow-privileges", [](const std::string&) { return of(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0); }},
  };
}

}  // namespace attacker
