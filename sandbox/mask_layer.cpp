#include "sandbox/mask_layer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "sandbox/directory.h"
#include "sandbox/packet.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

/// Is there a path in the set that is `path` or a directory above it?
bool is_covered(const std::set<std::string>& paths, const std::string& path) {
  for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1))
    if (paths.contains(path.substr(0, end))) return true;
  return paths.contains(path);
}

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

/// Nothing to hide where there is nothing any more; a directory made for it would be seen.
bool is_there(int workspace, const std::string& path) {
  UniqueFd at(dup(workspace));
  std::size_t start = 0;
  for (std::size_t slash; (slash = path.find('/', start)) != std::string::npos; start = slash + 1) {
    at = open_below(at.get(), path.substr(start, slash - start));
    if (!at) return false;
  }
  return faccessat(at.get(), path.substr(start).c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

Result<void> put_whiteout(int layer, int workspace, const std::string& path) {
  if (!is_there(workspace, path)) return {};
  const UniqueFd parent = make_parents(layer, workspace, path);
  const std::string name = path.substr(path.rfind('/') + 1);
  // A secret that can't be hidden must not be shown: the caller gives up.
  if (!parent || mknodat(parent.get(), name.c_str(), S_IFCHR, makedev(0, 0)) != 0) return io_error("hiding " + path);
  return {};
}

}  // namespace

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
