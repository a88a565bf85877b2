#include "sandbox/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace escrow::sandbox {
namespace {

struct StreamCloser {
  void operator()(DIR* stream) const { closedir(stream); }
};

unsigned char resolved_type(int directory, const dirent& entry) {
  struct stat info {};
  if (entry.d_type != DT_UNKNOWN || fstatat(directory, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
    return entry.d_type;
  return static_cast<unsigned char>(IFTODT(info.st_mode));
}

}  // namespace

std::vector<DirectoryEntry> list_directory(int directory) {
  // A new description, so that the caller's offset stays where it is.
  const int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return {};
  const std::unique_ptr<DIR, StreamCloser> stream(fdopendir(own));
  if (!stream) {
    close(own);
    return {};
  }
  std::vector<DirectoryEntry> entries;
  while (const dirent* entry = readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..")
      entries.push_back({std::string(name), entry->d_ino, resolved_type(directory, *entry)});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

UniqueFd open_below(int directory, const std::string& name) {
  if (directory < 0) return {};
  return UniqueFd(openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

void copy_attributes(int to, const struct stat& from) {
  (void)!fchown(to, from.st_uid, from.st_gid);
  fchmod(to, from.st_mode & 07777);
  const std::array<timespec, 2> times{from.st_atim, from.st_mtim};
  futimens(to, times.data());
}

}  // namespace escrow::sandbox
