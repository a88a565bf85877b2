#include "sandbox/tree_changes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <set>
#include <string_view>

#include "sandbox/directory.h"
#include "sandbox/unique_fd.h"

// An overlay's upper directory (Documentation/filesystems/overlayfs.rst) holds, for each path: nothing, if it is
// untouched; a character device 0:0 (a whiteout), if it is gone; a directory, if something below it differs, or if it
// is new; a directory marked opaque, if it was replaced, so that nothing of the old one shows through; else the whole
// new file, also where only its mode or time was changed. So each entry is compared with what the guest saw at start
// (the mask over the workspace), and only a difference in kind, permission bits or content counts.
//
// A copy is read in the same way: it is one layer in which everything is present, hence every directory is opaque.

namespace escrow::sandbox {
namespace {

constexpr const char* kNoteMasked = "hidden from commands: what is written there is not applied";
constexpr const char* kNoteGit = "state of git itself: not applied";
constexpr const char* kNoteSpecial = "neither a file, a directory nor a link: not applied";
constexpr const char* kNoteLinks = "has several names (hard links): not applied";
constexpr const char* kNoteStale = "changed on disk since: not applied";
constexpr std::size_t kMaxArtefacts = 100;
constexpr const char* kNoteUnread = "the file on disk cannot be read: not applied";
constexpr const char* kNoteLarge = "too large to review: not applied";

enum class Kind { overlay, copy };

UniqueFd open_directory(int parent, const std::string& name) {
  if (parent < 0) return {};
  return UniqueFd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// The same in the upper layer, which is ours: a mode that closes it is lifted for the moment of opening.
UniqueFd open_upper(int parent, const std::string& name, const struct stat& info, int flags) {
  flags |= O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  UniqueFd fd(openat(parent, name.c_str(), O_RDONLY | flags));
  if (fd || errno != EACCES) return fd;
  if (fchmodat(parent, name.c_str(), 0700, 0) != 0) return fd;
  fd.reset(openat(parent, name.c_str(), O_RDONLY | flags));
  // A directory stays open to us while what is below it is read.
  if (!S_ISDIR(info.st_mode)) fchmodat(parent, name.c_str(), info.st_mode & 07777, 0);
  return fd;
}

bool is_whiteout(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0);
}

bool is_opaque(int directory) {
  char value = 0;
  return fgetxattr(directory, "user.overlay.opaque", &value, 1) == 1 && value == 'y';
}

EntryKind kind_of(const struct stat& info) {
  if (S_ISREG(info.st_mode)) return EntryKind::file;
  if (S_ISLNK(info.st_mode)) return EntryKind::symlink;
  if (S_ISDIR(info.st_mode)) return EntryKind::directory;
  return EntryKind::other;
}

bool is_later(const timespec& time, const timespec& than) {
  return time.tv_sec != than.tv_sec ? time.tv_sec > than.tv_sec : time.tv_nsec > than.tv_nsec;
}

bool is_git_path(std::string_view path) {
  return path == ".git" || path.starts_with(".git/") || path.find("/.git/") != std::string_view::npos ||
         path.ends_with("/.git");
}

std::string read_link(int directory, const std::string& name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = readlinkat(directory, name.c_str(), target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : std::string();
}

std::optional<std::string> read_file(int fd, std::uint64_t size) {
  std::string bytes(size, '\0');
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t got = pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    at += static_cast<std::size_t>(got);
  }
  bytes.resize(at);
  return bytes;
}

/// For files too large to hold. An unreadable one differs.
bool same_bytes(int one, int other) {
  constexpr std::size_t chunk = 1u << 20;
  std::string a(chunk, '\0'), b(chunk, '\0');
  for (off_t at = 0;; at += static_cast<off_t>(chunk)) {
    const ssize_t got_a = pread(one, a.data(), chunk, at), got_b = pread(other, b.data(), chunk, at);
    if (got_a < 0 || got_a != got_b) return false;
    if (std::string_view(a.data(), static_cast<std::size_t>(got_a)) !=
        std::string_view(b.data(), static_cast<std::size_t>(got_b)))
      return false;
    if (static_cast<std::size_t>(got_a) < chunk) return true;
  }
}

/// A directory as the guest saw it at start: the mask's over the workspace's. Either may be missing.
struct BeforeDirectory {
  UniqueFd mask, lower;
  bool hidden = false;  ///< itself, or one above it, is masked
};

/// One name in it.
struct BeforeEntry {
  EntryKind kind = EntryKind::absent;
  struct stat info {};
  int directory = -1;  ///< where it lies; not owned
  bool masked = false;
  bool unsaved = false;
};

BeforeEntry look_up(const BeforeDirectory& in, const std::string& name) {
  BeforeEntry entry;
  entry.masked = in.hidden;
  struct stat info {};
  if (in.mask.get() >= 0 && fstatat(in.mask.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    if (is_whiteout(info)) {
      entry.masked = true;
      return entry;
    }
    if (!S_ISDIR(info.st_mode)) return {kind_of(info), info, in.mask.get(), false, true};
  }
  if (in.lower.get() >= 0 && fstatat(in.lower.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
    return {kind_of(info), info, in.lower.get(), entry.masked, false};
  if (in.mask.get() >= 0 && fstatat(in.mask.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
    return {kind_of(info), info, in.mask.get(), entry.masked, false};  // made only to hold an unsaved file
  return entry;
}

BeforeDirectory enter(const BeforeDirectory& in, const std::string& name) {
  const BeforeEntry entry = look_up(in, name);
  return {open_directory(in.mask.get(), name), entry.masked ? UniqueFd() : open_directory(in.lower.get(), name),
          entry.masked};
}

std::set<std::string> names_in(const BeforeDirectory& directory) {
  std::set<std::string> names;
  for (int fd : {directory.mask.get(), directory.lower.get()}) {
    if (fd < 0) continue;
    for (const DirectoryEntry& entry : list_directory(fd)) names.insert(entry.name);
  }
  return names;
}

/// When the entry of the upper layer came to be; nothing where the file system does not say.
std::optional<timespec> birth_of(int directory, const std::string& name) {
  struct statx info {};
  if (statx(directory, name.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &info) != 0 || !(info.stx_mask & STATX_BTIME))
    return std::nullopt;
  return timespec{.tv_sec = info.stx_btime.tv_sec, .tv_nsec = info.stx_btime.tv_nsec};
}

class Reader {
 public:
  Reader(const TreeLayers& layers, const ChangeCaps& caps, Kind kind) : layers_(layers), caps_(caps), kind_(kind) {
    if (!layers.starts.empty()) start_ = layers.starts.front();
  }

  TreeChanges run() {
    const BeforeDirectory root{UniqueFd(layers_.mask < 0 ? -1 : dup(layers_.mask)), UniqueFd(dup(layers_.lower))};
    const UniqueFd upper(dup(layers_.upper));
    if (!root.lower || !upper) result_.complete = false;
    if (result_.complete) directory(upper.get(), root, "", 0, kind_ == Kind::copy);
    std::sort(result_.changes.begin(), result_.changes.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    return std::move(result_);
  }

 private:
  /// `replaced`: what is not in the upper directory is gone.
  void directory(int upper, const BeforeDirectory& before, const std::string& prefix, std::size_t depth,
                 bool replaced) {
    if (depth > caps_.depth) result_.complete = false;
    if (!result_.complete) return;
    std::set<std::string> seen;
    const timespec own_start = start_;
    for (const DirectoryEntry& item : list_directory(upper)) {
      entry(upper, before, prefix, item.name, depth);
      if (replaced) seen.insert(item.name);
    }
    if (!replaced) return;
    start_ = own_start;
    for (const std::string& name : names_in(before))
      if (!seen.contains(name)) deleted(before, name, prefix + name, depth);
  }

  void entry(int upper, const BeforeDirectory& before, const std::string& prefix, const std::string& name,
             std::size_t depth) {
    struct stat info {};
    if (!result_.complete || fstatat(upper, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    const std::string path = prefix + name;
    note_start(upper, name);
    if (is_whiteout(info)) return deleted(before, name, path, depth);
    if (is_artefact(path, S_ISDIR(info.st_mode))) return;
    const BeforeEntry was = look_up(before, name);
    if (S_ISDIR(info.st_mode)) return subdirectory(upper, info, before, was, name, path, depth);
    if (was.kind == EntryKind::directory) children_deleted(before, name, path, depth);
    compare(upper, info, was, name, path);
  }

  bool is_artefact(const std::string& path, bool directory) {
    if (!layers_.is_artefact || !layers_.is_artefact(path, directory)) return false;
    // A copy holds everything, written or not.
    if (kind_ == Kind::overlay && result_.artefacts.size() < kMaxArtefacts)
      result_.artefacts.push_back(path + (directory ? "/" : ""));
    return true;
  }

  /// Which command wrote this: the last one that had begun when it came to be.
  void note_start(int upper, const std::string& name) {
    if (layers_.starts.empty()) return;
    start_ = layers_.starts.front();
    if (!layers_.kept) return;
    const std::optional<timespec> born = birth_of(upper, name);
    // Where nobody says when it was written, it may have been at any time.
    if (!born || is_later(start_, *born)) start_ = born.value_or(timespec{});
    if (!born) return;
    for (const timespec& start : layers_.starts)
      if (!is_later(start, *born)) start_ = start;
  }

  void subdirectory(int upper, const struct stat& info, const BeforeDirectory& before, const BeforeEntry& was,
                    const std::string& name, const std::string& path, std::size_t depth) {
    const UniqueFd below = open_upper(upper, name, info, O_DIRECTORY);
    if (!below) {
      result_.complete = false;
      return;
    }
    const bool was_directory = was.kind == EntryKind::directory;
    if (was.kind != EntryKind::absent && !was_directory) record(change_of(path, was, name));
    const BeforeDirectory inner = was_directory || was.masked ? enter(before, name) : BeforeDirectory{};
    directory(below.get(), inner, path + "/", depth + 1,
              was_directory && (kind_ == Kind::copy || is_opaque(below.get())));
  }

  void deleted(const BeforeDirectory& before, const std::string& name, const std::string& path, std::size_t depth) {
    const BeforeEntry was = look_up(before, name);
    if (was.kind == EntryKind::absent || was.masked || !result_.complete) return;
    if (is_artefact(path, was.kind == EntryKind::directory)) return;
    // Left out of a copy from the beginning.
    if (kind_ == Kind::copy && was.kind == EntryKind::other) return;
    if (was.kind == EntryKind::directory) return children_deleted(before, name, path, depth);
    record(change_of(path, was, name));
  }

  void children_deleted(const BeforeDirectory& before, const std::string& name, const std::string& path,
                        std::size_t depth) {
    if (depth > caps_.depth) result_.complete = false;
    if (!result_.complete) return;
    const BeforeDirectory inner = enter(before, name);
    for (const std::string& child : names_in(inner)) deleted(inner, child, path + "/" + child, depth + 1);
  }

  /// A file, link or something else, against what was there.
  void compare(int upper, const struct stat& info, const BeforeEntry& was, const std::string& name,
               const std::string& path) {
    TreeChange change = change_of(path, was, name);
    const UniqueFd fd = S_ISREG(info.st_mode) ? open_upper(upper, name, info, 0) : UniqueFd();
    if (S_ISREG(info.st_mode) && !fd) {
      result_.complete = false;
      return;
    }
    change.after = side(kind_of(info), info, upper, name, fd.get());
    if (change.before == change.after && !differs_beyond_cap(was, info, name, fd.get())) return;
    if (change.note.empty()) change.note = note_of_after(change, info);
    record(std::move(change));
  }

  /// With its old side and what forbids applying it; the new side is absent.
  TreeChange change_of(const std::string& path, const BeforeEntry& was, const std::string& name) {
    TreeChange change;
    change.path = path;
    change.before = before_side(was, name);
    change.note = note_of(path, was);
    return change;
  }

  /// Two files of which no content was kept look alike.
  static bool differs_beyond_cap(const BeforeEntry& was, const struct stat& info, const std::string& name, int fd) {
    if (was.kind != EntryKind::file || fd < 0) return false;
    if (was.info.st_size != info.st_size) return true;
    const UniqueFd old(openat(was.directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    return !same_bytes(old.get(), fd);
  }

  TreeEntry before_side(const BeforeEntry& was, const std::string& name) {
    if (was.kind == EntryKind::absent) return TreeEntry();
    UniqueFd fd;
    if (was.kind == EntryKind::file)
      fd.reset(openat(was.directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    unreadable_ = was.kind == EntryKind::file && !fd;
    return side(was.kind, was.info, was.directory, name, fd.get());
  }

  TreeEntry side(EntryKind kind, const struct stat& info, int directory, const std::string& name, int fd) {
    TreeEntry entry;
    entry.kind = kind;
    if (kind == EntryKind::symlink) entry.content = read_link(directory, name);
    if (kind != EntryKind::file) return entry;
    entry.mode = info.st_mode & 07777;
    const auto size = static_cast<std::uint64_t>(info.st_size);
    entry.too_large = size > caps_.file_bytes;
    if (entry.too_large || fd < 0) return entry;
    entry.content = read_file(fd, size).value_or(std::string());
    return entry;
  }

  std::string note_of(const std::string& path, const BeforeEntry& was) const {
    if (was.masked) return kNoteMasked;
    if (is_git_path(path)) return kNoteGit;
    if (was.kind == EntryKind::absent) return {};
    if (was.kind == EntryKind::other) return kNoteSpecial;
    if (unreadable_ && was.kind == EntryKind::file) return kNoteUnread;
    if (was.unsaved && layers_.moved_texts.contains(path) && is_later(layers_.starts.back(), start_)) return kNoteStale;
    if (!was.unsaved && was.kind != EntryKind::directory && is_later(was.info.st_ctim, start_)) return kNoteStale;
    if (was.kind == EntryKind::file && static_cast<std::uint64_t>(was.info.st_size) > caps_.file_bytes)
      return kNoteLarge;
    return {};
  }

  static std::string note_of_after(const TreeChange& change, const struct stat& info) {
    if (change.after.kind == EntryKind::other) return kNoteSpecial;
    if (change.after.too_large) return kNoteLarge;
    if (change.after.kind == EntryKind::file && info.st_nlink > 1) return kNoteLinks;
    return {};
  }

  void record(TreeChange change) {
    bytes_ += change.before.content.size() + change.after.content.size();
    if (bytes_ > caps_.total_bytes || result_.changes.size() >= caps_.changes) {
      result_.complete = false;
      return;
    }
    result_.changes.push_back(std::move(change));
  }

  const TreeLayers& layers_;
  const ChangeCaps& caps_;
  const Kind kind_;
  TreeChanges result_;
  std::uint64_t bytes_ = 0;
  timespec start_{};  ///< of the command that wrote the entry at hand
  bool unreadable_ = false;
};

}  // namespace

TreeChanges read_overlay_changes(const TreeLayers& layers, const ChangeCaps& caps) {
  return Reader(layers, caps, Kind::overlay).run();
}

TreeChanges read_copy_changes(const TreeLayers& layers, const ChangeCaps& caps) {
  return Reader(layers, caps, Kind::copy).run();
}

}  // namespace escrow::sandbox
