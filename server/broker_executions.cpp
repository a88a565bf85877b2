// Executions: permitted by a token or a verdict, run in the cage, their changes handed to review.

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "engine/redact.h"
#include "sandbox/mask_walk.h"
#include "server/broker.h"
#include "server/broker_state.h"
#include "server/clock.h"
#include "server/hash.h"
#include "server/workspace/repository.h"

namespace escrow::server {
namespace {

/// Ended executions stay readable; the oldest go when there are more.
constexpr std::size_t kMaxFinished = 64;

struct Place {
  std::vector<std::string> argv;
  std::string cwd;
  std::map<std::string, std::string> env;
};

Result<Place> place_of(const engine::Action& action) {
  if (const auto* shell = std::get_if<engine::ShellAction>(&action)) {
    return Place{.argv = {"/bin/bash", "-c", shell->command}, .cwd = shell->cwd, .env = {}};
  }
  if (const auto* exec = std::get_if<engine::ExecAction>(&action)) {
    if (exec->argv.empty()) return Error{ErrorKind::invalid_params, "argv is empty"};
    return Place{.argv = exec->argv, .cwd = exec->cwd, .env = exec->env};
  }
  return Error{ErrorKind::invalid_params, "only a command can be executed"};
}

/// git reads its configuration from the repository, which is not trusted: what would make it run programs on plain
/// reads is overridden from the environment (git-config(1), GIT_CONFIG_COUNT), never by rewriting argv.
void add_git_environment(std::map<std::string, std::string>& env, const std::string& workspace) {
  const std::vector<std::pair<std::string, std::string>> settings{
      {"core.fsmonitor", "false"}, {"core.pager", "cat"}, {"safe.directory", workspace}};
  env["GIT_CONFIG_COUNT"] = std::to_string(settings.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    env["GIT_CONFIG_KEY_" + std::to_string(i)] = settings[i].first;
    env["GIT_CONFIG_VALUE_" + std::to_string(i)] = settings[i].second;
  }
}

/// The guest sees no home, so git would not know who commits.
void add_commit_identity(std::map<std::string, std::string>& env, const std::string& workspace) {
  const auto [name, email] = commit_identity(workspace);
  for (const std::string role : {"AUTHOR", "COMMITTER"}) {
    if (!name.empty()) env.try_emplace("GIT_" + role + "_NAME", name);
    if (!email.empty()) env.try_emplace("GIT_" + role + "_EMAIL", email);
  }
}

/// Tools that look for a newer version of themselves on every run would be refused on every run, and each refusal
/// offers the person a host to open.
void add_quiet_environment(std::map<std::string, std::string>& env) {
  env.try_emplace("npm_config_update_notifier", "false");
  env.try_emplace("PIP_DISABLE_PIP_VERSION_CHECK", "1");
}

engine::NetworkAction network_action(const std::string& host_port) {
  const auto colon = host_port.rfind(':');
  if (colon == std::string::npos || host_port.find(':') != colon) return {.host = host_port, .port = std::nullopt};
  const std::string port = host_port.substr(colon + 1);
  const bool number = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  if (!number) return {.host = host_port, .port = std::nullopt};
  return {.host = host_port.substr(0, colon), .port = std::stoi(port)};
}

void smaller(sandbox::Limits& limits, const sandbox::Limits& wanted) {
  const auto least = [](std::uint64_t& mine, std::uint64_t theirs) {
    if (theirs != 0) mine = mine == 0 ? theirs : std::min(mine, theirs);
  };
  limits.wall = std::min(limits.wall, wanted.wall);
  if (wanted.cpu) limits.cpu = limits.cpu ? std::min(*limits.cpu, *wanted.cpu) : *wanted.cpu;
  least(limits.memory_bytes, wanted.memory_bytes);
  limits.pids = std::min(limits.pids, wanted.pids);
  if (wanted.file_size_bytes) {
    limits.file_size_bytes = std::min(limits.file_size_bytes.value_or(limits.stage_bytes), *wanted.file_size_bytes);
  }
  least(limits.output_shown_bytes, wanted.output_shown_bytes);
  least(limits.output_kept_bytes, wanted.output_kept_bytes);
  least(limits.stage_bytes, wanted.stage_bytes);
}

std::string artefact_note(const sandbox::TreeChanges& changes, bool kept) {
  if (changes.artefacts.empty()) return {};
  std::string names;
  for (std::size_t i = 0; i < changes.artefacts.size() && i < 5; ++i) {
    names += (i == 0 ? "" : ", ") + engine::one_line(changes.artefacts[i], 60);
  }
  const std::size_t more = changes.artefacts.size() - std::min<std::size_t>(changes.artefacts.size(), 5);
  if (more > 0) names += " and " + std::to_string(more) + " more";
  return "build outputs that git ignores stay in the sandbox" +
         std::string(kept ? ", where later commands of this session see them: " : ": ") + names;
}

bool same_change(const std::vector<ReviewFile>& a, const std::vector<ReviewFile>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ReviewFile& x, const ReviewFile& y) {
    return x.path == y.path && x.old_path == y.old_path && fingerprint(x.before) == fingerprint(y.before) &&
           fingerprint(x.after) == fingerprint(y.after);
  });
}

