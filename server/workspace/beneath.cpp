#include "server/workspace/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <filesystem>

namespace escrow::server {
namespace {

int open_beneath(int dir, const std::string& path, int flags) {
  struct open_how how {};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, dir, path.c_str(), &how, sizeof how));
}

/// The reason for a failed open, in the protocol's words.
Error open_error(const std::string& what) {
  if (errno == ENOENT || errno == ENOTDIR) return {ErrorKind::not_found, what + ": no such file"};
  if (errno == ELOOP) return {ErrorKind::symlink_or_device_refused, what + ": a symbolic link is in the way"};
  if (errno == EXDEV) return {ErrorKind::outside_roots, what + ": leaves the workspace"};
  return io_error("cannot open " + what);
}

Result<std::string> read_regular(int dir, const std::string& name, const std::string& what) {
  const Fd fd(open_beneath(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return open_error(what);
  return read_regular_file(fd.get(), what, kMaxImageBytes);
}

Result<FileImage> read_link(int fd, const std::string& what) {
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(fd, "", target, sizeof target);
  if (size < 0) return io_error("cannot read the link " + what);
  return FileImage{
      .kind = ImageKind::symlink, .mode = 0777, .content = std::string(target, static_cast<std::size_t>(size))};
}

}  // namespace

Result<Fd> open_root(const std::string& root) {
  Fd fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return open_error(root);
  return fd;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string name_of_path(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Result<Fd> open_parent(int root, const std::string& path) {
  const std::string parent = parent_of(path);
  // O_RDONLY rather than O_PATH: the directory is fsynced after the rename.
  Fd fd(open_beneath(root, parent.empty() ? "." : parent, O_RDONLY | O_DIRECTORY));
  if (!fd) return open_error(parent);
  return fd;
}

Result<FileImage> read_image(int dir, const std::string& name, const std::string& what) {
  Fd handle(open_beneath(dir, name, O_PATH | O_NOFOLLOW));
  if (!handle) {
    const Error error = open_error(what);
    if (error.kind == ErrorKind::not_found) return FileImage{};
    return error;
  }
  struct stat info {};
  if (::fstat(handle.get(), &info) != 0) return io_error("cannot stat " + what);
  if (S_ISLNK(info.st_mode)) return read_link(handle.get(), what);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorKind::symlink_or_device_refused, what + ": a directory, device, FIFO or socket, not a file"};
  }
  auto bytes = read_regular(dir, name, what);
  if (!bytes) return bytes.error();
  return FileImage{.kind = ImageKind::file, .mode = info.st_mode & 07777u, .content = std::move(*bytes)};
}

std::string follow_links(const std::string& root, const std::string& path) {
  std::error_code error;
  std::string real = std::filesystem::weakly_canonical(path, error).string();
  if (error) return path;
  const std::string real_root = std::filesystem::weakly_canonical(root, error).string();
  if (error || root.empty()) return real;
  if (real == real_root) return root;
  return real.starts_with(real_root + "/") ? root + real.substr(real_root.size()) : real;
}

}  // namespace escrow::server
