#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/evaluate.h"
#include "engine/policy.h"
#include "sandbox/executor.h"
#include "sandbox/probe.h"
#include "server/agents.h"
#include "server/editor.h"
#include "server/error.h"
#include "server/nonces.h"
#include "server/review/change.h"
#include "server/review/finding.h"
#include "server/review/review.h"
#include "server/store/audit_log.h"
#include "server/store/grant_store.h"
#include "server/store/review_store.h"
#include "server/workspace/user_tree.h"

namespace boost::asio {
class io_context;
}

/// The product without LSP: judge, propose, approve, apply, execute. Used by the language server and the command line.
///
/// Owns what agents and people have under way. Loop thread only. Everything an agent may call takes its Credential;
/// everything only a person may do takes a nonce, or is reached by a front that is the person's own (`Person` calls).
namespace escrow::server {

template <class T>
using Reply = std::function<void(Result<T>)>;

enum class Runner { escrow, agent };
enum class Wait { none, human };
enum class Consent { none, person };

struct ToolCallRequest {
  Credential agent;
  std::string call_id = {};
  std::string tool = {};
  engine::Action action = {};
  Runner runner = Runner::agent;
  std::optional<engine::Autonomy> autonomy = {};
  Wait wait = Wait::none;
  std::optional<std::int64_t> timeout_ms = {};
  std::string body_hash = {};  ///< of the request as sent: the same callId with another body is a conflict
};

struct ToolCallAnswer {
  enum class Outcome { allow, deny, pending };
  Outcome outcome = Outcome::deny;
  engine::Decision decision = {};
  std::string execution_token = {};  ///< allow
  std::int64_t expires_ms = 0;       ///< allow, pending
  std::string profile = "default", writable = "overlay";
  std::vector<std::string> network = {};
  std::string review_id = {};  ///< pending
  int revision = 0;
};

struct StatedBase {
  std::string path = {};
  std::optional<std::string> sha256 = {};
  std::optional<std::int64_t> version = {};
  bool exists = true;
};

struct ProposeRequest {
  Credential agent;  ///< empty for the person's own
  std::string call_id = {};
  std::string title = {};
  std::optional<double> confidence = {};
  std::string root = {};  ///< absolute; empty: the first root of the agent
  std::optional<std::string> patch_text = {};
  std::vector<ProposedText> files = {};
  std::vector<StatedBase> bases = {};
  std::string supersedes = {};
  std::string body_hash = {};
};

struct ExecuteRequest {
  Credential agent;  ///< empty for the person's own
  std::string call_id = {};
  std::string execution_token = {};
  engine::Action action = {};  ///< ShellAction or ExecAction
  std::optional<std::string> stdin_text = {};
  std::optional<sandbox::PtySize> pty = {};
  std::string profile = "default";
  sandbox::Writable writable = sandbox::Writable::overlay;
  std::vector<std::string> network = {};
  std::optional<sandbox::Limits> limits = {};
  std::optional<engine::Autonomy> autonomy = {};
  std::string session = {};  ///< a person's own name for a stage that later commands share; an agent always has one
  /// The person at the terminal said yes to a prompt (`escrow exec --allow-once`); never set for an agent.
  Consent consent = Consent::none;
};

struct StartedExecution {
  std::string exec_id = {};
  std::int64_t started_ms = 0;
};

/// What remains of an execution once it ended; kept for `wait` and `read`.
struct FinishedExecution {
  std::string exec_id = {};
  sandbox::Execution execution = {};
  std::optional<sandbox::Error> cage_error = {};  ///< nothing ran
  std::vector<engine::Remedy> remedies = {};      ///< one for each refused host
  std::string review_id = {};                     ///< of its changes; empty if nothing of it can be applied
  std::vector<std::string> notes = {};            ///< what it changed and no review holds, with the reason
};

struct ApplyOutcome {
  struct File {
    std::string path;
    std::string via;     ///< editor, disk
    std::string result;  ///< written, deleted, declined, unverified, stale, untouched
    std::string sha256;
  };
  std::string state = {};  ///< applied, refused, unverified
  std::string reason = {};
  std::vector<File> files = {};
  std::string undo_id = {};
};

/// What the person may answer to a pending call.
enum class Answer { deny, allow_once, allow_session, allow_workspace, allow_user };

/// A blocked host or path of a finished execution, waiting for the person's click.
struct OpenRemedy {
  std::string id = {};
  std::string exec_id = {};
  engine::Remedy remedy = {};
};

struct BrokerEvents {
  std::function<void()> on_findings_changed;
  std::function<void(const std::string& exec_id, sandbox::Stream, std::string_view)> on_output;
  std::function<void(const FinishedExecution&)> on_exited;
  /// A call began to wait for a person.
  std::function<void(const Review&)> on_pending;
  /// A change's review was made, or moved to another state or revision.
  std::function<void(const Review&)> on_review_changed;
  std::function<void()> on_grants_changed;
  /// Something a person should know that stops nothing.
  std::function<void(const std::string&)> on_trouble;
};

class Broker {
 public:
  struct Options {
    std::string state_dir;
    std::string grants_file;
    std::vector<std::string> roots;  ///< absolute realpaths of the workspace folders
    std::string home;
    engine::Policy policy;
    sandbox::Limits limits;  ///< of an execution, from policy; a caller may ask for less
    std::int64_t decision_timeout_ms = 300'000;
    std::size_t max_pending_per_agent = 32;
  };

