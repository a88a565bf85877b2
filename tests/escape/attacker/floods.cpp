// Against what the machine has: run inside the cage only.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/escape/attacker/attacks.h"

namespace attacker {
namespace {

constexpr std::size_t kMegabyte = 1u << 20;

/// So long that whoever watches has looked.
[[noreturn]] void hold() {
  for (;;) pause();
}

std::size_t megabytes(const std::string& argument) {
  return static_cast<std::size_t>(std::atol(argument.c_str())) * kMegabyte;
}

Outcome touch(void* memory, std::size_t size) {
  if (memory == MAP_FAILED) return errno;
  std::memset(memory, 1, size);
  hold();
}

Outcome private_map(const std::string& size) {
  const std::size_t bytes = megabytes(size);
  return touch(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes);
}

Outcome shared_map(const std::string& size) {
  const std::size_t bytes = megabytes(size);
  return touch(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), bytes);
}

/// Never mapped, so that no process's resident set shows it.
Outcome memory_files(const std::string& size) {
  static std::array<char, kMegabyte> block;
  block.fill(1);
  for (std::size_t left = megabytes(size); left > 0; left -= kMegabyte) {
    const int fd = memfd_create("m", MFD_CLOEXEC);
    if (fd < 0 || write(fd, block.data(), block.size()) < 0) return errno;
  }
  hold();
}

/// Detached once filled: a segment lives on without any process.
Outcome segments(const std::string& size) {
  for (std::size_t left = megabytes(size); left > 0; left -= kMegabyte) {
    const int id = shmget(IPC_PRIVATE, kMegabyte, IPC_CREAT | 0600);
    void* memory = id < 0 ? nullptr : shmat(id, nullptr, 0);
    if (id < 0 || memory == reinterpret_cast<void*>(-1)) return errno;
    std::memset(memory, 1, kMegabyte);
    shmdt(memory);
  }
  hold();
}

/// Two of `private_map`, while a third process keeps the runner busy with signals.
Outcome busy_runner(const std::string& size) {
  if (fork() == 0) private_map(size);
  if (fork() == 0)
    for (;;) {
      kill(1, SIGCHLD);
      usleep(2000);
    }
  return private_map(size);
}

Outcome many_processes(const std::string& size) {
  for (std::size_t left = megabytes(size); left > 0; left -= 16 * kMegabyte)
    if (fork() == 0) private_map("16");
  hold();
}

Outcome threads(const std::string& count) {
  for (int left = std::atoi(count.c_str()); left > 0; --left) {
    constexpr std::size_t kStack = 16384;
    void* stack = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return errno;
    constexpr int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    if (clone([](void*) -> int { hold(); }, static_cast<char*>(stack) + kStack, flags, nullptr) < 0) return errno;
  }
  hold();
}

Outcome descriptors(const std::string&) {
  for (int i = 0; i < 2'000'000; ++i)
    if (open("/dev/null", O_RDONLY) < 0) return errno;
  return 0;
}

/// One big file, or many small ones, in the directory.
Outcome fill(const std::string& directory) {
  static std::array<char, kMegabyte> block;
  block.fill(1);
  for (int i = 0; i < 100'000; ++i) {
    const int fd = open((directory + "/" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    if (write(fd, block.data(), block.size()) != static_cast<ssize_t>(block.size())) return errno ? errno : ENOSPC;
    close(fd);
  }
  return 0;
}

/// Files that no directory names any more, kept open.
Outcome fill_deleted(const std::string& directory) {
  static std::array<char, kMegabyte> block;
  block.fill(1);
  const std::string path = directory + "/deleted";
  for (int i = 0; i < 4'000; ++i) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || unlink(path.c_str()) != 0) return errno;
    for (int j = 0; j < 16; ++j)
      if (write(fd, block.data(), block.size()) != static_cast<ssize_t>(block.size())) return errno ? errno : ENOSPC;
  }
  return 0;
}

/// Named as what watches over it: nothing may go by names.
Outcome disguised_sleeper(const std::string&) {
  if (fork() != 0) return 0;
  setsid();
  if (fork() != 0) _exit(0);
  execl("/proc/self/exe", "escrow-runner", "sleep-for-ever", nullptr);
  _exit(1);
}

Outcome crash(const std::string&) {
  return in_child([]() -> Outcome {
    raise(SIGABRT);
    return 0;
  });
}

}  // namespace

std::vector<Attack> flood_attacks() {
  return {
      {"private-map", private_map},
      {"shared-map", shared_map},
      {"memory-files", memory_files},
      {"segments", segments},
      {"busy-runner", busy_runner},
      {"many-processes", many_processes},
      {"threads", threads},
      {"descriptors", descriptors},
      {"fill", fill},
      {"fill-deleted", fill_deleted},
      {"disguised-sleeper", disguised_sleeper},
      {"sleep-for-ever", [](const std::string&) -> Outcome { hold(); }},
      {"crash", crash},
  };
}

}  // namespace attacker
