#include "server/lsp/progress.h"

#include "server/lsp/session.h"

namespace escrow::server::lsp {

void progress_begin(const Session& session, const std::optional<protocol::ProgressToken>& token,
                    const std::string& title) {
  if (!token) return;
  protocol::WorkDoneProgressBegin begin;
  begin.title = title;
  session.connection->notify("$/progress", protocol::ProgressParams{.token = *token, .value = begin});
}

void progress_end(const Session& session, const std::optional<protocol::ProgressToken>& token,
                  const std::string& message) {
  if (!token) return;
  protocol::WorkDoneProgressEnd end;
  if (!message.empty()) end.message = message;
  session.connection->notify("$/progress", protocol::ProgressParams{.token = *token, .value = end});
}

}  // namespace escrow::server::lsp