sandbox::TreeEntry staged_entry(const FileImage& image) {
  sandbox::TreeEntry entry;
  if (!image.exists()) return entry;
  entry.kind = image.kind == ImageKind::symlink ? sandbox::EntryKind::symlink : sandbox::EntryKind::file;
  entry.mode = image.mode;
  entry.content = image.content;
  return entry;
}

}  // namespace

void Broker::record_refusal(const engine::Action& action, const engine::Decision& decision, const std::string& reason) {
  record("refused", {{"subject", engine::redact(engine::describe(action))},
                     {"decision", engine::name_of(decision.verdict)},
                     {"clause", decision.clause},
                     {"reason", engine::redact(reason)}});
}

/// By token, or by a verdict of allow in the cage, or by the person at the terminal.
Result<Broker::Token> Broker::permit(const ExecuteRequest& request, const Asker& asker) {
  const std::string subject = sha256_hex(engine::canonical_text(request.action));
  if (!request.execution_token.empty()) {
    const auto found = tokens_.find(request.execution_token);
    if (found == tokens_.end() || found->second->agent_id != asker.agent_id || found->second->expires_ms < now_ms()) {
      return Error{ErrorKind::role_forbidden,
                   "the execution token is spent, expired or not yours: call escrow/toolCall again"};
    }
    if (found->second->subject_hash != subject) {
      return Error{ErrorKind::role_forbidden,
                   "the execution token was given for another command, directory or environment"};
    }
    Token token = *found->second;
    tokens_.erase(found);
    // What was denied since, or the grant it rests on revoked, is no longer allowed.
    const auto now = judge_call(asker, request.action, engine::Venue::cage).decision;
    const auto grants = grants_.current(now_ms());
    const bool revoked = !token.grant_id.empty() && std::none_of(grants.begin(), grants.end(), [&](const auto& grant) {
      return grant.id == token.grant_id;
    });
    if (now.verdict == engine::Verdict::deny || revoked) {
      return Error{ErrorKind::role_forbidden,
                   revoked ? "the grant that allowed it was revoked: call escrow/toolCall again" : now.reason};
    }
    return token;
  }
  const auto decision = judge_call(asker, request.action, engine::Venue::cage).decision;
  const bool consented = decision.verdict == engine::Verdict::prompt && request.consent == Consent::person;
  if (decision.verdict != engine::Verdict::allow && !consented) {
    return Error{ErrorKind::state_conflict,
                 decision.reason.empty() ? "not allowed without a decision: " + decision.clause : decision.reason,
                 boost::json::serialize(boost::json::object{{"decision", engine::name_of(decision.verdict)},
                                                            {"clause", decision.clause},
                                                            {"forAgent", decision.for_agent}})};
  }
  if (!decision.grant_id.empty()) grants_.spend(decision.grant_id);
  return Token{.agent_id = asker.agent_id, .subject_hash = subject};
}

/// Hosts that policy or a grant opens for this session; what the request names beyond them stays closed.
std::vector<std::string> Broker::open_hosts(const ExecuteRequest& request, const Asker& asker, const Token& token,
                                            const std::string& root) {
  std::set<std::string> hosts(token.network.begin(), token.network.end());
  hosts.insert(options_.policy.network_allow.begin(), options_.policy.network_allow.end());
  engine::GrantContext context{.workspace = workspace_key(root),
                               .session = asker.session,
                               .call_id = asker.call_id,
                               .subject_hash = {},
                               .autonomy = asker.autonomy.value_or(options_.policy.autonomy),
                               .now_ms = now_ms()};
  for (const auto& grant : grants_.current(now_ms())) {
    if (grant.tool != "network" || grant.effect != engine::GrantEffect::allow) continue;
    if (engine::covers(grant, network_action(grant.match), context)) hosts.insert(grant.match);
  }
  for (const auto& wanted : request.network) {
    const bool by_person = asker.agent_id.empty();
    const auto verdict = judge_call(asker, network_action(wanted), engine::Venue::cage).decision.verdict;
    if (verdict == engine::Verdict::allow || (by_person && verdict == engine::Verdict::prompt)) hosts.insert(wanted);
  }
  return {hosts.begin(), hosts.end()};
}

