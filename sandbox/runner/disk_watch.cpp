#include "sandbox/runner/disk_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <memory>
#include <string_view>

#include "sandbox/directory.h"

namespace escrow::sandbox {
namespace {

constexpr std::size_t kMaxEntries = 300'000, kMaxDepth = 256;
/// So much is gone that it does not matter whether it can be found: a guest may hide what it maps.
constexpr std::uint64_t kBeyondDoubt = 4;

struct ListCloser {
  void operator()(DIR* stream) const { closedir(stream); }
};

bool is_newer(const timespec& time, const timespec& than) {
  return time.tv_sec != than.tv_sec ? time.tv_sec > than.tv_sec : time.tv_nsec >= than.tv_nsec;
}

}  // namespace

DiskWatch::DiskWatch(std::string workspace, std::uint64_t quota)
    : workspace_(std::move(workspace)),
      quota_(quota),
      root_(open(workspace_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      next_look_(quota) {
  clock_gettime(CLOCK_REALTIME_COARSE, &began_);
  free_at_start_ = free_bytes();
}

std::uint64_t DiskWatch::free_bytes() const {
  struct statvfs info {};
  return root_ && fstatvfs(root_.get(), &info) == 0 ? std::uint64_t{info.f_bfree} * info.f_frsize : 0;
}

void DiskWatch::add(const struct stat& info) {
  if (S_ISREG(info.st_mode) && (info.st_nlink < 2 || seen_.insert(info.st_ino).second))
    found_ += static_cast<std::uint64_t>(info.st_blocks) * 512;
}

bool DiskWatch::add_tree(int directory, std::size_t depth) {
  for (const DirectoryEntry& entry : list_directory(directory)) {
    if (++entries_ > kMaxEntries || depth > kMaxDepth) return false;
    if (found_ > quota_) return true;
    if (entry.type == DT_DIR) {
      const UniqueFd below = open_below(directory, entry.name);
      if (below && !add_tree(below.get(), depth + 1)) return false;
      continue;
    }
    struct stat info {};
    if (fstatat(directory, entry.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && is_newer(info.st_ctim, began_))
      add(info);
  }
  return true;
}

void DiskWatch::add_deleted() {
  const std::string prefix = workspace_ + "/";
  const std::unique_ptr<DIR, ListCloser> proc(opendir("/proc"));
  while (const dirent* process = proc ? readdir(proc.get()) : nullptr) {
    if (process->d_name[0] < '1' || process->d_name[0] > '9') continue;
    const std::string path = "/proc/" + std::string(process->d_name) + "/fd";
    const std::unique_ptr<DIR, ListCloser> list(opendir(path.c_str()));
    while (const dirent* entry = list ? readdir(list.get()) : nullptr) {
      std::array<char, PATH_MAX> target{};
      const ssize_t length = readlinkat(dirfd(list.get()), entry->d_name, target.data(), target.size());
      struct stat info {};
      if (length > 0 && std::string_view(target.data(), static_cast<std::size_t>(length)).starts_with(prefix) &&
          fstatat(dirfd(list.get()), entry->d_name, &info, 0) == 0 && info.st_nlink == 0 &&
          seen_.insert(info.st_ino).second)
        add(info);
    }
  }
}

bool DiskWatch::is_exceeded() {
  if (quota_ == 0 || !root_) return false;
  const std::uint64_t now = free_bytes(), gone = free_at_start_ > now ? free_at_start_ - now : 0;
  if (gone <= next_look_) return false;
  found_ = 0;
  entries_ = 0;
  seen_.clear();
  const bool whole = add_tree(root_.get(), 0);
  add_deleted();
  if (found_ > quota_ || gone / kBeyondDoubt > quota_ || (!whole && gone / 2 > quota_)) return true;
  // Somebody else's: not looked at again before the disk has shrunk noticeably more.
  next_look_ = gone + quota_ / 4;
  return false;
}

}  // namespace escrow::sandbox
