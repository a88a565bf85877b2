#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/policy_origin.h"
#include "protocol/lsp_features.h"
#include "server/documents.h"
#include "server/lsp/positions.h"
#include "server/store/places.h"

/// The server as a language server for its own policy files: what is wrong with the open text, what a key means, what
/// may stand here. Pure.
namespace escrow::server::lsp {

/// Which layer the document is; empty if it is no policy file.
std::optional<engine::LayerKind> policy_layer_of(const Document& document, const Places& places);

/// Something about the text, at a place of it.
struct PolicyRemark {
  enum class Kind { problem, warning };
  Kind kind = Kind::problem;
  protocol::Range range;
  std::string message;
};

/// Everything that `escrow policy check` says of the text.
std::vector<PolicyRemark> remarks_on_policy(const Document& document, engine::LayerKind layer,
                                            PositionEncoding encoding);

/// The meaning of the key at the position, or of the key whose value stands there.
std::optional<protocol::Hover> policy_hover(const Document& document, protocol::Position position,
                                            PositionEncoding encoding);

/// Keys where a key may stand, and values where they are known. Of rules and checks, the names in the file too.
std::vector<protocol::CompletionItem> policy_completion(const Document& document, protocol::Position position,
                                                        PositionEncoding encoding);

}  // namespace escrow::server::lsp
