#pragma once

#include <string>

#include "engine/action.h"
#include "protocol/escrow.h"
#include "sandbox/profile.h"
#include "server/broker.h"
#include "server/error.h"

/// From the wire to the broker's words. The only place, with to_protocol, that knows both.
namespace escrow::server::lsp {

struct Session;

/// An action with absolute paths. `invalid_params` names a URI that is not a file's.
Result<engine::Action> action_from(const protocol::Subject& subject);
Result<engine::Action> action_from(const protocol::ExecuteCommand& command, const std::string& cwd_uri,
                                   const std::optional<std::map<std::string, std::string>>& env);

Credential credential_from(const protocol::AgentCredential& agent);

/// Decoded, '/'-separated absolute path; `invalid_params` if the URI is not a file's.
Result<std::string> file_path_from(const std::string& uri);

/// A proposal in any of its three forms; edits are applied to the text as the session knows it. `body` is what was
/// sent.
Result<ProposeRequest> proposal_from(const protocol::ProposeDiffParams& params, const Session& session,
                                     const std::string& body_hash);

Result<ExecuteRequest> execution_from(const protocol::ExecuteParams& params);

engine::Grant grant_from(const protocol::Grant& grant);

}  // namespace escrow::server::lsp
