#pragma once

#include <optional>

#include "protocol/lsp_features.h"
#include "server/lsp/findings_view.h"

namespace escrow::server::lsp {

struct Session;

/// Why a line is marked: the finding, what its rule is about, its weight and CWE, and how the score adds up. Plain
/// text: what agents and repositories wrote is never Markdown.
std::optional<protocol::Hover> hover_at(const Session& session, const FindingsView& view, const std::string& uri,
                                        protocol::Position position);

}  // namespace escrow::server::lsp
