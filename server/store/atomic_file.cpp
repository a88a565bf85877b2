#include "server/store/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <utility>

namespace escrow::server {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

int Fd::release() {
  return std::exchange(fd_, -1);
}

Result<FileLock> FileLock::take(const std::string& path) {
  const std::string name = path + ".lock";
  Fd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return io_error("cannot open " + name);
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return io_error("cannot lock " + name);
  }
  return FileLock(std::move(fd));
}

Result<std::string> read_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ENOENT) return Error{ErrorKind::not_found, path + ": no such file"};
  if (!fd) return io_error("cannot read " + path);
  return read_regular_file(fd.get(), path, std::numeric_limits<std::size_t>::max());
}

Result<std::string> read_regular_file(int fd, const std::string& what, std::size_t limit) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return io_error("cannot stat " + what);
  if (!S_ISREG(info.st_mode)) return Error{ErrorKind::symlink_or_device_refused, what + ": not a regular file"};
  std::string bytes;
  bytes.reserve(std::min(static_cast<std::size_t>(info.st_size), limit));
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error("cannot read " + what);
    if (count == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(count));
    if (bytes.size() > limit) {
      return Error{ErrorKind::limit_exceeded, what + ": larger than " + std::to_string(limit >> 20) + " MiB"};
    }
  }
}

Result<void> write_all_bytes(int fd, std::string_view bytes, const std::string& what) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error("cannot write " + what);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

namespace {

Result<void> write_new(const std::string& name, std::string_view bytes, Durable durable) {
  Fd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return io_error("cannot create " + name);
  if (auto written = write_all_bytes(fd.get(), bytes, name); !written) return written;
  if (durable == Durable::yes && ::fsync(fd.get()) != 0) return io_error("cannot fsync " + name);
  return {};
}

}  // namespace

Result<void> write_file_atomically(const std::string& path, std::string_view bytes, Durable durable) {
  // Not a secret, only nobody else's: O_EXCL refuses one that is there, as after a kill in a process of the same id.
  static std::atomic<unsigned> count{0};
  const std::string stem = path + ".new-" + std::to_string(::getpid()) + "-";
  std::string temporary = stem + std::to_string(count++);
  while (::access(temporary.c_str(), F_OK) == 0) temporary = stem + std::to_string(count++);
  if (auto written = write_new(temporary, bytes, durable); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const Error error = io_error("cannot replace " + path);
    ::unlink(temporary.c_str());
    return error;
  }
  return {};
}

std::string file_stamp(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return std::to_string(info.st_dev) + ':' + std::to_string(info.st_ino) + ':' + std::to_string(info.st_size) + ':' +
         std::to_string(info.st_mtim.tv_sec) + '.' + std::to_string(info.st_mtim.tv_nsec);
}

}  // namespace escrow::server
