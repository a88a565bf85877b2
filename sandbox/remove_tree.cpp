#include "sandbox/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "sandbox/directory.h"
#include "sandbox/packet.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

UniqueFd open_for_removal(int parent, const std::string& name) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd fd(openat(parent, name.c_str(), flags));
  if (fd || errno != EACCES) return fd;
  fchmodat(parent, name.c_str(), 0700, 0);
  return UniqueFd(openat(parent, name.c_str(), flags));
}

}  // namespace

Result<void> remove_tree(int parent, const std::string& name) {
  if (unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return io_error("removing " + name);
  const UniqueFd directory = open_for_removal(parent, name);
  if (!directory) return io_error("removing " + name);
  fchmod(directory.get(), 0700);
  for (const DirectoryEntry& entry : list_directory(directory.get()))
    if (Result<void> removed = remove_tree(directory.get(), entry.name); !removed) return removed;
  if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0) return io_error("removing " + name);
  return {};
}

}  // namespace escrow::sandbox
