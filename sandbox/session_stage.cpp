#include "sandbox/session_stage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <set>

#include "sandbox/directory.h"
#include "sandbox/packet.h"
#include "sandbox/remove_tree.h"

namespace escrow::sandbox {
namespace {

constexpr const char* kSessions = "/sessions";

Result<UniqueFd> open_sessions(const std::string& state_dir) {
  const std::string sessions = state_dir + kSessions;
  if (mkdir(state_dir.c_str(), 0700) != 0 && errno != EEXIST) return io_error("making " + state_dir);
  if (mkdir(sessions.c_str(), 0700) != 0 && errno != EEXIST) return io_error("making " + sessions);
  UniqueFd fd(open(sessions.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0) return io_error("opening " + sessions);
  if (info.st_uid != geteuid() || (info.st_mode & 022) != 0)
    return Error{ErrorKind::unavailable, sessions + ": belongs to somebody else or is writable by others; remove it"};
  return fd;
}

UniqueFd take_session_lock(int sessions, const std::string& id) {
  const std::string name = id + ".lock";
  UniqueFd fd(openat(sessions, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd || flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
  struct stat held {
  }, named{};
  // Whoever removed it in between removed the name with it.
  const bool same = fstat(fd.get(), &held) == 0 && fstatat(sessions, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                    held.st_ino == named.st_ino;
  return same ? std::move(fd) : UniqueFd();
}

void remove_held(int sessions, const std::string& id) {
  if (remove_tree(sessions, id)) unlinkat(sessions, (id + ".lock").c_str(), 0);
}

bool is_old(int sessions, const std::string& id, std::chrono::hours unused) {
  struct stat info {};
  if (fstatat(sessions, (id + ".lock").c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return true;
  return std::time(nullptr) - info.st_mtim.tv_sec > std::chrono::seconds(unused).count();
}

// ---- Taking paths out

bool is_whiteout_in(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0);
}

bool is_opaque_directory(int directory) {
  char value = 0;
  return fgetxattr(directory, "user.overlay.opaque", &value, 1) == 1 && value == 'y';
}

bool holds(int fd, const std::string& content) {
  std::string chunk(65536, '\0');
  for (std::size_t at = 0;;) {
    const ssize_t got = pread(fd, chunk.data(), chunk.size(), static_cast<off_t>(at));
    if (got < 0) return false;
    if (got == 0) return at == content.size();
    const auto size = static_cast<std::size_t>(got);
    if (content.compare(at, size, chunk, 0, size) != 0) return false;
    at += size;
  }
}

bool holds_link(int directory, const std::string& name, const std::string& content) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = readlinkat(directory, name.c_str(), target.data(), target.size());
  return length >= 0 && content == std::string_view(target.data(), static_cast<std::size_t>(length));
}

bool is_as_staged(int directory, const std::string& name, const struct stat& info, const TreeEntry& staged) {
  switch (staged.kind) {
    case EntryKind::absent:
      return is_whiteout_in(info);
    case EntryKind::symlink:
      return S_ISLNK(info.st_mode) && holds_link(directory, name, staged.content);
    case EntryKind::file: {
      if (!S_ISREG(info.st_mode) || (info.st_mode & 07777) != staged.mode) return false;
      const UniqueFd fd(openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      return fd && holds(fd.get(), staged.content);
    }
    default:
      return false;
  }
}

/// Nothing but directories in it, however deep.
bool is_hollow(int directory) {
  for (const DirectoryEntry& entry : list_directory(directory)) {
    const UniqueFd below = entry.type == DT_DIR ? open_below(directory, entry.name) : UniqueFd();
    if (!below || !is_hollow(below.get())) return false;
  }
  return true;
}

/// One path's way down the upper layer.
class WayDown {
 public:
  WayDown(int upper, const SettledPath& settled) : settled_(settled) { steps_.push_back({UniqueFd(dup(upper)), ""}); }

  void go() {
    const std::string& path = settled_.path;
    for (std::size_t start = 0;;) {
      const std::size_t end = path.find('/', start);
      const std::string name = path.substr(start, end - start);
      if (name.empty() || name == "." || name == ".." || !steps_.back().directory) return;
      if (end == std::string::npos) return take_out(name);
      // A whole directory that is gone is one whiteout, wherever on the way it stands.
      if (!descend(name)) return take_out_whiteout(name);
      start = end + 1;
    }
  }

  /// What was left empty goes as well, and a replaced directory of which nothing is left: it would hide the real one.
  void tidy() {
    for (std::size_t i = steps_.size(); i-- > 1;) {
      Step& step = steps_[i];
      const int above = steps_[i - 1].directory.get();
      if (is_opaque_directory(step.directory.get())) {
        if (is_hollow(step.directory.get())) (void)remove_tree(above, step.name);
      } else {
        (void)unlinkat(above, step.name.c_str(), AT_REMOVEDIR);
      }
    }
  }

 private:
  struct Step {
    UniqueFd directory;
    std::string name;
  };

  bool descend(const std::string& name) {
    UniqueFd below = open_below(steps_.back().directory.get(), name);
    if (!below) return false;
    steps_.push_back({std::move(below), name});
    return true;
  }

  void take_out(const std::string& name) {
    const int directory = steps_.back().directory.get();
    struct stat info {};
    if (fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(info.st_mode)) return;
    if (!settled_.staged || is_as_staged(directory, name, info, *settled_.staged)) unlinkat(directory, name.c_str(), 0);
  }

  void take_out_whiteout(const std::string& name) {
    struct stat info {};
    if (settled_.staged && settled_.staged->kind != EntryKind::absent) return;
    if (fstatat(steps_.back().directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && is_whiteout_in(info))
      take_out(name);
  }

  const SettledPath& settled_;
  std::vector<Step> steps_;
};

}  // namespace

bool is_session_id(std::string_view id) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), fits);
}

Result<SessionStage> open_session_stage(const std::string& state_dir, const std::string& id) {
  if (!is_session_id(id))
    return Error{ErrorKind::invalid_argument, "session \"" + id + "\": use 1 to 64 letters, digits, - or _"};
  Result<UniqueFd> sessions = open_sessions(state_dir);
  if (!sessions) return sessions.error();
  SessionStage stage;
  // The sandbox of the command before may need a moment to go.
  for (int attempt = 0; attempt < 500 && !stage.lock; ++attempt) {
    if (attempt > 0) usleep(20'000);
    stage.lock = take_session_lock(sessions->get(), id);
  }
  if (!stage.lock)
    return Error{ErrorKind::unavailable, "another command of this session is running: try again after it"};
  if (mkdirat(sessions->get(), id.c_str(), 0700) != 0 && errno != EEXIST) return io_error("making the stage of " + id);
  stage.directory = open_below(sessions->get(), id);
  if (!stage.directory) return io_error("opening the stage of " + id);
  const std::array<timespec, 2> now{timespec{0, UTIME_NOW}, timespec{0, UTIME_NOW}};
  futimens(stage.lock.get(), now.data());  // when it was last used
  return stage;
}

void remove_session_stage(const std::string& state_dir, const std::string& id) {
  if (!is_session_id(id)) return;
  if (Result<UniqueFd> sessions = open_sessions(state_dir)) remove_held(sessions->get(), id);
}

void sweep_session_stages(const std::string& state_dir, std::chrono::hours unused) {
  Result<UniqueFd> sessions = open_sessions(state_dir);
  if (!sessions) return;
  std::set<std::string> ids;
  for (const DirectoryEntry& entry : list_directory(sessions->get()))
    ids.insert(entry.name.substr(0, entry.name.find(".lock")));
  for (const std::string& id : ids) {
    if (!id.starts_with("live-") && !is_old(sessions->get(), id, unused)) continue;
    if (const UniqueFd lock = take_session_lock(sessions->get(), id)) remove_held(sessions->get(), id);
  }
}

void take_out_of_stage(int stage, const std::vector<SettledPath>& paths) {
  const UniqueFd upper = open_below(stage, "upper");
  if (!upper) return;
  for (const SettledPath& settled : paths) {
    WayDown way(upper.get(), settled);
    way.go();
    way.tidy();
  }
}

}  // namespace escrow::sandbox
