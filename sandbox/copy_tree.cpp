#include "sandbox/copy_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>

#include "sandbox/directory.h"
#include "sandbox/packet.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

class Copier {
 public:
  explicit Copier(const CopyPlan& plan) : plan_(plan) {}

  Result<void> directory(int from, int to, int mask, const std::string& path) {
    for (const DirectoryEntry& entry : list_directory(from)) {
      const std::string whole = path.empty() ? entry.name : path + "/" + entry.name;
      if (++entries_ > plan_.limit_entries) return Error{ErrorKind::limit_exceeded, "too many files in the workspace"};
      if (Result<void> copied = one(from, to, mask, entry, whole); !copied) return copied;
    }
    if (mask >= 0)
      if (Result<void> added = unsaved_only(from, to, mask, path); !added) return added;
    struct stat info {};
    if (fstat(from, &info) == 0) copy_attributes(to, info);
    return {};
  }

 private:
  Result<void> one(int from, int to, int mask, const DirectoryEntry& entry, const std::string& whole) {
    struct stat layer {};
    const bool in_mask = mask >= 0 && fstatat(mask, entry.name.c_str(), &layer, AT_SYMLINK_NOFOLLOW) == 0;
    if (in_mask && S_ISCHR(layer.st_mode)) return {};
    switch (entry.type) {
      case DT_DIR:
        return subdirectory(from, to, mask, entry.name, whole);
      case DT_REG:
        return file(in_mask && S_ISREG(layer.st_mode) ? mask : from, to, entry.name, whole);
      case DT_LNK:
        return link(from, to, entry.name, whole);
      default:
        return {};
    }
  }

  Result<void> subdirectory(int from, int to, int mask, const std::string& name, const std::string& whole) {
    const UniqueFd below = open_below(from, name);
    if (!below) return errno == EACCES ? Result<void>() : io_error("copying " + whole);
    if (mkdirat(to, name.c_str(), 0700) != 0 && errno != EEXIST) return io_error("copying " + whole);
    const UniqueFd target = open_below(to, name), mask_below = open_below(mask, name);
    if (!target) return io_error("copying " + whole);
    return directory(below.get(), target.get(), mask_below.get(), whole);
  }

  /// New documents that were never saved exist in the mask layer only.
  Result<void> unsaved_only(int from, int to, int mask, const std::string& path) {
    for (const DirectoryEntry& entry : list_directory(mask)) {
      const std::string whole = path.empty() ? entry.name : path + "/" + entry.name;
      struct stat info {};
      if (fstatat(from, entry.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 || entry.type == DT_CHR) continue;
      const int none = -1;
      Result<void> copied =
          entry.type == DT_DIR ? subdirectory(mask, to, none, entry.name, whole) : file(mask, to, entry.name, whole);
      if (!copied) return copied;
    }
    return {};
  }

  Result<void> file(int from, int to, const std::string& name, const std::string& whole) {
    const UniqueFd source(openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!source) return errno == EACCES ? Result<void>() : io_error("copying " + whole);
    struct stat info {};
    if (fstat(source.get(), &info) != 0 || !S_ISREG(info.st_mode)) return io_error("copying " + whole);
    bytes_ += static_cast<std::uint64_t>(info.st_blocks) * 512;
    if (bytes_ > plan_.limit_bytes)
      return Error{ErrorKind::limit_exceeded,
                   "the workspace is larger than " + std::to_string(plan_.limit_bytes >> 20) + " MiB"};
    const UniqueFd target(openat(to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!target || !copy_bytes(source.get(), target.get(), info.st_size)) return io_error("copying " + whole);
    copy_attributes(target.get(), info);
    return {};
  }

  static bool copy_bytes(int from, int to, off_t size) {
    if (ioctl(to, FICLONE, from) == 0) return true;
    off_t at = 0;
    while (at < size) {
      const ssize_t sent = sendfile(to, from, &at, static_cast<std::size_t>(size - at));
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return false;
      if (sent == 0) break;  // it shrank while we read
    }
    return true;
  }

  static Result<void> link(int from, int to, const std::string& name, const std::string& whole) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = readlinkat(from, name.c_str(), target.data(), target.size() - 1);
    if (length < 0 || symlinkat(target.data(), to, name.c_str()) != 0) return io_error("copying " + whole);
    struct stat info {};
    if (fstatat(from, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
      (void)!fchownat(to, name.c_str(), info.st_uid, info.st_gid, AT_SYMLINK_NOFOLLOW);
    return {};
  }

  const CopyPlan& plan_;
  std::uint64_t bytes_ = 0, entries_ = 0;
};

}  // namespace

Result<void> copy_tree(int from, int to, const CopyPlan& plan) {
  return Copier(plan).directory(from, to, plan.mask, "");
}

}  // namespace escrow::sandbox
