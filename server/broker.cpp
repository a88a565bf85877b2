#include "server/broker.h"

#include <algorithm>
#include <boost/json.hpp>

#include "engine/redact.h"
#include "server/broker_state.h"
#include "server/clock.h"
#include "server/execution_limits.h"
#include "server/review/finding.h"
#include "server/workspace/repository.h"

namespace escrow::server {

Broker::Broker(boost::asio::io_context& loop, sandbox::Executor& executor, UserTree& tree, Editor& editor,
               Options options, BrokerEvents events)
    : loop_(loop),
      executor_(executor),
      tree_(tree),
      editor_(editor),
      options_(std::move(options)),
      events_(std::move(events)),
      grants_(options_.grants_file),
      audit_(options_.state_dir + "/audit.jsonl"),
      store_(options_.state_dir + "/reviews") {
  for (const auto& problem : tree_.recover()) record("recover", {{"problem", problem}});
  store_.sweep(now_ms() - 7 * options_.policy.review_expiry_ms);
}

Broker::~Broker() = default;

RegisteredAgent Broker::register_agent(AgentInfo info) {
  const std::string name = engine::one_line(info.name, 80);
  info.name = name;
  RegisteredAgent agent = agents_.add(std::move(info));
  record("agent.register", {{"agent", name}, {"agentId", agent.credential.agent_id}, {"session", agent.session}});
  // Whoever registers is about to ask for something.
  for (const auto& root : options_.roots) executor_.prepare(base_profile(root, "default"));
  return agent;
}

Result<void> Broker::end_agent(const Credential& agent) {
  const auto info = agents_.find(agent);
  if (!info) return info.error();
  const std::string session = (*info)->session;
  std::vector<std::pair<std::string, std::string>> waiting;
  for (const auto& [id, call] : pending_) {
    for (const auto& each : call->waiting) {
      if (each.request.agent.agent_id == agent.agent_id) waiting.emplace_back(agent.agent_id, each.request.call_id);
    }
  }
  for (const auto& [agent_id, call_id] : waiting) cancel_call(agent_id, call_id);
  grants_.end_session(session);
  for (const auto& [id, live] : executions_) {
    if (live->request.agent.agent_id == agent.agent_id && !live->finished && live->running) live->running->kill();
  }
  for (const auto& root : options_.roots) {
    const std::string stage = stage_of({}, {.agent_id = agent.agent_id}, root);
    stage_reviews_.erase(stage);
    executor_.end_session(stage);
  }
  std::erase_if(tokens_, [&](const auto& token) { return token.second->agent_id == agent.agent_id; });
  agents_.remove(agent.agent_id);
  record("agent.end", {{"agentId", agent.agent_id}});
  return {};
}

void Broker::record(const std::string& event, const boost::json::object& fields) {
  // A full disk must not stop the person's work, and must not stay unseen either: the front shows the note.
  if (auto kept = audit_.append(event, fields); !kept && events_.on_trouble) {
    events_.on_trouble("the audit log could not be written: " + kept.error().message);
  }
  sync_audit_soon();
}

/// One fsync for all that is recorded in this span, instead of one each.
constexpr std::chrono::milliseconds kAuditSyncSpan{200};

void Broker::sync_audit_soon() {
  if (*sync_planned_) return;
  *sync_planned_ = true;
  auto timer = std::make_shared<boost::asio::steady_timer>(loop_, kAuditSyncSpan);
  timer->async_wait([this, timer, planned = std::weak_ptr<bool>(sync_planned_)](boost::system::error_code stopped) {
    const auto alive = planned.lock();
    if (stopped || !alive) return;
    *alive = false;
    if (auto synced = audit_.sync(); !synced && events_.on_trouble) events_.on_trouble(synced.error().message);
  });
}

void Broker::changed() {
  if (events_.on_findings_changed) events_.on_findings_changed();
}

void Broker::announce(const Review& review) {
  if (events_.on_review_changed) events_.on_review_changed(review);
  changed();
}

std::string Broker::root_for(const std::string& path) const {
  std::string best;
  for (const auto& root : options_.roots) {
    const bool inside = path == root || path.compare(0, root.size() + 1, root + "/") == 0;
    if (inside && root.size() > best.size()) best = root;
  }
  return best;
}

void Broker::set_roots(std::vector<std::string> roots) {
  options_.roots = std::move(roots);
}

void Broker::set_policy(engine::Policy policy) {
  options_.policy = std::move(policy);
  options_.limits = execution_limits(options_.policy);
  record("policy", {{"version", options_.policy.version}, {"mode", engine::name_of(options_.policy.mode)}});
  recheck_pending();
}

void Broker::set_locked(bool locked) {
  locked_ = locked;
  record(locked ? "lock" : "unlock", {});
  changed();
  if (!locked) return;
  std::vector<std::string> ids;
  for (const auto& [id, call] : pending_) ids.push_back(id);
  for (const auto& id : ids) (void)answer_call(id, 0, Answer::deny, "locked by the person");
  for (const auto& id : running_executions()) (void)kill_execution(id);
}

Result<engine::Grant> Broker::grant(engine::Grant grant) {
  grant.created_ms = now_ms();
  if (grant.scope == engine::Scope::workspace && grant.workspace.empty() && !options_.roots.empty()) {
    grant.workspace = workspace_key(options_.roots.front());
  }
  auto added = grants_.add(std::move(grant));
  if (!added) return added;
  record("grant", {{"id", added->id},
                   {"effect", engine::name_of(added->effect)},
                   {"tool", added->tool},
                   {"match", engine::redact(added->match)},
                   {"scope", engine::name_of(added->scope)},
                   {"by", added->by}});
  if (events_.on_grants_changed) events_.on_grants_changed();
  recheck_pending();
  return added;
}

Result<bool> Broker::revoke(const std::string& grant_id) {
  auto revoked = grants_.revoke(grant_id);
  if (!revoked || !*revoked) return revoked;
  record("grant.revoke", {{"id", grant_id}});
  if (events_.on_grants_changed) events_.on_grants_changed();
  return revoked;
}

Result<std::size_t> Broker::revoke_all() {
  auto count = grants_.revoke_all();
  if (!count) return count;
  record("grant.revokeAll", {{"count", *count}});
  if (events_.on_grants_changed) events_.on_grants_changed();
  return count;
}

Result<engine::Grant> Broker::take_remedy(const std::string& remedy_id) {
  const auto found = std::find_if(remedies_.begin(), remedies_.end(),
                                  [&](const OpenRemedy& remedy) { return remedy.id == remedy_id; });
  if (found == remedies_.end()) return Error{ErrorKind::not_found, "this remedy was already taken"};
  const engine::Grant wanted = found->remedy.grant;
  remedies_.erase(found);
  auto added = grant(wanted);
  changed();
  return added;
}

Result<void> Broker::dismiss_remedy(const std::string& remedy_id) {
  const auto gone = std::erase_if(remedies_, [&](const OpenRemedy& remedy) { return remedy.id == remedy_id; });
  if (gone == 0) return Error{ErrorKind::not_found, "this remedy was already taken"};
  record("remedy.dismiss", {{"remedyId", remedy_id}});
  changed();
  return {};
}

void Broker::close() {
  const Error closing{ErrorKind::cancelled, "Escrow is shutting down"};
  while (!pending_.empty()) settle(*pending_.begin()->second, 0, closing);
  for (auto& [id, live] : executions_) {
    for (auto& reply : std::exchange(live->waiting, {})) reply(closing);
  }
}

std::vector<engine::Grant> Broker::grants() {
  return grants_.current(now_ms());
}

Result<Review> Broker::review(const std::string& id) {
  if (const auto call = pending_.find(id); call != pending_.end()) return call->second->review;
  return store_.get(id);
}

std::shared_ptr<const Review> Broker::find_review(const std::string& id) const {
  if (const auto call = pending_.find(id); call != pending_.end()) {
    return std::shared_ptr<const Review>(std::shared_ptr<void>(), &call->second->review);
  }
  return store_.find(id);
}

std::vector<std::shared_ptr<const Review>> Broker::settled_reviews() const {
  std::vector<std::shared_ptr<const Review>> all;
  for (const auto& root : options_.roots) {
    auto settled = store_.settled(root);
    all.insert(all.end(), settled.begin(), settled.end());
  }
  return all;
}

std::vector<Review> Broker::reviews() {
  std::vector<Review> all;
  for (const auto& [id, call] : pending_) all.push_back(call->review);
  for (const auto& root : options_.roots) {
    auto stored = store_.list(root);
    all.insert(all.end(), std::make_move_iterator(stored.begin()), std::make_move_iterator(stored.end()));
  }
  return all;
}

std::size_t Broker::pending_count() {
  std::size_t count = pending_.size();
  for (const auto& root : options_.roots) {
    for (const auto& review : store_.open(root)) count += review->state == ReviewState::pending ? 1 : 0;
  }
  return count;
}

std::vector<Finding> Broker::findings() {
  std::vector<Finding> found;
  for (const auto& [id, call] : pending_) append_findings(call->review, found);
  for (const auto& root : options_.roots) {
    for (const auto& review : store_.open(root)) append_findings(*review, found);
  }
  if (locked_) {
    found.push_back({.severity = engine::Level::medium,
                     .rule = "locked",
                     .message = "Escrow is locked: everything agents ask is denied"});
  }
  for (const auto& remedy : remedies_) {
    found.push_back({.severity = engine::Level::medium,
                     .rule = "egress-refused",
                     .message = "The sandbox refused a connection. " + remedy.remedy.title + "?",
                     .remedy_id = remedy.id});
  }
  return found;
}

engine::Evaluation Broker::explain(const engine::Action& action, engine::Venue venue,
                                   std::optional<engine::Autonomy> autonomy) {
  return judge_call({.agent_id = {}, .name = {}, .session = {}, .call_id = {}, .autonomy = autonomy}, action, venue);
}

engine::PatchEvaluation Broker::judge_patch_text(std::string_view text) const {
  return engine::evaluate(engine::parse_diff(text), {}, options_.policy);
}

}  // namespace escrow::server
