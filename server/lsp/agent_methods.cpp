#include "server/lsp/agent_methods.h"

#include <algorithm>
#include <boost/json.hpp>

#include "protocol/escrow_methods.h"
#include "server/clock.h"
#include "server/hash.h"
#include "server/lsp/binder.h"
#include "server/lsp/from_protocol.h"
#include "server/lsp/progress.h"
#include "server/lsp/session.h"
#include "server/lsp/to_protocol.h"

namespace escrow::server::lsp {
namespace {

namespace method = protocol::method;

constexpr std::size_t kMaxRead = std::size_t{1} << 20;

/// What makes two requests with one callId the same request. How long the caller waits is not part of it.
std::string body_hash(const protocol::ToolCallParams& params) {
  protocol::ToolCallParams body = params;
  body.wait.reset();
  body.timeoutMs.reset();
  body.workDoneToken.reset();
  return sha256_hex(boost::json::serialize(protocol::to_json(body)));
}

/// What the probe found that this host can hold. What really held, memory included, is named when the command has
/// ended.
protocol::Enforcement expected_enforcement(const sandbox::Probe& probe, sandbox::Writable writable) {
  protocol::Enforcement wire{
      .backend = "bubblewrap", .level = "sandbox", .layers = {}, .writable = "overlay", .memory = ""};
  wire.layers = {"userns", "mountns", "pidns", "netns", "ipcns", "utsns"};
  if (probe.seccomp) wire.layers.emplace_back("seccomp");
  if (probe.landlock_abi >= 2) wire.layers.emplace_back("landlock");
  if (writable == sandbox::Writable::none) wire.writable = "none";
  if (writable == sandbox::Writable::direct) wire.writable = "direct";
  if (writable == sandbox::Writable::overlay && !probe.overlay) wire.writable = "copy";
  return wire;
}

/// Answers a reply with a result or an error; shared, since a broker's reply is a copyable function.
template <class Wire>
auto answer_with(Reply reply, Wire to_wire_value) {
  auto shared = std::make_shared<Reply>(std::move(reply));
  return [shared, to_wire_value](auto result) {
    if (!result) return shared->error(to_wire(result.error()));
    (*shared)(to_wire_value(*result));
  };
}

}  // namespace

void AgentMethods::bind(Binder& binder) {
  binder.request(method::kAgentRegister, this, &AgentMethods::register_agent);
  binder.request(method::kAgentEnd, this, &AgentMethods::end);
  binder.request(method::kToolCall, this, &AgentMethods::tool_call);
  binder.request(method::kProposeDiff, this, &AgentMethods::propose);
  binder.request(method::kApply, this, &AgentMethods::apply);
  binder.request(method::kExecute, this, &AgentMethods::execute);
  binder.request(method::kExecuteWait, this, &AgentMethods::wait);
  binder.request(method::kExecuteRead, this, &AgentMethods::read);
  binder.request(method::kExecuteWrite, this, &AgentMethods::write);
  binder.request(method::kExecuteKill, this, &AgentMethods::kill);
}

void AgentMethods::register_agent(const protocol::RegisterParams& params, Reply reply) {
  AgentInfo info{
      .name = params.name, .version = params.version.value_or(""), .session = params.session.value_or(""), .roots = {}};
  for (const auto& uri : params.roots.value_or(std::vector<std::string>())) {
    const auto path = file_path_from(uri);
    if (!path) return reply.error(to_wire(path.error()));
    info.roots.push_back(*path);
  }
  const auto agent = session_.broker->register_agent(std::move(info));
  reply(protocol::RegisterResult{.agentId = agent.credential.agent_id,
                                 .token = agent.credential.token,
                                 .policyVersion = session_.broker->policy().version});
}

void AgentMethods::end(const protocol::EndParams& params, Reply reply) {
  const auto ended = session_.broker->end_agent(credential_from(params));
  if (!ended) return reply.error(to_wire(ended.error()));
  reply(nullptr);
}

void AgentMethods::tool_call(const protocol::ToolCallParams& params, Reply reply) {
  auto action = action_from(params.subject);
  if (!action) return reply.error(to_wire(action.error()));
  if (params.document) session_.documents.touch(*params.document);
  ToolCallRequest request;
  request.agent = credential_from(params);
  request.call_id = params.callId;
  request.tool = params.tool;
  request.action = std::move(*action);
  request.runner = params.runner == protocol::Runner::escrow ? Runner::escrow : Runner::agent;
  if (params.autonomy) request.autonomy = static_cast<engine::Autonomy>(*params.autonomy);
  request.wait = params.wait == protocol::Wait::human ? Wait::human : Wait::none;
  request.timeout_ms = params.timeoutMs;
  request.body_hash = body_hash(params);
  reply.on_cancel([this, agent = params.agentId, call = params.callId] { session_.broker->cancel_call(agent, call); });
  progress_begin(session_, params.workDoneToken, "Escrow: " + params.tool);
  auto answer = answer_with(std::move(reply), [](const ToolCallAnswer& result) { return to_wire(result); });
  session_.broker->tool_call(std::move(request),
                             [this, token = params.workDoneToken, answer](Result<ToolCallAnswer> result) {
                               progress_end(session_, token, "");
                               answer(std::move(result));
                             });
}

void AgentMethods::propose(const protocol::ProposeDiffParams& params, Reply reply) {
  auto request = proposal_from(params, session_, sha256_hex(boost::json::serialize(protocol::to_json(params))));
  if (!request) return reply.error(to_wire(request.error()));
  const auto review = session_.broker->propose(std::move(*request));
  if (!review) return reply.error(to_wire(review.error()));
  reply(review_to_wire(session_, *review));
}

/// An agent with its credential applies its own approved review; the person applies with a nonce.
void AgentMethods::apply(const protocol::ApplyParams& params, Reply reply) {
  const auto review = session_.broker->review(params.reviewId);
  if (!review) return reply.error(to_wire(review.error()));
  auto answer = answer_with(std::move(reply), [this, root = review->root](const ApplyOutcome& outcome) {
    return to_wire(session_, outcome, root);
  });
  if (params.agentId || params.token) {
    const Credential agent{.agent_id = params.agentId.value_or(""), .token = params.token.value_or("")};
    return session_.broker->apply_by_agent(agent, params.reviewId, params.revision, params.save.value_or(false),
                                           answer);
  }
  const auto fine = session_.broker->nonces().spend(params.nonce.value_or(""), params.reviewId, params.revision,
                                                    std::string(protocol::command::kApply), now_ms());
  if (!fine) return answer(Result<ApplyOutcome>(fine.error()));
  session_.broker->apply(params.reviewId, params.revision, params.save.value_or(false), answer);
}

void AgentMethods::execute(const protocol::ExecuteParams& params, Reply reply) {
  auto request = execution_from(params);
  if (!request) return reply.error(to_wire(request.error()));
  if (const auto agent = session_.broker->check_agent(request->agent); !agent)
    return reply.error(to_wire(agent.error()));
  if (request->execution_token.empty()) return execute_judged(params, std::move(*request), std::move(reply));
  start(std::move(*request), params.workDoneToken, std::move(reply));
}

/// Without a token the command is judged here, as a toolCall of the same callId would be; what is not allowed is
/// answered as a decision, and nothing runs.
void AgentMethods::execute_judged(const protocol::ExecuteParams& params, ExecuteRequest request, Reply reply) {
  ToolCallRequest call;
  call.agent = request.agent;
  call.call_id = request.call_id;
  call.tool = "execute";
  call.action = request.action;
  call.runner = Runner::escrow;
  call.autonomy = request.autonomy;
  call.body_hash = sha256_hex(engine::canonical_text(request.action));
  auto shared = std::make_shared<Reply>(std::move(reply));
  session_.broker->tool_call(std::move(call), [this, shared, token = params.workDoneToken,
                                               request = std::move(request)](Result<ToolCallAnswer> answer) mutable {
    if (!answer) return shared->error(to_wire(answer.error()));
    if (answer->outcome == ToolCallAnswer::Outcome::allow) {
      request.execution_token = answer->execution_token;
      return start(std::move(request), token, std::move(*shared));
    }
    (*shared)(to_wire(*answer));
  });
}

void AgentMethods::start(ExecuteRequest request, const std::optional<protocol::ProgressToken>& token, Reply reply) {
  const std::string title = engine::describe(request.action);
  const sandbox::Writable writable = request.writable;
  const auto started = session_.broker->execute(std::move(request));
  if (!started) return reply.error(to_wire(started.error()));
  streams_[started->exec_id].progress = token;
  progress_begin(session_, token, "Escrow: " + title);
  protocol::ExecuteStarted wire;
  wire.execId = started->exec_id;
  wire.enforcement = expected_enforcement(*session_.probe, writable);
  wire.backend = wire.enforcement.backend;
  wire.startedAt = started->started_ms;
  reply(protocol::to_json(protocol::ExecuteResult(wire)));
}

void AgentMethods::wait(const protocol::ExecuteWaitParams& params, Reply reply) {
  auto shared = std::make_shared<Reply>(std::move(reply));
  shared->on_cancel([weak = std::weak_ptr<Reply>(shared)] {
    if (const auto waiting = weak.lock()) waiting->cancelled();
  });
  session_.broker->wait_execution(params.execId, params.timeoutMs,
                                  [this, shared](Result<const FinishedExecution*> result) {
                                    if (!*shared) return;  // cancelled meanwhile
                                    if (!result) return shared->error(to_wire(result.error()));
                                    if (*result == nullptr) return (*shared)(nullptr);
                                    (*shared)(to_wire(session_, **result));
                                  });
}

void AgentMethods::read(const protocol::ExecuteReadParams& params, Reply reply) {
  if (params.offset < 0) return reply.error(protocol::kInvalidParams, "params.offset: expected 0 or more");
  const auto stream = params.stream == protocol::OutputStream::err ? sandbox::Stream::err : sandbox::Stream::out;
  const auto max = static_cast<std::size_t>(std::clamp<std::int64_t>(params.max.value_or(kMaxRead), 1, kMaxRead));
  const auto bytes =
      session_.broker->read_output(params.execId, stream, static_cast<std::uint64_t>(params.offset), max);
  if (!bytes) return reply.error(to_wire(bytes.error()));
  const bool ended = session_.broker->finished(params.execId) != nullptr;
  const std::size_t held = bytes->size() == max || !ended ? unfinished_tail(*bytes) : 0;
  const std::string_view whole = std::string_view(*bytes).substr(0, bytes->size() - held);
  protocol::ExecuteReadResult wire;
  std::tie(wire.data, wire.encoding) = to_text(whole);
  wire.offset = params.offset;
  wire.nextOffset = params.offset + static_cast<std::int64_t>(whole.size());
  wire.end = ended && bytes->size() < max;
  reply(wire);
}

void AgentMethods::write(const protocol::ExecuteWriteParams& params, Reply reply) {
  const auto [bytes, fine] = from_text(params.data, params.encoding.value_or(protocol::Encoding::utf8));
  if (!fine) return reply.error(protocol::kInvalidParams, "params.data: not base64");
  const auto written = session_.broker->write_execution(params.execId, bytes, params.eof.value_or(false));
  if (!written) return reply.error(to_wire(written.error()));
  reply(nullptr);
}

void AgentMethods::kill(const protocol::ExecuteKillParams& params, Reply reply) {
  const auto killed = session_.broker->kill_execution(params.execId);
  if (!killed) return reply.error(to_wire(killed.error()));
  reply(nullptr);
}

void AgentMethods::send_output(const std::string& exec_id, protocol::ExecuteOutputParams params) {
  if (params.data.empty() || !session_.wants("exec")) return;
  params.execId = exec_id;
  params.seq = streams_[exec_id].seq++;
  session_.connection->notify(protocol::notification::kExecuteOutput, params);
}

void AgentMethods::output(const std::string& exec_id, sandbox::Stream stream, std::string_view bytes) {
  auto& streams = streams_[exec_id];
  auto& side = stream == sandbox::Stream::err ? streams.err : streams.out;
  send_output(exec_id, side.take(bytes, false));
}

void AgentMethods::exited(const FinishedExecution& finished) {
  auto& streams = streams_[finished.exec_id];
  send_output(finished.exec_id, streams.out.take({}, true));
  send_output(finished.exec_id, streams.err.take({}, true));
  progress_end(session_, streams.progress, "");
  streams_.erase(finished.exec_id);
  if (session_.wants("exec")) {
    session_.connection->notify(protocol::notification::kExecuteExited, to_wire(session_, finished));
  }
}

}  // namespace escrow::server::lsp
