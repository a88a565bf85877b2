#pragma once

#include <map>
#include <string>

#include "protocol/escrow.h"
#include "server/broker.h"
#include "server/lsp/exec_output.h"
#include "server/lsp/reply.h"

namespace escrow::server::lsp {

class Binder;
struct Session;

/// What agents call: register, toolCall, proposeDiff, apply, execute. Each carries a credential, and none can approve.
class AgentMethods {
 public:
  explicit AgentMethods(Session& session) : session_(session) {}
  void bind(Binder& binder);

  /// From the broker's events.
  void output(const std::string& exec_id, sandbox::Stream stream, std::string_view bytes);
  void exited(const FinishedExecution& finished);

 private:
  void register_agent(const protocol::RegisterParams& params, Reply reply);
  void end(const protocol::EndParams& params, Reply reply);
  void tool_call(const protocol::ToolCallParams& params, Reply reply);
  void propose(const protocol::ProposeDiffParams& params, Reply reply);
  void apply(const protocol::ApplyParams& params, Reply reply);
  void execute(const protocol::ExecuteParams& params, Reply reply);
  void execute_judged(const protocol::ExecuteParams& params, ExecuteRequest request, Reply reply);
  void start(ExecuteRequest request, const std::optional<protocol::ProgressToken>& token, Reply reply);
  void wait(const protocol::ExecuteWaitParams& params, Reply reply);
  void read(const protocol::ExecuteReadParams& params, Reply reply);
  void write(const protocol::ExecuteWriteParams& params, Reply reply);
  void kill(const protocol::ExecuteKillParams& params, Reply reply);
  void send_output(const std::string& exec_id, protocol::ExecuteOutputParams params);

  struct Streams {
    OutputStream out{sandbox::Stream::out}, err{sandbox::Stream::err};
    std::int64_t seq = 0;
    std::optional<protocol::ProgressToken> progress;
  };
  Session& session_;
  std::map<std::string, Streams> streams_;  ///< by execution id, while it runs
};

}  // namespace escrow::server::lsp
