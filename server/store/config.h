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

/// The text of one file; empty if there is none. The user's must be theirs or root's, the system's root's, neither
/// writable by others; a workspace's is not reached through a link.
Result<std::optional<std::string>> read_policy_text(const std::string& file, engine::LayerKind kind);

/// The same, read. The error lists every problem, one `file:line:column: …` a line.
Result<std::optional<engine::PolicyLayer>> read_policy_layer(const std::string& file, engine::LayerKind kind);

/// The effective policy of the workspaces, with what the ratchet holds (policy_ratchet.h). A file that cannot be read
/// or understood is an error, never skipped: what it forbids would be allowed.
Result<engine::Policy> load_policy(const Places& places, const std::vector<std::string>& roots);

/// What holds where nothing better is known: the policy, or, with the complaint as its first note, one in which a
/// person is asked about each action.
engine::Policy load_policy_or_strict(const Places& places, const std::vector<std::string>& roots);

/// Every file that the policy of the workspaces is made of, whether it exists or not.
std::vector<std::string> policy_files(const Places& places, const std::vector<std::string>& roots);

}  // namespace escrow::server