/// What policy alone says.
sandbox::Profile Broker::base_profile(const std::string& root, const std::string& name) const {
  const engine::Policy& policy = options_.policy;
  sandbox::Profile profile;
  profile.name = name;
  profile.workspace = root;
  profile.env_allow = policy.env_allow;
  profile.mask = policy.mask;
  profile.read = policy.read;
  profile.tracked_secrets = sandbox::masked_by_name(tracked_paths(root), policy.mask);
  profile.limits = options_.limits;
  return profile;
}

sandbox::Profile Broker::profile_for(const ExecuteRequest& request, const Asker& asker, const Token& token,
                                     const std::string& root) {
  sandbox::Profile profile = base_profile(root, request.profile);
  profile.writable = request.writable;
  profile.network_allow = open_hosts(request, asker, token, root);
  profile.unsaved = editor_.unsaved_texts(root);
  if (request.limits) smaller(profile.limits, *request.limits);
  return profile;
}

Result<StartedExecution> Broker::execute(ExecuteRequest request) {
  Asker asker{.name = "person", .call_id = request.call_id, .autonomy = request.autonomy};
  if (!request.agent.agent_id.empty()) {
    const auto agent = agents_.find(request.agent);
    if (!agent) return agent.error();
    asker = {.agent_id = request.agent.agent_id,
             .name = (*agent)->name,
             .session = (*agent)->session,
             .call_id = request.call_id,
             .autonomy = request.autonomy};
    const auto again = executed_.find(call_key(asker.agent_id, request.call_id));
    if (again != executed_.end()) return started(again->second);
  }
  if (locked_) return Error{ErrorKind::locked, "Escrow is locked: the person unlocks it first"};
  auto place = place_of(request.action);
  if (!place) return place.error();
  const std::string root = root_for(place->cwd);
  if (root.empty()) return Error{ErrorKind::outside_roots, place->cwd + ": not in a folder of this workspace"};
  if (request.writable == sandbox::Writable::direct && request.consent != Consent::person) {
    return Error{ErrorKind::role_forbidden, "`direct` writes the real workspace: only a person may ask for it"};
  }
  const auto token = permit(request, asker);
  if (!token) return token.error();
  return start(std::move(request), asker, *token, std::move(place->argv), place->cwd, std::move(place->env), root);
}

Result<StartedExecution> Broker::started(const std::string& exec_id) const {
  const auto found = executions_.find(exec_id);
  if (found == executions_.end()) return Error{ErrorKind::not_found, exec_id + ": no longer kept"};
  return StartedExecution{.exec_id = exec_id, .started_ms = found->second->started_ms};
}

Result<StartedExecution> Broker::start(ExecuteRequest request, const Asker& asker, const Token& token,
                                       std::vector<std::string> argv, const std::string& cwd,
                                       std::map<std::string, std::string> env, const std::string& root) {
  forget_old_executions();
  const std::string exec_id = "x-" + random_token().substr(0, 12);
  sandbox::Profile profile = profile_for(request, asker, token, root);
  add_git_environment(env, root);
  add_commit_identity(env, root);
  add_quiet_environment(env);
  sandbox::Command command{
      .argv = std::move(argv), .cwd = cwd, .env = std::move(env), .stdin_text = request.stdin_text, .pty = request.pty};
  auto live = std::make_unique<Live>();
  live->exec_id = exec_id;
  live->agent_name = asker.name;
  live->session = asker.session;
  live->root = root;
  live->stage = stage_of(request, asker, root);
  profile.session = live->stage;
  live->started_ms = now_ms();
  if (request.pty) {
    for (LineRedactor& redactor : live->redactor) redactor = LineRedactor(LineRedactor::Hold::word);
  }
  live->keep_limit = static_cast<std::size_t>(profile.limits.output_kept_bytes);
  sandbox::ExecutionEvents events;
  events.on_output = [this, exec_id](sandbox::Stream stream, std::string_view bytes) {
    keep_output(exec_id, stream, bytes);
  };
  events.on_done = [this, exec_id](sandbox::Result<sandbox::Execution> result) {
    finish_execution(exec_id, std::move(result));
  };
  auto running = executor_.start(std::move(command), std::move(profile), std::move(events));
  if (!running) {
    record("refused",
           {{"subject", engine::redact(engine::describe(request.action))}, {"reason", running.error().message}});
    const bool cage = running.error().kind == sandbox::ErrorKind::unavailable;
    return Error{cage ? ErrorKind::sandbox_unavailable : ErrorKind::invalid_params, running.error().message};
  }
  live->running = std::move(*running);
  record("execute", {{"execId", exec_id},
                     {"agent", asker.name},
                     {"callId", asker.call_id},
                     {"cwd", cwd},
                     {"subject", engine::redact(engine::describe(request.action))}});
  if (!asker.agent_id.empty()) executed_[call_key(asker.agent_id, asker.call_id)] = exec_id;
  live->request = std::move(request);
  const StartedExecution answer{.exec_id = exec_id, .started_ms = live->started_ms};
  executions_[exec_id] = std::move(live);
  return answer;
}

