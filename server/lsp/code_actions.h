#pragma once

#include <boost/json/array.hpp>
#include <string>
#include <vector>

#include "protocol/lsp_features.h"
#include "server/lsp/findings_view.h"

namespace escrow::server::lsp {

struct Session;

/// The actions for what stands at a range: Show, Deny or Reject, then what allows, narrowest first.
///
/// Each is a command with one argument that carries a nonce of its own; none is preferred, none fixes on save, and
/// there is never only one (clients apply a single action unasked). A client without code action literals gets bare
/// Commands.
boost::json::array code_actions(Session& session, const FindingsView& view, const protocol::CodeActionParams& params);

/// One lens for the matter and one for each hunk.
std::vector<protocol::CodeLens> code_lenses(Session& session, const FindingsView& view, const std::string& uri);

}  // namespace escrow::server::lsp
