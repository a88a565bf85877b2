#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace escrow::sandbox {

struct DirectoryEntry {
  std::string name;
  std::uint64_t inode = 0;
  unsigned char type = 0;  ///< DT_… of readdir; DT_UNKNOWN is resolved
};

/// The entries of an open directory, without "." and "..", sorted by name. Empty if it can't be read.
std::vector<DirectoryEntry> list_directory(int directory);

}  // namespace escrow::sandbox