/// What leaves the cage towards a model is redacted.
void Broker::keep_output(const std::string& exec_id, sandbox::Stream stream, std::string_view bytes) {
  const auto found = executions_.find(exec_id);
  if (found == executions_.end()) return;
  Live& live = *found->second;
  // The person at the terminal gets the bytes as they are.
  if (live.request.agent.agent_id.empty()) return hand_on(live, stream, std::string(bytes));
  LineRedactor& redactor = live.redactor[stream == sandbox::Stream::err ? 1 : 0];
  hand_on(live, stream, redactor.take(bytes));
}

void Broker::hand_on(Live& live, sandbox::Stream stream, const std::string& text) {
  if (text.empty()) return;
  std::string& kept = live.kept[stream == sandbox::Stream::err ? 1 : 0];
  kept.append(text, 0, live.keep_limit - std::min(live.keep_limit, kept.size()));
  if (events_.on_output) events_.on_output(live.exec_id, stream, text);
}

void Broker::finish_execution(const std::string& exec_id, sandbox::Result<sandbox::Execution> result) {
  const auto found = executions_.find(exec_id);
  if (found == executions_.end()) return;
  Live& live = *found->second;
  hand_on(live, sandbox::Stream::out, live.redactor[0].finish());
  hand_on(live, sandbox::Stream::err, live.redactor[1].finish());
  FinishedExecution finished{.exec_id = exec_id};
  if (result) {
    finished.execution = std::move(*result);
  } else {
    finished.cage_error = result.error();
  }
  live.finished = std::move(finished);
  review_execution(live);
  offer_remedies(live);
  const sandbox::Execution& execution = live.finished->execution;
  boost::json::object entry{{"execId", exec_id},
                            {"reason", live.finished->cage_error ? "refused" : std::string(name_of(execution.reason))},
                            {"durationMs", execution.duration.count()},
                            {"enforcement", execution.enforcement.level},
                            {"layers", boost::json::value_from(execution.enforcement.layers)},
                            {"reviewId", live.finished->review_id}};
  if (execution.exit_code) entry["exitCode"] = *execution.exit_code;
  if (execution.signal) entry["signal"] = *execution.signal;
  boost::json::array violations;
  for (const auto& violation : execution.violations) {
    violations.push_back({{"kind", name_of(violation.kind)}, {"detail", violation.detail}});
  }
  entry["violations"] = std::move(violations);
  record("exited", entry);
  if (events_.on_exited) events_.on_exited(*live.finished);
  auto waiting = std::move(live.waiting);
  for (auto& reply : waiting) reply(&*live.finished);
}

std::string Broker::stage_of(const ExecuteRequest& request, const Asker& asker, const std::string& root) const {
  if (request.writable == sandbox::Writable::direct) return {};
  if (!asker.agent_id.empty()) return "live-" + sha256_hex(asker.agent_id + "\n" + root).substr(0, 40);
  if (request.session.empty()) return {};
  return "named-" + sha256_hex(request.session + "\n" + root).substr(0, 40);
}

