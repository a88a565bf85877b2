#include "sandbox/launcher/workspace_mount.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sandbox/copy_tree.h"
#include "sandbox/mask_layer.h"
#include "sandbox/packet.h"
#include "sandbox/protected_paths.h"
#include "sandbox/remove_tree.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

Result<UniqueFd> make_directory(int parent, const std::string& name) {
  if (mkdirat(parent, name.c_str(), 0755) != 0) return io_error("making " + name + " in the stage");
  UniqueFd fd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return io_error("opening " + name + " in the stage");
  return fd;
}

Result<UniqueFd> open_directory(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return io_error("opening " + path);
  return fd;
}

/// A layer named by descriptor needs none of the escapes that commas, colons and backslashes in a path would.
std::string by_descriptor(const UniqueFd& fd) {
  return "/proc/self/fd/" + std::to_string(fd.get());
}

/// Without `volatile` every fsync of the guest reaches the disk, for files that are thrown away or read back at once;
/// kernels before 5.10 do not know it.
bool mount_overlay(const std::string& target, unsigned long flags, const std::string& layers, bool writable) {
  const std::string options = "userxattr," + layers;
  if (writable && mount("overlay", target.c_str(), "overlay", flags, ("volatile," + options).c_str()) == 0) return true;
  return mount("overlay", target.c_str(), "overlay", flags, options.c_str()) == 0;
}

constexpr unsigned long kMountFlags = MS_NOSUID | MS_NODEV;

/// The three directories of a writable layer. The upper one's root stands for the merged root, so it takes over the
/// mode and owner.
struct Layer {
  UniqueFd upper, work, mask;
};

Result<void> take_over_root(const Scaffold& scaffold, int upper, int lower) {
  struct stat info {};
  if (fstat(lower, &info) != 0) return io_error("looking at the lower directory");
  if (fchown(upper, info.st_uid, info.st_gid) != 0) (void)!fchown(upper, scaffold.uid, scaffold.gid);
  fchmod(upper, info.st_mode & 07777);
  const std::array<timespec, 2> times{info.st_atim, info.st_mtim};
  futimens(upper, times.data());
  return {};
}

Result<Layer> make_layer(const Scaffold& scaffold, int parent, int lower) {
  Layer layer;
  for (auto [fd, name] : {std::pair{&layer.upper, "upper"}, {&layer.work, "work"}, {&layer.mask, "mask"}}) {
    Result<UniqueFd> made = make_directory(parent, name);
    if (!made) return made.error();
    *fd = std::move(*made);
  }
  if (Result<void> taken = take_over_root(scaffold, layer.upper.get(), lower); !taken) return taken.error();
  return layer;
}

