#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace escrow::sandbox {

enum class EntryKind { absent, file, symlink, directory, other };

/// One side of a changed path.
struct TreeEntry {
  EntryKind kind = EntryKind::absent;
  std::uint32_t mode = 0;  ///< permission bits
  std::string content;     ///< file bytes, or the link target; empty for what is neither
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
  /// Topmost paths that were written and are build outputs (see ArtefactTest), a directory with a slash at its end; not
  /// among the changes. At most 100.
  std::vector<std::string> artefacts = {};
  bool operator==(const TreeChanges&) const = default;
};

/// Is this relative path a build output, which nobody reviews and nothing applies? Called from any one thread.
using ArtefactTest = std::function<bool(const std::string& path, bool directory)>;

/// The layers of a finished execution, as open directories; -1 for one that there is not.
struct TreeLayers {
  int lower = -1;  ///< the workspace
  int mask = -1;   ///< between them: whiteouts over secrets, unsaved text
  int upper = -1;  ///< what the guest wrote: the overlay's upper directory, or a whole copy
  /// When the commands that wrote the upper layer were started, in order; CLOCK_REALTIME. A lower file that changed
  /// after the command that wrote over it began is noted as such.
  std::vector<timespec> starts = {};
  bool kept = false;  ///< by a session: earlier commands than those may have written as well
  /// Unsaved documents whose text is another than when they were first staged.
  std::set<std::string> moved_texts = {};
  ArtefactTest is_artefact = {};
};

/// How much is read. A file over its cap is `too_large`; the others end the reading (`complete` is false).
struct ChangeCaps {
  std::uint64_t file_bytes = 32u << 20;
  std::uint64_t total_bytes = 256u << 20;
  std::size_t changes = 50'000;
  std::size_t depth = 200;
};

/// Reads an overlay's upper layer back. Only when no process writes any more. Follows no link, opens no FIFO. May open
/// up directories and files of the upper layer that their modes close to us. Any thread.
TreeChanges read_overlay_changes(const TreeLayers& layers, const ChangeCaps& caps = {});

/// The same for a copy of the workspace that was written to.
TreeChanges read_copy_changes(const TreeLayers& layers, const ChangeCaps& caps = {});

}  // namespace escrow::sandbox