  /// The collaborators must outlive the broker.
  Broker(boost::asio::io_context& loop, sandbox::Executor& executor, UserTree& tree, Editor& editor, Options options,
         BrokerEvents events);
  ~Broker();
  /// Answers everybody who waits (`cancelled`): the front is about to go. Executions die with the broker.
  void close();

  // What agents may call.
  RegisteredAgent register_agent(AgentInfo info);
  Result<void> end_agent(const Credential& agent);
  Result<const AgentInfo*> check_agent(const Credential& agent) const { return agents_.find(agent); }
  void tool_call(ToolCallRequest request, Reply<ToolCallAnswer> reply);
  /// Withdraws a waiting call (cancelled by its sender); its reply is called with `cancelled`.
  void cancel_call(const std::string& agent_id, const std::string& call_id);
  Result<Review> propose(ProposeRequest request);
  /// Notes in the audit log that a front refused a command by itself, for want of the person's consent.
  void record_refusal(const engine::Action& action, const engine::Decision& decision, const std::string& reason);
  Result<StartedExecution> execute(ExecuteRequest request);
  /// Answers when it ended, or nullptr when `timeout_ms` passed first. The pointer is good during the call.
  void wait_execution(const std::string& exec_id, std::optional<std::int64_t> timeout_ms,
                      Reply<const FinishedExecution*> reply);
  /// Kept output from `offset` (bytes of one stream), at most `max`.
  Result<std::string> read_output(const std::string& exec_id, sandbox::Stream stream, std::uint64_t offset,
                                  std::size_t max) const;
  Result<void> write_execution(const std::string& exec_id, std::string_view bytes, bool close);
  /// The terminal it runs on has another size now; nothing without one.
  void resize_execution(const std::string& exec_id, sandbox::PtySize size);
  Result<void> kill_execution(const std::string& exec_id);
  /// An agent applies its own approved review.
  void apply_by_agent(const Credential& agent, const std::string& review_id, int revision, bool save,
                      Reply<ApplyOutcome> reply);

