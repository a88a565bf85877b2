#pragma once

#include <string>

#include "sandbox/error.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {

/// One execution's directory `<state>/stages/<id>`: `upper` and `work` of the overlay, `mask` (what hides secrets and
/// shows unsaved text), `homes/<n>/…`. Beside it lies `<id>.lock`, held for as long as server or launcher lives: a
/// stage whose lock can be taken is a leftover. Never inside a workspace.
struct Stage {
  std::string path;
  UniqueFd directory;
  UniqueFd lock;
};

/// Makes a new one, 0700. Whoever outlives the other (launcher or server) removes it.
Result<Stage> make_stage(const std::string& state_dir);

/// Removes the directory, then its lock.
Result<void> remove_stage(const std::string& path);

/// Removes stages whose server and launcher are both gone. Those of living ones are left alone.
void sweep_stages(const std::string& state_dir);

}  // namespace escrow::sandbox
