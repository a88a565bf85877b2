#pragma once

#include <optional>
#include <string>

#include "protocol/lsp_window.h"

namespace escrow::server::lsp {

struct Session;

/// `$/progress` on a token the client gave; nothing without one.
void progress_begin(const Session& session, const std::optional<protocol::ProgressToken>& token,
                    const std::string& title);
void progress_end(const Session& session, const std::optional<protocol::ProgressToken>& token,
                  const std::string& message);

}  // namespace escrow::server::lsp
