#pragma once

#include <string>
#include <vector>

#include "engine/policy.h"
#include "server/error.h"
#include "server/store/places.h"

/// The workspace policy as a ratchet.
///
/// What a repository's own policy tightens must not be gone because a branch, or an agent, took the file away. The
/// strictest version that was in force is remembered for each workspace, in the state directory; where the file is
/// missing now or says less, the remembered one holds beside it until the person accepts the weaker one.
namespace escrow::server {

/// How a workspace's file stands to the version remembered for it.
struct RatchetState {
  /// What the remembered version holds beyond the file; to be merged after it, as a workspace layer. Empty if nothing.
  std::optional<engine::PolicyLayer> beyond;
  /// The file says at least as much as what is remembered, in other words: it is to be remembered in its place.
  bool moves_up = false;
};

/// `text` is the file as it is now (empty: there is none) and `current` its layer; `others` are the layers around it.
RatchetState compare_with_remembered(const Places& places, const std::string& root, const std::string& text,
                                     const std::optional<engine::PolicyLayer>& current,
                                     const std::vector<engine::PolicyLayer>& others);

/// Remembers this text from now on, whatever was remembered before; forgets where it is empty.
Result<void> remember_workspace_policy(const Places& places, const std::string& root, const std::string& text);

/// Where it is remembered.
std::string ratchet_file(const Places& places, const std::string& root);

}  // namespace escrow::server