/// The review of what the session's earlier commands left in the stage, if it is still open.
std::optional<Review> Broker::review_of_stage(const Live& live) {
  if (live.stage.empty()) return std::nullopt;
  const auto is_open = [&](const Review& review) { return !is_final(review.state) && !applying_.contains(review.id); };
  if (const auto known = stage_reviews_.find(live.stage); known != stage_reviews_.end()) {
    auto review = store_.get(known->second);
    return review && is_open(*review) ? std::optional(std::move(*review)) : std::nullopt;
  }
  if (!live.stage.starts_with("named-")) return std::nullopt;
  for (const auto& review : store_.open(live.root)) {
    if (review->session == live.stage && is_open(*review)) return *review;
  }
  return std::nullopt;
}

Review Broker::begin_review(const Live& live) const {
  Review review;
  review.id = "r-" + random_token().substr(0, 12);
  review.root = live.root;
  review.agent = live.agent_name;
  review.agent_id = live.request.agent.agent_id;
  review.session = live.session.empty() ? live.stage : live.session;
  review.origin = "execution";
  return review;
}

/// What the commands of a session wrote becomes one review like any other change; each command that changes it makes a
/// new revision. What git ignores are build outputs, kept out of it.
void Broker::review_execution(Live& live) {
  FinishedExecution& finished = *live.finished;
  const std::string& writable = finished.execution.enforcement.writable;
  if (finished.cage_error || writable == "none") return;
  const Credential& agent = live.request.agent;
  if (!agent.agent_id.empty() && !agents_.find(agent)) return;  // it has gone, and so has its stage
  if (writable == "direct") {
    finished.notes.push_back("what it wrote was written for real, at once, and is not reviewed");
    return;
  }
  Review review;
  auto files = change_from_tree(finished.execution.changes, finished.notes);
  const Asker asker{
      .agent_id = agent.agent_id, .name = live.agent_name, .session = live.session, .call_id = live.request.call_id};
  std::erase_if(files, [&](const ReviewFile& file) {
    const std::string why = why_forbidden(asker, live.root, file);
    if (!why.empty()) finished.notes.push_back(why + " It is not applied.");
    return !why.empty();
  });
  if (const auto note = artefact_note(finished.execution.changes, !live.stage.empty()); !note.empty()) {
    finished.notes.push_back(note);
  }
  std::optional<Review> before = writable == "overlay" ? review_of_stage(live) : std::nullopt;
  if (files.empty()) {
    if (before && finished.execution.changes.complete) withdraw(before->id, before->agent_id);
    return;
  }
  if (before && same_change(before->files, files)) {
    finished.review_id = before->id;
    return;
  }
  review = before ? std::move(*before) : begin_review(live);
  if (before) ++review.revision;
  review.call_id = live.request.call_id;
  review.title = engine::one_line(engine::redact("changes of `" + engine::describe(live.request.action) + "`" +
                                                 (before ? " and earlier commands" : "")),
                                  200);
  review.notes = finished.notes;
  review.approved_by.clear();
  review.files = std::move(files);
  const auto published = publish(std::move(review), std::nullopt);
  if (!published) return;
  finished.review_id = published->id;
  if (!live.stage.empty()) stage_reviews_[live.stage] = published->id;
}

/// Applied or rejected, a review's paths leave the stage: later commands see the workspace there.
void Broker::settle_stage(const Review& review) {
  std::string stage = review.session.starts_with("named-") ? review.session : "";
  for (const auto& [id, review_id] : stage_reviews_) {
    if (review_id == review.id) stage = id;
  }
  if (review.origin != "execution" || stage.empty()) return;
  const bool busy = std::any_of(executions_.begin(), executions_.end(), [&](const auto& entry) {
    return entry.second->stage == stage && !entry.second->finished;
  });
  std::vector<sandbox::SettledPath> paths;
  for (const auto& file : review.files) {
    // A command that runs now may write the path again; that is not what was reviewed.
    const auto staged = busy ? std::optional(staged_entry(file.after)) : std::nullopt;
    paths.push_back({.path = file.path, .staged = staged});
    if (file.old_path != file.path) paths.push_back({.path = file.old_path, .staged = std::nullopt});
  }
  executor_.settle(stage, std::move(paths));
}

