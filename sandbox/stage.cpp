#include "sandbox/stage.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "sandbox/directory.h"
#include "sandbox/packet.h"
#include "sandbox/remove_tree.h"

namespace escrow::sandbox {
namespace {

std::string random_id() {
  std::array<unsigned char, 12> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string id;
  for (unsigned char byte : bytes) {
    id += "0123456789abcdef"[byte >> 4];
    id += "0123456789abcdef"[byte & 15];
  }
  return id;
}

Result<UniqueFd> open_stages(const std::string& state_dir) {
  const std::string stages = state_dir + "/stages";
  if (mkdir(state_dir.c_str(), 0700) != 0 && errno != EEXIST) return io_error("making " + state_dir);
  if (mkdir(stages.c_str(), 0700) != 0 && errno != EEXIST) return io_error("making " + stages);
  UniqueFd fd(open(stages.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0) return io_error("opening " + stages);
  if (info.st_uid != geteuid() || (info.st_mode & 022) != 0)
    return Error{ErrorKind::unavailable, stages + ": belongs to somebody else or is writable by others; remove it"};
  return fd;
}

/// Takes the lock if nobody holds it, and only if the name still means the same file afterwards: a sweeper may have
/// removed it in between.
UniqueFd take_lock(int stages, const std::string& name) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    UniqueFd fd(openat(stages, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd || flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
    struct stat held {
    }, named{};
    if (fstat(fd.get(), &held) == 0 && fstatat(stages, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        held.st_ino == named.st_ino)
      return fd;
  }
  return {};
}

}  // namespace

Result<Stage> make_stage(const std::string& state_dir) {
  Result<UniqueFd> stages = open_stages(state_dir);
  if (!stages) return stages.error();
  const std::string id = random_id();
  Stage stage;
  stage.path = state_dir + "/stages/" + id;
  // The lock comes first: a sweeper that sees the directory must find it held.
  stage.lock = take_lock(stages->get(), id + ".lock");
  if (!stage.lock || mkdirat(stages->get(), id.c_str(), 0700) != 0) return io_error("making " + stage.path);
  stage.directory.reset(openat(stages->get(), id.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!stage.directory) return io_error("opening " + stage.path);
  return stage;
}

Result<void> remove_stage(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const UniqueFd parent(open(path.substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return io_error("opening " + path.substr(0, slash));
  const std::string id = path.substr(slash + 1);
  if (Result<void> removed = remove_tree(parent.get(), id); !removed) return removed;
  unlinkat(parent.get(), (id + ".lock").c_str(), 0);
  return {};
}

void sweep_stages(const std::string& state_dir) {
  Result<UniqueFd> stages = open_stages(state_dir);
  if (!stages) return;
  for (const DirectoryEntry& entry : list_directory(stages->get())) {
    const std::string id = entry.name.substr(0, entry.name.find(".lock"));
    const UniqueFd lock = take_lock(stages->get(), id + ".lock");
    if (lock) remove_stage(state_dir + "/stages/" + id);
  }
}

}  // namespace escrow::sandbox
