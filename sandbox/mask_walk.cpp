#include "sandbox/mask_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "sandbox/directory.h"
#include "sandbox/path_pattern.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

constexpr std::size_t kMaxSearchDepth = 256;

bool text_is_secret(int directory, const std::string& name) {
  const UniqueFd fd(openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::array<char, 16384> text{};
  const ssize_t got = fd ? pread(fd.get(), text.data(), text.size(), 0) : -1;
  // What we can't read, the guest (the same user) can't read either, unless root runs a guest of another name.
  if (got < 0) return true;
  return holds_secret({text.data(), static_cast<std::size_t>(got)});
}

/// Is there a path in the set that is a directory above `path`?
bool lies_below_one(const std::set<std::string>& paths, const std::string& path) {
  for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1))
    if (paths.contains(path.substr(0, end))) return true;
  return false;
}

/// Without those that lie below another one: a hidden directory hides what is in it.
std::vector<std::string> topmost(const std::set<std::string>& paths) {
  std::vector<std::string> top;
  for (const std::string& path : paths)
    if (!lies_below_one(paths, path)) top.push_back(path);
  return top;
}

bool is_searched(const std::string& name) {
  return name != ".git" && name != "node_modules";
}

/// The open directory of `path`, a level at a time and through no link; the root itself for an empty one.
UniqueFd open_directory_below(int root, const std::string& path) {
  UniqueFd at(openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t start = 0; start < path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string name = path.substr(start, end - start);
    if (!name.empty()) at = open_below(at.get(), name);
    start = end + 1;
  }
  return at;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace

MaskWalk::MaskWalk(MaskRequest request, OnDirectory on_directory)
    : request_(std::move(request)),
      on_directory_(std::move(on_directory)),
      visible_(request_.never_masked.begin(), request_.never_masked.end()) {}

void MaskWalk::whole(int workspace) {
  found_.clear();
  inodes_.clear();
  for (const std::string& path : request_.foreign_secrets) remember_links(AT_FDCWD, path);
  visit(workspace, "", 0, false);
  if (!inodes_.empty()) visit_links(workspace, "", 0);
}

void MaskWalk::subtree(int workspace, const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const UniqueFd above = open_directory_below(workspace, parent_of(path));
  const UniqueFd below = above ? open_below(above.get(), name) : UniqueFd();
  if (!below) return;
  const bool masked = lies_below_one(found_, path) || is_masked(above.get(), name, DT_DIR, path);
  if (masked && !holds_visible(path)) {
    if (!visible_.contains(path)) found_.insert(path);
  } else if (is_searched(name)) {
    visit(below.get(), path + "/", 1, masked);
  }
}

void MaskWalk::file(int workspace, const std::string& path) {
  found_.erase(path);
  const std::string name = path.substr(path.rfind('/') + 1);
  const UniqueFd above = open_directory_below(workspace, parent_of(path));
  struct stat info {};
  if (!above || fstatat(above.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  const unsigned char type = S_ISREG(info.st_mode) ? DT_REG : DT_LNK;
  if (!is_masked(above.get(), name, type, path)) return;
  found_.insert(path);
  remember_links(above.get(), name);
}

std::vector<std::string> MaskWalk::masked() const {
  return topmost(found_);
}

bool MaskWalk::concerns(const std::string& path) const {
  return found_.contains(path) || named(path) || secrecy_of(path) != Secrecy::open;
}

void MaskWalk::visit(int directory, const std::string& prefix, std::size_t depth, bool hidden_above) {
  if (depth > kMaxSearchDepth) return;
  if (on_directory_) on_directory_(directory, prefix);
  for (const DirectoryEntry& entry : list_directory(directory)) {
    const std::string path = prefix + entry.name;
    const bool masked = hidden_above || is_masked(directory, entry.name, entry.type, path);
    if (masked && !holds_visible(path)) {
      if (!visible_.contains(path)) found_.insert(path);
      if (entry.type == DT_REG) remember_links(directory, entry.name);
    } else if (entry.type == DT_DIR && is_searched(entry.name)) {
      if (const UniqueFd below = open_below(directory, entry.name)) visit(below.get(), path + "/", depth + 1, masked);
    }
  }
}

/// A directory with a tracked file in it is not hidden whole, only what else is in it.
bool MaskWalk::holds_visible(const std::string& path) const {
  const auto next = visible_.lower_bound(path + "/");
  return next != visible_.end() && next->starts_with(path + "/");
}

/// The same file under another name is the same secret.
void MaskWalk::visit_links(int directory, const std::string& prefix, std::size_t depth) {
  if (depth > kMaxSearchDepth) return;
  struct stat here {};
  if (fstat(directory, &here) != 0) return;
  for (const DirectoryEntry& entry : list_directory(directory)) {
    const std::string path = prefix + entry.name;
    if (inodes_.contains({here.st_dev, entry.inode}) && !visible_.contains(path)) found_.insert(path);
    if (entry.type != DT_DIR) continue;
    if (const UniqueFd below = open_below(directory, entry.name)) visit_links(below.get(), path + "/", depth + 1);
  }
}

bool MaskWalk::named(const std::string& path) const {
  return std::any_of(request_.globs.begin(), request_.globs.end(),
                     [&](const std::string& glob) { return matches_glob(glob, path); });
}

bool MaskWalk::is_masked(int directory, const std::string& name, unsigned char type, const std::string& path) const {
  if (visible_.contains(path)) return false;
  if (named(path)) return true;
  const Secrecy secrecy = secrecy_of(path);
  if (secrecy != Secrecy::look_inside) return secrecy == Secrecy::masked;
  return type == DT_REG && text_is_secret(directory, name);
}

void MaskWalk::remember_links(int directory, const std::string& name) {
  struct stat info {};
  if (fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) && info.st_nlink > 1)
    inodes_.insert({info.st_dev, info.st_ino});
}

std::vector<std::string> find_masked(int workspace, const MaskRequest& request) {
  MaskWalk walk(request);
  walk.whole(workspace);
  return walk.masked();
}

std::vector<std::string> masked_by_name(const std::vector<std::string>& tracked,
                                        const std::vector<std::string>& globs) {
  const auto hides = [&](const std::string& path) {
    return secrecy_of(path) != Secrecy::open ||
           std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return matches_glob(glob, path); });
  };
  std::vector<std::string> hidden;
  std::string last_directory;
  bool last_hides = false;
  for (const std::string& path : tracked) {
    const std::string directory = parent_of(path);
    if (directory != last_directory) {
      last_directory = directory;
      last_hides = false;
      for (std::string above = directory; !above.empty() && !last_hides; above = parent_of(above))
        last_hides = hides(above);
    }
    if (last_hides || hides(path)) hidden.push_back(path);
  }
  return hidden;
}

}  // namespace escrow::sandbox