void Broker::offer_remedies(Live& live) {
  for (const auto& violation : live.finished->execution.violations) {
    if (violation.kind != sandbox::ViolationKind::egress) continue;
    engine::Grant grant;
    grant.effect = engine::GrantEffect::allow;
    grant.tool = "network";
    grant.match = violation.detail;
    grant.scope = live.session.empty() ? engine::Scope::workspace : engine::Scope::session;
    grant.session = live.session;
    if (live.session.empty()) grant.workspace = workspace_key(live.root);
    grant.max_autonomy = engine::Autonomy::high;
    grant.reason = "refused during " + live.exec_id;
    if (!engine::validate_grant(grant)) continue;
    const std::string span = live.session.empty() ? "in this workspace" : "for this session";
    engine::Remedy remedy{.title = "Allow " + engine::one_line(violation.detail, 100) + " " + span, .grant = grant};
    live.finished->remedies.push_back(remedy);
    const bool known = std::any_of(remedies_.begin(), remedies_.end(), [&](const OpenRemedy& open) {
      return open.remedy.grant.match == grant.match && open.remedy.grant.session == grant.session;
    });
    if (!known)
      remedies_.push_back({.id = "m-" + random_token().substr(0, 12), .exec_id = live.exec_id, .remedy = remedy});
  }
  if (!live.finished->remedies.empty()) changed();
}

void Broker::forget_old_executions() {
  std::vector<std::pair<std::int64_t, std::string>> ended;
  for (const auto& [id, live] : executions_) {
    if (live->finished) ended.emplace_back(live->started_ms, id);
  }
  if (ended.size() <= kMaxFinished) return;
  std::sort(ended.begin(), ended.end());
  for (std::size_t i = 0; i + kMaxFinished < ended.size(); ++i) executions_.erase(ended[i].second);
}

void Broker::wait_execution(const std::string& exec_id, std::optional<std::int64_t> timeout_ms,
                            Reply<const FinishedExecution*> reply) {
  const auto found = executions_.find(exec_id);
  if (found == executions_.end()) return reply(Error{ErrorKind::exec_not_running, exec_id + ": no such execution"});
  if (found->second->finished) return reply(&*found->second->finished);
  if (!timeout_ms) {
    found->second->waiting.push_back(std::move(reply));
    return;
  }
  // Whichever comes first answers; the other finds the reply gone.
  auto once = std::make_shared<Reply<const FinishedExecution*>>(std::move(reply));
  const auto answer = [once](Result<const FinishedExecution*> result) {
    if (auto take = std::exchange(*once, nullptr)) take(std::move(result));
  };
  found->second->waiting.push_back(answer);
  auto timer = std::make_shared<boost::asio::steady_timer>(loop_, std::chrono::milliseconds(*timeout_ms));
  timer->async_wait([answer, timer](boost::system::error_code stopped) {
    if (!stopped) answer(nullptr);
  });
}

Result<std::string> Broker::read_output(const std::string& exec_id, sandbox::Stream stream, std::uint64_t offset,
                                        std::size_t max) const {
  const auto found = executions_.find(exec_id);
  if (found == executions_.end()) return Error{ErrorKind::exec_not_running, exec_id + ": no such execution"};
  const std::string& kept = found->second->kept[stream == sandbox::Stream::err ? 1 : 0];
  if (offset >= kept.size()) return std::string();
  return kept.substr(static_cast<std::size_t>(offset), max);
}

Result<void> Broker::write_execution(const std::string& exec_id, std::string_view bytes, bool close) {
  const auto found = executions_.find(exec_id);
  if (found == executions_.end() || found->second->finished) {
    return Error{ErrorKind::exec_not_running, exec_id + ": not running"};
  }
  if (!bytes.empty()) found->second->running->write_stdin(bytes);
  if (close) found->second->running->close_stdin();
  return {};
}

void Broker::resize_execution(const std::string& exec_id, sandbox::PtySize size) {
  const auto found = executions_.find(exec_id);
  if (found != executions_.end() && !found->second->finished) found->second->running->resize(size);
}

Result<void> Broker::kill_execution(const std::string& exec_id) {
  const auto found = executions_.find(exec_id);
  if (found == executions_.end() || found->second->finished) {
    return Error{ErrorKind::exec_not_running, exec_id + ": not running"};
  }
  record("kill", {{"execId", exec_id}});
  found->second->running->kill();
  return {};
}

const FinishedExecution* Broker::finished(const std::string& exec_id) const {
  const auto found = executions_.find(exec_id);
  return found == executions_.end() || !found->second->finished ? nullptr : &*found->second->finished;
}

std::vector<std::string> Broker::running_executions() const {
  std::vector<std::string> ids;
  for (const auto& [id, live] : executions_) {
    if (!live->finished) ids.push_back(id);
  }
  return ids;
}

}  // namespace escrow::server
