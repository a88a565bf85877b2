#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/policy.h"
#include "server/error.h"
#include "server/store/places.h"

/// The policy in force, from its files: built-in < user < workspace (tightens only) < system.
namespace escrow::server {

/// Larger files are refused: a policy is written by hand.
inline constexpr std::size_t kMaxPolicyBytes = 1u << 20;

/// `<root>/.escrow/policy.yaml`: untrusted, like all of the repository.
std::string workspace_policy_file(const std::string& root);
std::string user_policy_file(const Places& places);

/// One file; empty if there is none. The user's must be theirs or root's, the system's root's, neither writable by
/// others. The error lists every problem, one `file:line:column: …` a line.
Result<std::optional<engine::PolicyLayer>> read_policy_layer(const std::string& file, engine::LayerKind kind);

/// The effective policy of the workspaces. A file that cannot be read or understood is an error, never skipped:
/// what it forbids would be allowed.
Result<engine::Policy> load_policy(const Places& places, const std::vector<std::string>& roots);

}  // namespace escrow::server
