// Against the mounts, the devices and the kernel's own file systems.

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/escape/attacker/attacks.h"

namespace attacker {
namespace {

/// A device of its own making, so that what /dev lacks does not matter. Opened, never written.
template <mode_t Type, unsigned Major, unsigned Minor>
Outcome make_device(const std::string& directory) {
  const std::string path = directory + "/device";
  if (mknod(path.c_str(), Type | 0600, makedev(Major, Minor)) != 0) return errno;
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const Outcome result = of(fd >= 0);
  if (fd >= 0) close(fd);
  unlink(path.c_str());
  return result;
}

Outcome open_by_handle(const std::string& path) {
  alignas(file_handle) std::array<char, sizeof(file_handle) + 128> space{};
  auto* handle = reinterpret_cast<file_handle*>(space.data());
  handle->handle_bytes = 128;
  int mount_id = 0;
  if (name_to_handle_at(AT_FDCWD, path.c_str(), handle, &mount_id, 0) != 0) return errno;
  const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return of(open_by_handle_at(directory, handle, O_RDONLY | O_DIRECTORY) >= 0);
}

Outcome fresh_tmpfs(const std::string& at) {
  return of(mount("none", at.c_str(), "tmpfs", 0, nullptr) == 0);
}

Outcome second_proc(const std::string& at) {
  return of(mount("none", at.c_str(), "proc", 0, nullptr) == 0);
}

Outcome bind(const std::string& at) {
  return of(mount("/", at.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0);
}

Outcome make_writable(const std::string& at) {
  return of(mount(nullptr, at.c_str(), nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0);
}

Outcome mount_and_unmount(const std::string& at) {
  (void)!mount("none", at.c_str(), "tmpfs", 0, nullptr);
  return of(umount2(at.c_str(), MNT_DETACH) == 0);
}

Outcome pivot(const std::string& at) {
  (void)!mount("none", at.c_str(), "tmpfs", 0, nullptr);
  return chdir(at.c_str()) != 0 ? errno : raw(SYS_pivot_root, word("."), word("."));
}

Outcome move_tree(const std::string& at) {
  const long tree = syscall(SYS_open_tree, AT_FDCWD, at.c_str(), 1 /* clone */);
  return tree < 0 ? errno : raw(SYS_move_mount, tree, word(""), AT_FDCWD, word(at.c_str()), 4 /* empty path */);
}

Outcome open_path(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

Outcome lower_oom_score(const std::string& pid) {
  const int fd = open(("/proc/" + pid + "/oom_score_adj").c_str(), O_WRONLY | O_CLOEXEC);
  return fd < 0 ? errno : of(write(fd, "-1000", 5) == 5);
}

template <const char* const& Name>
Outcome mark(const std::string& path) {
  return of(setxattr(path.c_str(), Name, "y", 1, 0) == 0);
}

constexpr const char* kOpaque = "user.overlay.opaque";
constexpr const char* kRedirect = "user.overlay.redirect";
constexpr const char* kMetacopy = "user.overlay.metacopy";
constexpr const char* kWhiteout = "user.overlay.whiteout";
constexpr const char* kTrusted = "trusted.overlay.opaque";
constexpr const char* kCapability = "security.capability";

Outcome immutable(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  int flags = 0x10;  // FS_IMMUTABLE_FL
  return fd < 0 ? errno : raw(SYS_ioctl, fd, static_cast<long>(FS_IOC_SETFLAGS), word(&flags));
}

}  // namespace

std::vector<Attack> file_attacks() {
  return {
      {"make-memory-device", make_device<S_IFCHR, 1, 1>},
      {"make-disk", make_device<S_IFBLK, 254, 0>},
      {"make-terminal-device", make_device<S_IFCHR, 4, 0>},
      {"open-by-handle", open_by_handle},
      {"mount-tmpfs", fresh_tmpfs},
      {"mount-proc", second_proc},
      {"bind-mount", bind},
      {"remount-writable", make_writable},
      {"umount", mount_and_unmount},
      {"umount-only", [](const std::string& at) { return of(umount2(at.c_str(), MNT_DETACH) == 0); }},
      {"pivot-root", pivot},
      {"chroot", [](const std::string& at) { return of(chroot(at.c_str()) == 0); }},
      {"fsopen", [](const std::string&) { return raw(SYS_fsopen, word("tmpfs"), 0); }},
      {"open-tree", [](const std::string& at) { return raw(SYS_open_tree, AT_FDCWD, word(at.c_str()), 1); }},
      {"move-mount", move_tree},
      {"fspick", [](const std::string& at) { return raw(SYS_fspick, AT_FDCWD, word(at.c_str()), 0); }},
      {"open-to-read", [](const std::string& path) { return open_path(path, O_RDONLY); }},
      {"open-to-write", [](const std::string& path) { return open_path(path, O_WRONLY); }},
      {"make-directory", [](const std::string& path) { return of(mkdir(path.c_str(), 0755) == 0); }},
      {"lower-oom-score", lower_oom_score},
      {"mark-opaque", mark<kOpaque>},
      {"mark-redirect", mark<kRedirect>},
      {"mark-metacopy", mark<kMetacopy>},
      {"mark-whiteout", mark<kWhiteout>},
      {"mark-trusted", mark<kTrusted>},
      {"mark-capability", mark<kCapability>},
      {"mark-immutable", immutable},
  };
}

}  // namespace attacker
