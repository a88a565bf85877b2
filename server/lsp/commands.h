#pragma once

#include <string>

#include "protocol/escrow_commands.h"
#include "protocol/lsp_window.h"
#include "protocol/lsp_workspace.h"
#include "server/broker.h"
#include "server/lsp/findings_view.h"
#include "server/lsp/reply.h"

namespace escrow::server::lsp {

struct Session;

/// workspace/executeCommand: what a person's click does.
///
/// The nonce is checked before anything else; a command that may take a while answers null at once and reports by
/// message or progress, since some clients block until the answer and give up after ten seconds.
class Commands {
 public:
  Commands(Session& session, FindingsView& view) : session_(session), view_(view) {}

  void execute(const protocol::ExecuteCommandParams& params, Reply reply);

 private:
  Result<void> run(const protocol::ExecuteCommandParams& params, const boost::json::value& argument);
  Result<void> run_matter(const std::string& command, const protocol::MatterArgument& matter,
                          const std::optional<protocol::ProgressToken>& token);
  Result<void> answer(const protocol::MatterArgument& matter, Answer answer);
  Result<void> show(const protocol::MatterArgument& matter);
  Result<void> apply(const protocol::MatterArgument& matter, const std::optional<protocol::ProgressToken>& token);
  Result<void> undo(const protocol::UndoArgument& argument, const std::optional<protocol::ProgressToken>& token);
  Result<void> take_remedy(const protocol::RemedyArgument& argument);
  Result<void> set_locked(const protocol::LockArgument& argument);
  Result<void> spend(const std::string& nonce, const std::string& subject, int revision, const std::string& verb);
  std::function<void(Result<ApplyOutcome>)> report(const std::string& verb,
                                                   const std::optional<protocol::ProgressToken>& token);
  void tell(protocol::MessageType type, const std::string& text);

  Session& session_;
  FindingsView& view_;
};

}  // namespace escrow::server::lsp
