#include "sandbox/mask_layer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "sandbox/directory.h"
#include "sandbox/packet.h"
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

/// Is there a path in the set that is `path` or a directory above it?
bool is_covered(const std::set<std::string>& paths, const std::string& path) {
  for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1))
    if (paths.contains(path.substr(0, end))) return true;
  return paths.contains(path);
}

/// Without those that lie below another one: a hidden directory hides what is in it.
std::vector<std::string> topmost(const std::set<std::string>& paths) {
  std::vector<std::string> top;
  for (const std::string& path : paths) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos || !is_covered(paths, path.substr(0, slash))) top.push_back(path);
  }
  return top;
}

class Walk {
 public:
  explicit Walk(const MaskRequest& request)
      : request_(request), visible_(request.never_masked.begin(), request.never_masked.end()) {
    for (const std::string& path : request.foreign_secrets) remember_links(AT_FDCWD, path);
  }

  std::vector<std::string> run(int workspace) {
    visit(workspace, "", 0);
    if (!inodes_.empty()) visit_links(workspace, "", 0);
    return topmost(std::set<std::string>(found_.begin(), found_.end()));
  }

 private:
  void visit(int directory, const std::string& prefix, std::size_t depth, bool hidden_above = false) {
    if (depth > kMaxSearchDepth) return;
    for (const DirectoryEntry& entry : list_directory(directory)) {
      const std::string path = prefix + entry.name;
      const bool masked = hidden_above || is_masked(directory, entry, path);
      if (masked && !holds_visible(path)) {
        if (!visible_.contains(path)) found_.push_back(path);
        if (entry.type == DT_REG) remember_links(directory, entry.name);
      } else if (entry.type == DT_DIR && entry.name != ".git" && entry.name != "node_modules") {
        if (const UniqueFd below = open_below(directory, entry.name)) visit(below.get(), path + "/", depth + 1, masked);
      }
    }
  }

  /// A directory with a tracked file in it is not hidden whole, only what else is in it.
  bool holds_visible(const std::string& path) const {
    const auto next = visible_.lower_bound(path + "/");
    return next != visible_.end() && next->starts_with(path + "/");
  }

  /// The same file under another name is the same secret.
  void visit_links(int directory, const std::string& prefix, std::size_t depth) {
    if (depth > kMaxSearchDepth) return;
    struct stat here {};
    if (fstat(directory, &here) != 0) return;
    for (const DirectoryEntry& entry : list_directory(directory)) {
      const std::string path = prefix + entry.name;
      if (inodes_.contains({here.st_dev, entry.inode}) && !visible_.contains(path)) found_.push_back(path);
      if (entry.type != DT_DIR) continue;
      if (const UniqueFd below = open_below(directory, entry.name)) visit_links(below.get(), path + "/", depth + 1);
    }
  }

  bool is_masked(int directory, const DirectoryEntry& entry, const std::string& path) const {
    if (visible_.contains(path)) return false;
    const auto named = [&](const std::string& glob) { return matches_glob(glob, path); };
    if (std::any_of(request_.globs.begin(), request_.globs.end(), named)) return true;
    const Secrecy secrecy = secrecy_of(path);
    if (secrecy != Secrecy::look_inside) return secrecy == Secrecy::masked;
    return entry.type == DT_REG && text_is_secret(directory, entry.name);
  }

  void remember_links(int directory, const std::string& name) {
    struct stat info {};
    if (fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) && info.st_nlink > 1)
      inodes_.insert({info.st_dev, info.st_ino});
  }

  const MaskRequest& request_;
  std::set<std::string> visible_;
  std::vector<std::string> found_;
  std::set<std::pair<dev_t, ino_t>> inodes_;
};

/// Opens the directory above `path` in the layer, making what is missing. No descriptor if the workspace has something
/// else than a directory there.
UniqueFd make_parents(int layer, int workspace, const std::string& path) {
  UniqueFd at(dup(layer)), real(dup(workspace));
  for (std::size_t start = 0, slash; (slash = path.find('/', start)) != std::string::npos; start = slash + 1) {
    const std::string name = path.substr(start, slash - start);
    if (name.empty() || name == "." || name == "..") return {};
    UniqueFd next_real = real ? open_below(real.get(), name) : UniqueFd();
    if (mkdirat(at.get(), name.c_str(), 0755) != 0 && errno != EEXIST) return {};
    UniqueFd next = open_below(at.get(), name);
    if (!next) return {};
    at = std::move(next);
    real = std::move(next_real);
  }
  return at;
}

/// Last, since filling a directory changes its times.
void copy_directory_attributes(int layer, int workspace) {
  struct stat info {};
  if (fstat(workspace, &info) != 0) return;
  for (const DirectoryEntry& entry : list_directory(layer)) {
    if (entry.type != DT_DIR) continue;
    const UniqueFd below = open_below(layer, entry.name), real = open_below(workspace, entry.name);
    if (below && real) copy_directory_attributes(below.get(), real.get());
  }
  copy_attributes(layer, info);
}

Result<void> put_text(int layer, int workspace, const std::string& path, const std::string& text) {
  const UniqueFd parent = make_parents(layer, workspace, path);
  const std::string name = path.substr(path.rfind('/') + 1);
  const UniqueFd file(openat(parent.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!parent || !file) return io_error("showing the unsaved text of " + path);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t put = write(file.get(), text.data() + at, text.size() - at);
    if (put <= 0) return io_error("showing the unsaved text of " + path);
    at += static_cast<std::size_t>(put);
  }
  struct stat info {};
  if (fstatat(workspace, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
  (void)!fchown(file.get(), info.st_uid, info.st_gid);
  fchmod(file.get(), info.st_mode & 0777);
  return {};
}

Result<void> put_whiteout(int layer, int workspace, const std::string& path) {
  const UniqueFd parent = make_parents(layer, workspace, path);
  const std::string name = path.substr(path.rfind('/') + 1);
  // A secret that can't be hidden must not be shown: the caller gives up.
  if (!parent || mknodat(parent.get(), name.c_str(), S_IFCHR, makedev(0, 0)) != 0) return io_error("hiding " + path);
  return {};
}

}  // namespace

std::vector<std::string> find_masked(int workspace, const MaskRequest& request) {
  return Walk(request).run(workspace);
}

Result<bool> build_mask_layer(int layer, int workspace, const std::vector<std::string>& masked,
                              const std::map<std::string, std::string>& unsaved) {
  const std::set<std::string> hidden(masked.begin(), masked.end());
  for (const std::string& path : masked)
    if (Result<void> put = put_whiteout(layer, workspace, path); !put) return put.error();
  bool any = !masked.empty();
  for (const auto& [path, text] : unsaved) {
    if (is_covered(hidden, path)) continue;  // open in the editor or not, a secret stays hidden
    if (Result<void> put = put_text(layer, workspace, path, text); !put) return put.error();
    any = true;
  }
  copy_directory_attributes(layer, workspace);
  return any;
}

}  // namespace escrow::sandbox
