#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace escrow::sandbox {

enum class EntryKind { absent, file, symlink, directory, other };

/// One side of a changed path.
struct TreeEntry {
  EntryKind kind = EntryKind::absent;
  std::uint32_t mode = 0;  ///< permission bits
  std::string content;     ///< file bytes, or the link target
  bool too_large = false;  ///< content left out: over the cap, reported and never applied
  bool operator==(const TreeEntry&) const = default;
};

/// One path that differs from the workspace after an execution. The base side is what the guest saw at start.
struct TreeChange {
  std::string path;  ///< workspace-relative, '/'-separated, raw bytes
  TreeEntry before, after;
  std::string note;  ///< why it can't be applied (FIFO, socket, masked path, hard link, …); empty if it can
  bool operator==(const TreeChange&) const = default;
};

/// Everything an execution wrote into its copy-on-write layer; equal content with a new mtime is no change.
/// Empty directories and directory modes are left out. Sorted by path.
struct TreeChanges {
  std::vector<TreeChange> changes;
  bool complete = true;  ///< false if a cap stopped the reading; then nothing may be applied
  bool operator==(const TreeChanges&) const = default;
};

}  // namespace escrow::sandbox
