#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <set>
#include <string>

#include "sandbox/unique_fd.h"

namespace escrow::sandbox {

/// Holds a command to the room that it may take on the disk of its workspace. No quota of the kernel is for ordinary
/// users to set, so two bounds are watched: by how much the disk's free room shrank, which one call tells and to which
/// others contribute; and, only once that is over the quota, what lies in the workspace that is newer than the command,
/// and what its processes hold open there after deleting it.
class DiskWatch {
 public:
  /// `quota` in bytes, 0 for none. Opens the workspace, which must be mounted by now.
  DiskWatch(std::string workspace, std::uint64_t quota);

  bool is_exceeded();

 private:
  std::uint64_t free_bytes() const;
  /// Adds what lies below a directory. False if there is too much of it to look at.
  bool add_tree(int directory, std::size_t depth);
  void add_deleted();
  void add(const struct stat& info);

  std::string workspace_;
  std::uint64_t quota_;
  UniqueFd root_;
  timespec began_{};
  std::uint64_t free_at_start_ = 0;
  std::uint64_t next_look_ = 0;  ///< how much must be gone before the tree is looked at again

  // Of the look under way.
  std::uint64_t found_ = 0;
  std::size_t entries_ = 0;
  std::set<ino_t> seen_;
};

}  // namespace escrow::sandbox