/// A session's upper layer is as the last command left it. The work directory is always new: a volatile mount leaves a
/// mark in it that forbids another.
Result<Layer> session_layer(const Scaffold& scaffold, const std::string& session, int lower) {
  const std::string path = "../../sessions/" + session;
  const UniqueFd kept(openat(scaffold.stage, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!kept) return io_error("opening the stage of session " + session);
  if (Result<void> removed = remove_tree(kept.get(), "work"); !removed) return removed.error();
  const bool is_new = mkdirat(kept.get(), "upper", 0755) == 0;
  Layer layer;
  layer.upper.reset(openat(kept.get(), "upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!layer.upper) return io_error("opening what session " + session + " wrote");
  for (auto [fd, parent, name] : {std::tuple{&layer.work, kept.get(), "work"}, {&layer.mask, scaffold.stage, "mask"}}) {
    Result<UniqueFd> made = make_directory(parent, name);
    if (!made) return made.error();
    *fd = std::move(*made);
  }
  if (!is_new) return layer;
  if (Result<void> taken = take_over_root(scaffold, layer.upper.get(), lower); !taken) return taken.error();
  return layer;
}

std::string layer_options(const Layer& layer, const UniqueFd& lower, bool masked) {
  const std::string mask = masked ? by_descriptor(layer.mask) + ":" : std::string();
  return "lowerdir=" + mask + by_descriptor(lower) + ",upperdir=" + by_descriptor(layer.upper) +
         ",workdir=" + by_descriptor(layer.work);
}

/// The workspace, what is hidden in it, and the layers made for it.
struct Prepared {
  UniqueFd workspace;
  bool any_mask = false;
  Layer layer;
};

Result<Prepared> prepare(const Scaffold& scaffold, const MountRequest& request) {
  Prepared prepared;
  Result<UniqueFd> workspace = open_directory(request.workspace);
  if (!workspace) return workspace.error();
  prepared.workspace = std::move(*workspace);
  Result<Layer> layer = request.session.empty() ? make_layer(scaffold, scaffold.stage, prepared.workspace.get())
                                                : session_layer(scaffold, request.session, prepared.workspace.get());
  if (!layer) return layer.error();
  prepared.layer = std::move(*layer);
  Result<bool> any =
      build_mask_layer(prepared.layer.mask.get(), prepared.workspace.get(), request.masked, request.unsaved);
  if (!any) return any.error();
  prepared.any_mask = *any;
  return prepared;
}

Result<MountedReport> mount_copy(const Scaffold& scaffold, const Prepared& prepared, const MountRequest& request) {
  const std::string why = std::strerror(errno);
  if (request.copy_limit_bytes == 0)
    return Error{ErrorKind::unavailable, "overlayfs is refused here (" + why + "), and a copy is not allowed"};
  Result<UniqueFd> copy = make_directory(scaffold.stage, "copy");
  if (!copy) return copy.error();
  const CopyPlan plan{.limit_bytes = request.copy_limit_bytes, .mask = prepared.layer.mask.get()};
  if (Result<void> copied = copy_tree(prepared.workspace.get(), copy->get(), plan); !copied)
    return Error{ErrorKind::unavailable,
                 "overlayfs is refused here (" + why + "), and a copy fails: " + copied.error().message};
  const std::string target = scaffold.path + "/m";
  if (mount(by_descriptor(*copy).c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0)
    return io_error("binding the copy");
  return MountedReport{.writable = "copy"};
}

Result<MountedReport> mount_writable(const Scaffold& scaffold, const Prepared& prepared, const MountRequest& request) {
  const std::string options = layer_options(prepared.layer, prepared.workspace, prepared.any_mask);
  errno = EOPNOTSUPP;
  if (request.try_overlay && mount_overlay(scaffold.path + "/m", kMountFlags, options, true))
    return MountedReport{.writable = "overlay"};
  return mount_copy(scaffold, prepared, request);
}

/// Lower layers and no upper one: read-only for everybody, and the masks hold as they do when it is writable. What a
/// session wrote before is seen.
Result<MountedReport> mount_read_only(const Scaffold& scaffold, const Prepared& prepared, const MountRequest& request) {
  const std::string staged = request.session.empty() ? "" : by_descriptor(prepared.layer.upper) + ":";
  const std::string layers =
      "lowerdir=" + staged + by_descriptor(prepared.layer.mask) + ":" + by_descriptor(prepared.workspace);
  if (!mount_overlay(scaffold.path + "/m", kMountFlags | MS_RDONLY, layers, false)) {
    Error error = io_error("mounting the workspace read-only");
    error.kind = ErrorKind::unavailable;
    return error;
  }
  return MountedReport{.writable = "none"};
}

/// Binds `source` over `target` and turns it read-only, keeping the flags that an unprivileged namespace may not drop.
bool bind_read_only(const std::string& source, const std::string& target) {
  if (mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0) return false;
  struct statvfs info {};
  if (statvfs(target.c_str(), &info) != 0) return false;
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV;
  if (info.f_flag & ST_NOEXEC) flags |= MS_NOEXEC;
  if (info.f_flag & ST_NOATIME) flags |= MS_NOATIME;
  if (info.f_flag & ST_RELATIME) flags |= MS_RELATIME;
  return mount(nullptr, target.c_str(), nullptr, flags, nullptr) == 0;
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// Binds every directory above the given paths over itself. What a mount point lies below can be renamed, and a new one
/// put in its place; a mount point itself cannot.
Result<void> pin_parents(const std::string& root, const std::vector<std::string>& paths) {
  std::set<std::string> parents;  // in order, so that none covers one below it
  for (const std::string& path : paths)
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
      parents.insert(path.substr(0, slash));
  for (const std::string& parent : parents) {
    const std::string place = root + "/" + parent;
    if (mount(place.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) != 0) return io_error("pinning " + parent);
  }
  return {};
}

/// The real tree, written for real: secrets are covered by mounts, protected paths bound read-only over themselves.
/// Put together aside and shown in one step, so that the guest never sees it half covered.
Result<MountedReport> mount_direct(const Scaffold& scaffold, const Prepared& prepared, const MountRequest& request) {
  const std::string aside = scaffold.path + "/d", target = scaffold.path + "/m";
  if (mkdir(aside.c_str(), 0755) != 0 ||
      mount(request.workspace.c_str(), aside.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return io_error("binding the workspace");
  mount(nullptr, aside.c_str(), nullptr, MS_REC | MS_PRIVATE, nullptr);
  const std::vector<std::string> guarded = find_protected(prepared.workspace.get());
  if (Result<void> pinned = pin_parents(aside, guarded); !pinned) return pinned.error();
  for (const std::string& path : guarded) {
    const std::string place = aside + "/" + path;
    if (!bind_read_only(place, place)) return io_error("protecting " + path);
  }
  for (const std::string& path : request.masked) {
    const std::string place = aside + "/" + path;
    if (faccessat(AT_FDCWD, place.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0) continue;  // gone since it was found
    const std::string blank = scaffold.path + (is_directory(place) ? "/blank.d" : "/blank");
    if (!bind_read_only(blank, place)) return io_error("hiding " + path);
  }
  if (mount(aside.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return io_error("showing the workspace");
  return MountedReport{.writable = "direct"};
}

}  // namespace

Result<void> mount_home(const Scaffold& scaffold, const HomeOverlay& home, const std::string& name,
                        const std::string& target) {
  Result<UniqueFd> lower = open_directory(home.path);
  if (!lower) return lower.error();
  if (mkdirat(scaffold.stage, "homes", 0700) != 0 && errno != EEXIST) return io_error("making homes in the stage");
  Result<UniqueFd> directory = make_directory(scaffold.stage, "homes/" + name);
  if (!directory) return directory.error();
  Result<Layer> layer = make_layer(scaffold, directory->get(), lower->get());
  if (!layer) return layer.error();
  std::vector<std::string> present;
  for (const std::string& mask : home.masks)
    if (faccessat(lower->get(), mask.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) present.push_back(mask);
  Result<bool> any = build_mask_layer(layer->mask.get(), lower->get(), present, {});
  if (!any) return any.error();
  if (!mount_overlay(target, kMountFlags, layer_options(*layer, *lower, *any), true))
    return io_error("overlaying " + home.path);
  return {};
}

Result<MountedReport> try_overlay(const Scaffold& scaffold) {
  const std::string base = scaffold.path + "/probe";
  for (const char* name : {"", "/lower", "/upper", "/work"})
    if (mkdir((base + name).c_str(), 0755) != 0) return io_error("making " + base + name);
  const std::string layers = "lowerdir=" + base + "/lower,upperdir=" + base + "/upper,workdir=" + base + "/work";
  const bool mounted = mount_overlay(scaffold.path + "/m", kMountFlags, layers, true);
  return MountedReport{.writable = mounted ? "overlay" : "none"};
}

Result<MountedReport> mount_workspace(const Scaffold& scaffold, const MountRequest& request) {
  Result<Prepared> prepared = prepare(scaffold, request);
  if (!prepared) return prepared.error();
  switch (request.writable) {
    case Writable::overlay:
      return mount_writable(scaffold, *prepared, request);
    case Writable::none:
      return mount_read_only(scaffold, *prepared, request);
    case Writable::direct:
      return mount_direct(scaffold, *prepared, request);
  }
  return Error{ErrorKind::invalid_argument, "unknown way to mount the workspace"};
}

}  // namespace escrow::sandbox
