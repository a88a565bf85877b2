#include "server/store/private_directory.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace escrow::server {

std::string why_not_private(const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return "is a symbolic link; name the place itself";
  if (status.st_uid != ::geteuid()) return "belongs to another user; choose one that is yours";
  if ((status.st_mode & 077) != 0) return "is open to others; run chmod go= on it";
  return {};
}

Result<void> make_private_directory(const std::string& path) {
  std::error_code error;
  const auto parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) return Error{ErrorKind::io, parent.string() + ": " + error.message()};
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return io_error("cannot create " + path);
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return io_error("cannot stat " + path);
  std::string why = why_not_private(status);
  if (why.empty() && !S_ISDIR(status.st_mode)) why = "is not a directory";
  if (!why.empty()) return Error{ErrorKind::invalid_params, path + ": " + why};
  return {};
}

}  // namespace escrow::server