  // What a person's front may call; nonces are checked by `spend_nonce` in the front that received them.
  Nonces& nonces() { return nonces_; }
  Result<void> answer_call(const std::string& review_id, int revision, Answer answer, const std::string& reason = {});
  /// Approves the hunks named, or all of them; the review is approved when none is undecided. `by`: person, lane.
  Result<Review> approve(const std::string& review_id, int revision, const std::vector<std::string>& hunks,
                         const std::string& by);
  /// Rejects the hunks named, or all of it. Revision 0 means whatever stands: a refusal never needs to be current.
  Result<Review> reject(const std::string& review_id, int revision, const std::vector<std::string>& hunks,
                        const std::string& reason);
  void apply(const std::string& review_id, int revision, bool save, Reply<ApplyOutcome> reply);
  void undo(const std::string& undo_id, Reply<ApplyOutcome> reply);
  Result<engine::Grant> grant(engine::Grant grant);
  Result<bool> revoke(const std::string& grant_id);
  Result<std::size_t> revoke_all();
  /// Takes an open remedy: grants exactly that.
  Result<engine::Grant> take_remedy(const std::string& remedy_id);
  /// Leaves the host refused and takes the remedy away; `not_found` if there is none of that id.
  Result<void> dismiss_remedy(const std::string& remedy_id);
  /// Deny everything until unlocked.
  void set_locked(bool locked);
  bool locked() const { return locked_; }

  // Views.
  Result<Review> review(const std::string& id);
  /// The same without a copy; null if there is none.
  std::shared_ptr<const Review> find_review(const std::string& id) const;
  std::vector<Review> reviews();
  /// Those on which nothing can happen any more, without the contents of their files; newest first.
  std::vector<std::shared_ptr<const Review>> settled_reviews() const;
  std::vector<Finding> findings();
  const std::vector<OpenRemedy>& open_remedies() const { return remedies_; }
  std::vector<engine::Grant> grants();
  /// What is wrong with the grant store, in plain words.
  const std::vector<std::string>& grant_notes() const { return grants_.notes(); }
  std::size_t agent_count() const { return agents_.size(); }
  /// The judgement of an action without asking for it (`policy explain`).
  engine::Evaluation explain(const engine::Action& action, engine::Venue venue,
                             std::optional<engine::Autonomy> autonomy);
  const FinishedExecution* finished(const std::string& exec_id) const;
  /// The judgement of an open patch document.
  engine::PatchEvaluation judge_patch_text(std::string_view text) const;
  const engine::Policy& policy() const { return options_.policy; }
  void set_policy(engine::Policy policy);
  const AuditLog& audit() const { return audit_; }
  const std::vector<std::string>& roots() const { return options_.roots; }
  void set_roots(std::vector<std::string> roots);
  /// A document's text changed or was saved: bases are compared again, and what moved becomes stale.
  void recheck_bases(const std::string& path);
  std::size_t pending_count();
  std::vector<std::string> running_executions() const;

 private:
  struct PendingCall;
  struct Live;
  struct Token;
  struct Application;

  // broker.cpp
  void record(const std::string& event, const boost::json::object& fields);
  void sync_audit_soon();
  void changed();
  void announce(const Review& review);
  std::string root_for(const std::string& path) const;
  std::string root_of(const engine::Action& action) const;

  // broker_calls.cpp
  struct Asker;
  engine::Evaluation judge_call(const Asker& asker, const engine::Action& action, engine::Venue venue);
  std::string lasting_grant(const std::string& id);
  ToolCallAnswer answer_allow(const Asker& asker, const engine::Action& action, const engine::Decision& decision);
  ToolCallAnswer pending_answer(const PendingCall& call) const;
  void finish_call(const std::string& key, ToolCallAnswer answer, const Reply<ToolCallAnswer>& reply);
  void finish_error(const std::string& key, const Error& error, const Reply<ToolCallAnswer>& reply);
  void repeat_call(const std::string& key, Wait wait, Reply<ToolCallAnswer> reply);
  void wait_for_person(ToolCallRequest request, const Asker& asker, const engine::Decision& decision,
                       const Reply<ToolCallAnswer>& reply);
  PendingCall& question_for(const ToolCallRequest& request, const Asker& asker, const engine::Decision& decision);
  void settle(PendingCall& call, std::size_t index, const Result<ToolCallAnswer>& answer);
  void deny_all(PendingCall& call, const std::string& reason);
  void expire_call(const std::string& review_id, const std::string& key);
  void recheck_pending();
  bool recheck_one(PendingCall& call, std::size_t& index);
  Result<engine::Grant> remember(const Review& call, Answer answer);

