#pragma once

#include <sys/stat.h>

#include <string>

#include "server/error.h"

/// Directories that only this user has a hand in: what lies there may approve for the person.
namespace escrow::server {

/// Why somebody else may have a hand in a file or directory; empty if it is this user's alone.
std::string why_not_private(const struct stat& status);

/// Creates `path` (0700) and its missing parents; refuses (`invalid_params`) one that exists and is a symlink, another
/// user's, or open to others.
Result<void> make_private_directory(const std::string& path);

}  // namespace escrow::server
