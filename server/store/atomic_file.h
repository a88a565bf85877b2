#pragma once

#include <string>
#include <string_view>

#include "server/error.h"

namespace escrow::server {

/// Closes on scope exit. Move-only.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  int get() const { return fd_; }
  int release();
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// An exclusive flock(2) on `<path>.lock`, held until dropped. Waits; released by the kernel if the process dies.
class FileLock {
 public:
  static Result<FileLock> take(const std::string& path);

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

/// The bytes of a regular file; `not_found` if there is none.
Result<std::string> read_file(const std::string& path);

/// The rest of the open file, if it is a regular one of at most `limit` bytes; `what` names it in messages.
Result<std::string> read_regular_file(int fd, const std::string& what, std::size_t limit);

enum class Durable { yes, no };

/// Old or new, never half: written to a temporary name beside it, fsynced, renamed. Mode 0600. Not `Durable`: without
/// the fsync, for what can be told whole from half by itself, or done without.
Result<void> write_file_atomically(const std::string& path, std::string_view bytes, Durable durable = Durable::yes);

/// Writes all of it, retrying short writes and EINTR.
Result<void> write_all_bytes(int fd, std::string_view bytes, const std::string& what);

/// Device, inode, size and mtime in one text: changes when the file is replaced or written. Empty if there is none.
std::string file_stamp(const std::string& path);

}  // namespace escrow::server
