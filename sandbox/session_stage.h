#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/error.h"
#include "sandbox/tree_changes.h"
#include "sandbox/unique_fd.h"

/// What the commands of one session wrote, kept between them at `<state>/sessions/<id>/upper`: a later command sees
/// what an earlier one did. Beside it lies `<id>.lock`, held by the server whose session it is.
namespace escrow::sandbox {

struct SessionStage {
  UniqueFd directory;
  UniqueFd lock;
};

/// 1 to 64 letters, digits, `-` or `_`. One that begins with `live-` belongs to a connection and dies with its server.
bool is_session_id(std::string_view id);

/// Opens it, making it if it is new. `unavailable` while another process has it.
Result<SessionStage> open_session_stage(const std::string& state_dir, const std::string& id);

/// Removes everything of it, and then its lock.
void remove_session_stage(const std::string& state_dir, const std::string& id);

/// Removes the stages that nobody holds: those of connections whose server is gone, and others unused for so long.
void sweep_session_stages(const std::string& state_dir, std::chrono::hours unused);

/// A path whose review is over.
struct SettledPath {
  std::string path;
  /// How the stage held it then. One that has changed since stays, to be reviewed anew; without this, it goes as it is.
  std::optional<TreeEntry> staged = {};
};

/// Takes the paths out of the stage, so that the workspace shows through again. Only while no command runs in it.
void take_out_of_stage(int stage, const std::vector<SettledPath>& paths);

}  // namespace escrow::sandbox
