// Tool calls: judged at once, or held until a person answers.
//
// A call that must be asked about becomes a Review of kind `call` in `pending_`. Identical calls of one agent wait in
// one line behind a single question. *Allow once* answers the first of them only; a remembered answer is a grant, and
// every pending call is judged again under it. Time running out is a deny.

#include <algorithm>
#include <boost/json.hpp>

#include "engine/redact.h"
#include "server/broker.h"
#include "server/broker_state.h"
#include "server/clock.h"
#include "server/hash.h"
#include "server/workspace/beneath.h"
#include "server/workspace/repository.h"

namespace escrow::server {
namespace {

constexpr std::int64_t kTokenLifeMs = 10 * 60 * 1000;

std::string cwd_of(const engine::Action& action) {
  if (const auto* shell = std::get_if<engine::ShellAction>(&action)) return shell->cwd;
  if (const auto* exec = std::get_if<engine::ExecAction>(&action)) return exec->cwd;
  return {};
}

bool is_command(const engine::Action& action) {
  return std::holds_alternative<engine::ShellAction>(action) || std::holds_alternative<engine::ExecAction>(action);
}

/// The grant's tool name for an action: what `escrow grants allow TOOL` takes.
std::string tool_of(const engine::Action& action, const std::string& agents_name) {
  if (is_command(action)) return "shell";
  if (std::holds_alternative<engine::FileAction>(action)) return "file";
  if (std::holds_alternative<engine::NetworkAction>(action)) return "network";
  if (std::holds_alternative<engine::McpAction>(action)) return "mcp";
  return agents_name;
}

engine::Decision fixed_deny(engine::Decision judged, const std::string& clause, const std::string& reason) {
  judged.verdict = engine::Verdict::deny;
  judged.clause = clause;
  judged.reason = reason;
  judged.for_agent = reason;
  return judged;
}

ToolCallAnswer denied(const engine::Decision& decision) {
  return {.outcome = ToolCallAnswer::Outcome::deny, .decision = decision};
}

/// `observe` and `disabled` stop nothing, and say so on every answer.
void apply_mode(engine::Decision& decision, engine::Mode mode) {
  if (mode == engine::Mode::enforce) return;
  const std::string says = "mode " + std::string(engine::name_of(mode)) + ": nothing was enforced";
  if (decision.verdict == engine::Verdict::allow) {
    decision.reason = says + ". " + decision.reason;
    return;
  }
  const std::string would = decision.verdict == engine::Verdict::deny ? "denied" : "asked about";
  decision.reason = says + "; this would have been " + would + " (" + decision.clause + ")";
  decision.verdict = engine::Verdict::allow;
}

}  // namespace

namespace {

/// The engine knows no disk: a link in a repository must not make a key look like a note.
engine::Action with_links_followed(const engine::Action& action, const std::string& root) {
  const auto* file = std::get_if<engine::FileAction>(&action);
  if (file == nullptr) return action;
  engine::FileAction real = *file;
  for (auto& path : real.paths) path = follow_links(root, path);
  if (!real.to.empty()) real.to = follow_links(root, real.to);
  return engine::Action(std::move(real));
}

constexpr std::chrono::milliseconds kLookAgain{500};

/// Until the timer goes, which may be during the action itself.
void repeat(boost::asio::steady_timer& timer, const std::function<void()>& action) {
  timer.expires_after(kLookAgain);
  timer.async_wait([&timer, action](boost::system::error_code stopped) {
    if (stopped) return;
    repeat(timer, action);
    action();
  });
}

}  // namespace

/// Where an action belongs: a grant or a rule of a workspace counts for what names no directory, too.
std::string Broker::root_of(const engine::Action& action) const {
  std::string place = cwd_of(action);
  if (const auto* file = std::get_if<engine::FileAction>(&action); file != nullptr && !file->paths.empty()) {
    place = file->paths.front();
  }
  const std::string root = root_for(place);
  if (!root.empty() || is_command(action) || options_.roots.empty()) return root;
  return options_.roots.front();
}

engine::Evaluation Broker::judge_call(const Asker& asker, const engine::Action& action, engine::Venue venue) {
  const std::string root = root_of(action);
  const engine::Autonomy wanted = asker.autonomy.value_or(options_.policy.autonomy);
  const engine::Autonomy autonomy =
      options_.policy.autonomy_capped ? std::min(wanted, options_.policy.autonomy) : wanted;
  const std::int64_t now = now_ms();
  const bool uncertain = grants_.uncertain();
  const engine::ActionContext context{.venue = venue,
                                      .autonomy = autonomy,
                                      .workspace_root = root,
                                      .home = options_.home,
                                      .git_config_runs_programs = !root.empty() && config_runs_programs(root),
                                      .grants = {},
                                      .grant_index = &grants_.index(),
                                      .grants_uncertain = uncertain,
                                      .grant_context = {.workspace = root.empty() ? std::string() : workspace_key(root),
                                                        .session = asker.session,
                                                        .call_id = asker.call_id,
                                                        .subject_hash = sha256_hex(engine::canonical_text(action)),
                                                        .autonomy = autonomy,
                                                        .now_ms = now}};
  engine::Evaluation evaluation = engine::evaluate(with_links_followed(action, root), context, options_.policy);
  if (locked_) {
    evaluation.decision = fixed_deny(evaluation.decision, "locked", "Escrow is locked: the person unlocks it first");
    return evaluation;
  }
  apply_mode(evaluation.decision, options_.policy.mode);
  return evaluation;
}

/// The id, if the grant is one that stays when it was used.
std::string Broker::lasting_grant(const std::string& id) {
  for (const auto& grant : grants_.current(now_ms())) {
    if (grant.id == id && grant.scope != engine::Scope::once) return id;
  }
  return {};
}

ToolCallAnswer Broker::answer_allow(const Asker& asker, const engine::Action& action,
                                    const engine::Decision& decision) {
  ToolCallAnswer answer{.outcome = ToolCallAnswer::Outcome::allow, .decision = decision};
  answer.expires_ms = now_ms() + kTokenLifeMs;
  if (!is_command(action)) return answer;
  std::erase_if(tokens_, [&](const auto& token) { return token.second->expires_ms < now_ms(); });
  answer.execution_token = random_token();
  tokens_[answer.execution_token] =
      std::make_unique<Token>(Token{.agent_id = asker.agent_id,
                                    .subject_hash = sha256_hex(engine::canonical_text(action)),
                                    .grant_id = lasting_grant(decision.grant_id),
                                    .profile = answer.profile,
                                    .network = answer.network,
                                    .expires_ms = answer.expires_ms});
  return answer;
}

void Broker::tool_call(ToolCallRequest request, Reply<ToolCallAnswer> reply) {
  const auto agent = agents_.find(request.agent);
  if (!agent) return reply(agent.error());
  const std::string key = call_key(request.agent.agent_id, request.call_id);
  const auto fresh = agents_.claim_call(request.agent.agent_id, request.call_id, request.body_hash);
  if (!fresh) return reply(fresh.error());
  if (!*fresh) return repeat_call(key, request.wait, std::move(reply));

  const Asker asker{.agent_id = request.agent.agent_id,
                    .name = (*agent)->name,
                    .session = (*agent)->session,
                    .call_id = request.call_id,
                    .autonomy = request.autonomy};
  const engine::Venue venue = request.runner == Runner::escrow ? engine::Venue::cage : engine::Venue::host;
  const auto evaluation = judge_call(asker, request.action, venue);
  const engine::Decision& decision = evaluation.decision;
  record("decision", {{"agent", asker.name},
                      {"session", asker.session},
                      {"callId", request.call_id},
                      {"subject", engine::redact(engine::describe(request.action))},
                      {"verdict", engine::name_of(decision.verdict)},
                      {"level", engine::name_of(decision.risk.level)},
                      {"score", decision.risk.score},
                      {"clause", decision.clause},
                      {"grant", decision.grant_id},
                      {"venue", engine::name_of(venue)},
                      {"mode", engine::name_of(options_.policy.mode)}});
  switch (decision.verdict) {
    case engine::Verdict::allow:
      if (!decision.grant_id.empty()) grants_.spend(decision.grant_id);
      return finish_call(key, answer_allow(asker, request.action, decision), reply);
    case engine::Verdict::deny:
      return finish_call(key, denied(decision), reply);
    case engine::Verdict::prompt:
      return wait_for_person(std::move(request), asker, decision, reply);
  }
}

void Broker::finish_call(const std::string& key, ToolCallAnswer answer, const Reply<ToolCallAnswer>& reply) {
  answers_.insert_or_assign(key, answer);
  reply(std::move(answer));
}

void Broker::repeat_call(const std::string& key, Wait wait, Reply<ToolCallAnswer> reply) {
  if (const auto known = answers_.find(key); known != answers_.end()) return reply(known->second);
  const auto waiting = call_state_.find(key);
  if (waiting == call_state_.end()) return reply(Error{ErrorKind::cancelled, "this call was withdrawn"});
  PendingCall& call = *pending_.at(waiting->second);
  if (wait == Wait::none) return reply(pending_answer(call));
  for (auto& each : call.waiting) {
    if (call_key(each.request.agent.agent_id, each.request.call_id) == key)
      return each.replies.push_back(std::move(reply));
  }
}

ToolCallAnswer Broker::pending_answer(const PendingCall& call) const {
  return {.outcome = ToolCallAnswer::Outcome::pending,
          .decision = *call.review.decision,
          .expires_ms = call.review.expires_ms,
          .review_id = call.review.id,
          .revision = call.review.revision};
}

void Broker::wait_for_person(ToolCallRequest request, const Asker& asker, const engine::Decision& decision,
                             const Reply<ToolCallAnswer>& reply) {
  const std::string key = call_key(asker.agent_id, request.call_id);
  if (!editor_.has_person()) {
    return finish_call(key,
                       denied(fixed_deny(decision, "review.nobody",
                                         "this needs a person's consent, and no editor is open to ask one")),
                       reply);
  }
  const auto waiting =
      static_cast<std::size_t>(std::count_if(call_state_.begin(), call_state_.end(), [&](const auto& entry) {
        return entry.first.compare(0, asker.agent_id.size() + 1, asker.agent_id + "\n") == 0;
      }));
  if (waiting >= options_.max_pending_per_agent) {
    return finish_error(
        key,
        {ErrorKind::limit_exceeded,
         std::to_string(waiting) + " calls of this agent already wait for a person: wait for an answer"},
        reply);
  }
  PendingCall& call = question_for(request, asker, decision);
  const std::string review_id = call.review.id;
  call_state_[key] = review_id;
  auto timer = std::make_unique<boost::asio::steady_timer>(loop_);
  const std::int64_t patience =
      std::min(request.timeout_ms.value_or(options_.decision_timeout_ms), options_.decision_timeout_ms);
  timer->expires_after(std::chrono::milliseconds(std::max<std::int64_t>(patience, 0)));
  timer->async_wait([this, review_id, key](boost::system::error_code stopped) {
    if (!stopped) expire_call(review_id, key);
  });
  const bool holds_line = request.wait == Wait::human;
  PendingCall::Waiting entry{.request = std::move(request), .replies = {}, .timer = std::move(timer)};
  if (holds_line) entry.replies.push_back(reply);
  call.waiting.push_back(std::move(entry));
  changed();  // before the answer, so that who asks for code actions on hearing it finds them
  if (!holds_line) reply(pending_answer(call));
  if (call.waiting.size() == 1 && events_.on_pending) events_.on_pending(call.review);
}

Broker::PendingCall& Broker::question_for(const ToolCallRequest& request, const Asker& asker,
                                          const engine::Decision& decision) {
  const std::string subject =
      sha256_hex(engine::canonical_text(request.action)) + (request.runner == Runner::escrow ? "/cage" : "/host");
  for (auto& [id, call] : pending_) {
    if (call->subject_hash == subject && call->review.agent_id == asker.agent_id) return *call;
  }
  auto call = std::make_unique<PendingCall>();
  call->subject_hash = subject;
  Review& review = call->review;
  review.id = "c-" + random_token().substr(0, 12);
  review.kind = ReviewKind::call;
  review.root = root_of(request.action);
  review.agent = asker.name;
  review.agent_id = asker.agent_id;
  review.session = asker.session;
  review.call_id = request.call_id;
  review.title = engine::redact(engine::describe(request.action));
  review.origin = "toolCall";
  review.created_ms = review.updated_ms = now_ms();
  review.expires_ms = review.created_ms + options_.decision_timeout_ms;
  review.risk = decision.risk;
  review.action = request.action;
  review.decision = decision;
  review.cwd = cwd_of(request.action);
  call->look_again = std::make_unique<boost::asio::steady_timer>(loop_);
  repeat(*call->look_again, [this] { recheck_pending(); });
  return *(pending_[review.id] = std::move(call));
}

void Broker::finish_error(const std::string& key, const Error& error, const Reply<ToolCallAnswer>& reply) {
  answers_.insert_or_assign(key, error);
  reply(error);
}

void Broker::settle(PendingCall& call, std::size_t index, const Result<ToolCallAnswer>& answer) {
  auto entry = std::move(call.waiting[index]);
  call.waiting.erase(call.waiting.begin() + static_cast<std::ptrdiff_t>(index));
  const std::string key = call_key(entry.request.agent.agent_id, entry.request.call_id);
  call_state_.erase(key);
  answers_.insert_or_assign(key, answer);
  const std::string review_id = call.review.id;
  if (call.waiting.empty()) {
    pending_.erase(review_id);
  } else {
    // Who still waits is asked about again, under a new revision: the old approval is spent.
    ++call.review.revision;
    call.review.call_id = call.waiting.front().request.call_id;
  }
  for (auto& reply : entry.replies) reply(answer);
}

Result<void> Broker::answer_call(const std::string& review_id, int revision, Answer answer, const std::string& reason) {
  const auto found = pending_.find(review_id);
  if (found == pending_.end()) return Error{ErrorKind::not_found, "this call was already answered"};
  PendingCall& call = *found->second;
  if (revision != 0 && call.review.revision != revision) return moved_on(call.review);
  record("answer", {{"reviewId", review_id},
                    {"agent", call.review.agent},
                    {"subject", call.review.title},
                    {"level", engine::name_of(call.review.risk.level)},
                    {"score", call.review.risk.score},
                    {"clause", call.review.decision->clause},
                    {"answer", answer == Answer::deny              ? "deny"
                               : answer == Answer::allow_once      ? "once"
                               : answer == Answer::allow_session   ? "session"
                               : answer == Answer::allow_workspace ? "workspace"
                                                                   : "user"},
                    {"by", "person, editor"}});
  if (answer == Answer::deny) {
    deny_all(call, reason.empty() ? std::string("the person denied it") : engine::redact(reason));
    changed();
    return {};
  }
  const auto remembered = remember(call.review, answer);
  if (!remembered) return remembered.error();
  recheck_pending();
  return {};
}

void Broker::deny_all(PendingCall& call, const std::string& reason) {
  const engine::Decision decision = fixed_deny(*call.review.decision, "person.deny", reason);
  const std::string review_id = call.review.id;
  while (pending_.contains(review_id)) settle(call, 0, denied(decision));
}

Result<engine::Grant> Broker::remember(const Review& call, Answer answer) {
  engine::Grant grant;
  grant.effect = engine::GrantEffect::allow;
  grant.tool = tool_of(*call.action, "other");
  grant.max_autonomy = engine::Autonomy::high;
  grant.reason = "answered: " + call.title;
  grant.by = "person, editor";
  grant.shown = call.title;
  grant.session = call.session;
  switch (answer) {
    case Answer::deny:
      return Error{ErrorKind::invalid_params, "a denial is not remembered here"};
    case Answer::allow_once:
      grant.scope = engine::Scope::once;
      grant.call_id = call.call_id;
      grant.subject_hash = sha256_hex(engine::canonical_text(*call.action));
      return this->grant(std::move(grant));
    case Answer::allow_session:
      grant.scope = engine::Scope::session;
      break;
    case Answer::allow_workspace:
      grant.scope = engine::Scope::workspace;
      grant.workspace = call.root.empty() ? std::string() : workspace_key(call.root);
      break;
    case Answer::allow_user:
      grant.scope = engine::Scope::user;
      break;
  }
  // A line of several commands takes one grant each, so that each may be revoked alone.
  const auto matches = engine::suggest_matches(*call.action);
  if (matches.empty()) {
    return Error{ErrorKind::invalid_params, "this is too powerful to be remembered: allow it once"};
  }
  Result<engine::Grant> given(Error{});
  for (const auto& match : matches) {
    grant.match = match;
    given = this->grant(grant);
    if (!given) return given;
  }
  return given;
}

void Broker::recheck_pending() {
  std::vector<std::string> ids;
  for (const auto& [id, call] : pending_) ids.push_back(id);
  bool any = false;
  for (const auto& id : ids) {
    // Each caller in the line is judged by its own call id: a `once` grant fits one of them.
    for (std::size_t i = 0; pending_.contains(id) && i < pending_.at(id)->waiting.size();) {
      any = recheck_one(*pending_.at(id), i) || any;
      if (!pending_.contains(id)) break;
    }
  }
  if (any) changed();
}

bool Broker::recheck_one(PendingCall& call, std::size_t& index) {
  const ToolCallRequest& request = call.waiting[index].request;
  const Asker asker{.agent_id = request.agent.agent_id,
                    .name = call.review.agent,
                    .session = call.review.session,
                    .call_id = request.call_id,
                    .autonomy = request.autonomy};
  const auto venue = request.runner == Runner::escrow ? engine::Venue::cage : engine::Venue::host;
  const auto decision = judge_call(asker, request.action, venue).decision;
  switch (decision.verdict) {
    case engine::Verdict::prompt:
      ++index;
      return false;
    case engine::Verdict::deny:
      settle(call, index, denied(decision));
      return true;
    case engine::Verdict::allow:
      if (!decision.grant_id.empty()) grants_.spend(decision.grant_id);
      settle(call, index, answer_allow(asker, request.action, decision));
      return true;
  }
  return false;
}

void Broker::expire_call(const std::string& review_id, const std::string& key) {
  const auto found = pending_.find(review_id);
  if (found == pending_.end()) return;
  PendingCall& call = *found->second;
  for (std::size_t i = 0; i < call.waiting.size(); ++i) {
    const auto& request = call.waiting[i].request;
    if (call_key(request.agent.agent_id, request.call_id) != key) continue;
    record("timeout", {{"reviewId", review_id}, {"callId", request.call_id}});
    settle(call, i, denied(fixed_deny(*call.review.decision, "review.timeout", "nobody answered in time")));
    changed();
    return;
  }
}

void Broker::cancel_call(const std::string& agent_id, const std::string& call_id) {
  const auto waiting = call_state_.find(call_key(agent_id, call_id));
  if (waiting == call_state_.end()) return;
  PendingCall& call = *pending_.at(waiting->second);
  for (std::size_t i = 0; i < call.waiting.size(); ++i) {
    if (call.waiting[i].request.call_id != call_id) continue;
    record("withdrawn", {{"reviewId", call.review.id}, {"callId", call_id}});
    settle(call, i, Error{ErrorKind::cancelled, "withdrawn by the agent"});
    changed();
    return;
  }
}

}  // namespace escrow::server
