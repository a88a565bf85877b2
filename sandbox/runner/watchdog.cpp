#include "sandbox/runner/watchdog.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>

#include "sandbox/unique_fd.h"

// Memory is private or shared, and the two are counted differently.
//
// Private pages are what each process's statm says. Shared ones no process's count shows rightly: a mapping shared by
// twenty processes is twenty times resident; a memory file that is written and never mapped, or a System V segment that
// nobody has attached, is not resident at all. So there are two bounds, and the smaller one counts: how much the whole
// machine's shared memory grew since the command was started, which is one cheap call and includes what others did
// meanwhile; and, only if that would be over the limit, the sum of what the processes map (each its part), hold open as
// memory files, and left behind as segments, which may count the same page twice.

namespace escrow::sandbox {
namespace {

struct StreamCloser {
  void operator()(DIR* stream) const { closedir(stream); }
};
using Stream = std::unique_ptr<DIR, StreamCloser>;

std::uint64_t machine_shared_bytes() {
  struct sysinfo info {};
  return sysinfo(&info) == 0 ? std::uint64_t{info.sharedram} * info.mem_unit : 0;
}

std::uint64_t shared_at_start = 0;

template <class Action>
void for_each_process(Action action) {
  const Stream proc(opendir("/proc"));
  if (!proc) return;
  while (const dirent* entry = readdir(proc.get()))
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') action(dirfd(proc.get()), std::string(entry->d_name));
}

std::uint64_t private_pages(int proc, const std::string& pid) {
  std::array<char, 128> text{};
  const UniqueFd fd(openat(proc, (pid + "/statm").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || read(fd.get(), text.data(), text.size() - 1) <= 0) return 0;
  unsigned long long size = 0, resident = 0, shared = 0;
  if (std::sscanf(text.data(), "%llu %llu %llu", &size, &resident, &shared) != 3) return 0;
  return resident > shared ? resident - shared : 0;
}

/// The task directory has a link for each thread, beside its own two.
std::uint64_t threads_of(int proc, const std::string& pid) {
  struct stat info {};
  if (fstatat(proc, (pid + "/task").c_str(), &info, 0) != 0) return 0;
  return info.st_nlink > 2 ? info.st_nlink - 2 : 1;
}

struct Usage {
  std::uint64_t private_bytes = 0, threads = 0;
};

Usage usage_of_tree() {
  Usage usage;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for_each_process([&](int proc, const std::string& pid) {
    usage.private_bytes += private_pages(proc, pid) * page;
    usage.threads += threads_of(proc, pid);
  });
  return usage;
}

// ---- Shared memory, in detail

/// Sums what can be seen. What hides (a process that is not dumpable) makes the sum no bound.
struct SharedMemory {
  std::uint64_t bytes = 0;
  bool is_bound = true;
  std::set<ino_t> files;  // each counted once
};

void add_mappings(const std::string& pid, SharedMemory& shared) {
  std::ifstream file("/proc/" + pid + "/smaps_rollup");
  std::string line;
  unsigned long long kilobytes = 0;
  while (std::getline(file, line))
    if (std::sscanf(line.c_str(), "Pss_Shmem: %llu kB", &kilobytes) == 1) shared.bytes += kilobytes << 10;
}

void add_memory_files(int proc, const std::string& pid, SharedMemory& shared) {
  const UniqueFd directory(openat(proc, (pid + "/fd").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) {
    shared.is_bound = shared.is_bound && errno != EACCES && errno != EPERM;
    return;
  }
  const Stream list(fdopendir(dup(directory.get())));
  if (!list) return;
  while (const dirent* entry = readdir(list.get())) {
    std::array<char, 64> target{};
    const ssize_t length = readlinkat(directory.get(), entry->d_name, target.data(), target.size());
    if (length < 0 && errno == EACCES) shared.is_bound = false;
    struct stat info {};
    if (length <= 0 || !std::string_view(target.data(), static_cast<std::size_t>(length)).starts_with("/memfd:") ||
        fstatat(directory.get(), entry->d_name, &info, 0) != 0)
      continue;
    if (shared.files.insert(info.st_ino).second) shared.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
}

/// `key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap`, of this IPC namespace.
std::uint64_t segment_bytes() {
  std::ifstream file("/proc/sysvipc/shm");
  std::uint64_t total = 0;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string skipped;
    for (int i = 0; i < 14; ++i) fields >> skipped;
    std::uint64_t resident = 0;
    if (fields >> resident) total += resident;
  }
  return total;
}

std::uint64_t shared_bytes(std::uint64_t growth) {
  SharedMemory shared;
  for_each_process([&](int proc, const std::string& pid) {
    if (pid == "1") return;
    add_mappings(pid, shared);
    add_memory_files(proc, pid, shared);
  });
  if (!shared.is_bound) return growth;
  return std::min(growth, shared.bytes + segment_bytes());
}

}  // namespace

void begin_watching() {
  shared_at_start = machine_shared_bytes();
}

std::string exceeded_limit(const GuestLimits& limits) {
  const Usage usage = usage_of_tree();
  // One thread is the runner's own.
  if (limits.pids != 0 && usage.threads > limits.pids + 1) return "pids";
  if (limits.tree_rss_bytes == 0) return {};
  if (usage.private_bytes > limits.tree_rss_bytes) return "memory";
  const std::uint64_t now = machine_shared_bytes(), growth = now > shared_at_start ? now - shared_at_start : 0;
  if (usage.private_bytes + growth <= limits.tree_rss_bytes) return {};
  return usage.private_bytes + shared_bytes(growth) > limits.tree_rss_bytes ? "memory" : "";
}

}  // namespace escrow::sandbox