  // broker_changes.cpp
  std::string why_forbidden(const Asker& asker, const std::string& root, const ReviewFile& file);
  ReadImage reader(const std::string& root);
  Result<Review> publish(Review review, std::optional<double> confidence);
  Result<Review> repeat_proposal(const std::string& key);
  void withdraw(const std::string& review_id, const std::string& agent_id);
  std::vector<std::string> moved_files(const Review& review);
  void mark_stale(const std::string& review_id, const std::vector<std::string>& moved);
  Result<void> may_apply(const Review& review, int revision) const;
  void write_open_documents(const std::shared_ptr<Application>& work);
  void write_disk(const std::shared_ptr<Application>& work);
  void put_back_documents(const std::shared_ptr<Application>& work, ReviewState state, const std::string& reason);
  void finish_application(const std::shared_ptr<Application>& work, ReviewState to);
  void apply_reversed(const Review& applied, Reply<ApplyOutcome> reply);

  // broker_executions.cpp
  Result<Token> permit(const ExecuteRequest& request, const Asker& asker);
  std::vector<std::string> open_hosts(const ExecuteRequest& request, const Asker& asker, const Token& token,
                                      const std::string& root);
  sandbox::Profile base_profile(const std::string& root, const std::string& name) const;
  sandbox::Profile profile_for(const ExecuteRequest& request, const Asker& asker, const Token& token,
                               const std::string& root);
  Result<StartedExecution> started(const std::string& exec_id) const;
  Result<StartedExecution> start(ExecuteRequest request, const Asker& asker, const Token& token,
                                 std::vector<std::string> argv, const std::string& cwd,
                                 std::map<std::string, std::string> env, const std::string& root);
  void hand_on(Live& live, sandbox::Stream stream, const std::string& text);
  void keep_output(const std::string& exec_id, sandbox::Stream stream, std::string_view bytes);
  void finish_execution(const std::string& exec_id, sandbox::Result<sandbox::Execution> result);
  std::string stage_of(const ExecuteRequest& request, const Asker& asker, const std::string& root) const;
  void review_execution(Live& live);
  std::optional<Review> review_of_stage(const Live& live);
  Review begin_review(const Live& live) const;
  void settle_stage(const Review& review);
  void offer_remedies(Live& live);
  void forget_old_executions();

  boost::asio::io_context& loop_;
  sandbox::Executor& executor_;
  UserTree& tree_;
  Editor& editor_;
  Options options_;
  BrokerEvents events_;
  Agents agents_;
  Nonces nonces_;
  GrantStore grants_;
  AuditLog audit_;
  std::shared_ptr<bool> sync_planned_ = std::make_shared<bool>(false);  ///< outlived by no timer that counts on us
  ReviewStore store_;
  std::map<std::string, std::unique_ptr<PendingCall>> pending_;  ///< by review id
  std::map<std::string, std::unique_ptr<Live>> executions_;      ///< by execution id
  std::map<std::string, std::unique_ptr<Token>> tokens_;         ///< execution tokens, unspent
  std::map<std::string, std::string> call_state_;                ///< agent/call → review id while pending
  std::map<std::string, Result<ToolCallAnswer>> answers_;        ///< agent/call → the final answer
  std::map<std::string, std::string> proposals_;                 ///< agent/call → review id
  std::map<std::string, std::string> executed_;                  ///< agent/call → execution id
  std::map<std::string, std::string> stage_reviews_;             ///< session stage → the review of what it holds
  std::vector<OpenRemedy> remedies_;
  std::set<std::string> applying_;  ///< reviews on their way into the tree
  bool locked_ = false;
};

}  // namespace escrow::server
