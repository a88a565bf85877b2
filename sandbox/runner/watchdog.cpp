#include "sandbox/runner/watchdog.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>

#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

struct StreamCloser {
  void operator()(DIR* stream) const { closedir(stream); }
};

std::uint64_t private_pages(int proc, const char* pid) {
  std::array<char, 128> text{};
  const UniqueFd fd(openat(proc, (std::string(pid) + "/statm").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || read(fd.get(), text.data(), text.size() - 1) <= 0) return 0;
  unsigned long long size = 0, resident = 0, shared = 0;
  if (std::sscanf(text.data(), "%llu %llu %llu", &size, &resident, &shared) != 3) return 0;
  return resident > shared ? resident - shared : 0;
}

}  // namespace

TreeUsage tree_usage() {
  TreeUsage usage;
  const std::unique_ptr<DIR, StreamCloser> proc(opendir("/proc"));
  if (!proc) return usage;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  while (const dirent* entry = readdir(proc.get())) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    ++usage.processes;
    usage.private_bytes += private_pages(dirfd(proc.get()), entry->d_name) * page;
  }
  return usage;
}

std::string exceeded_limit(const TreeUsage& usage, const GuestLimits& limits) {
  if (limits.tree_rss_bytes != 0 && usage.private_bytes > limits.tree_rss_bytes) return "memory";
  // One process is the runner's own.
  if (limits.pids != 0 && usage.processes > limits.pids + 1) return "pids";
  return {};
}

}  // namespace escrow::sandbox
