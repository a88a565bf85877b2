#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/unique_fd.h"

namespace escrow::sandbox {

struct DirectoryEntry {
  std::string name;
  std::uint64_t inode = 0;
  unsigned char type = 0;  ///< DT_… of readdir; DT_UNKNOWN is resolved
};

/// The entries of an open directory, without "." and "..", sorted by name. Empty if it can't be read.
std::vector<DirectoryEntry> list_directory(int directory);

/// The directory `name` in `directory`, never through a link. No descriptor if there is none, or no `directory` either.
UniqueFd open_below(int directory, const std::string& name);

/// Gives the open file the owner, mode and times in `from`; what the kernel refuses stays as it is.
void copy_attributes(int to, const struct stat& from);

}  // namespace escrow::sandbox
