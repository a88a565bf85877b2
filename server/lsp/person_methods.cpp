#include "server/lsp/person_methods.h"

#include <algorithm>
#include <boost/json.hpp>

#include "engine/target_place.h"
#include "protocol/escrow_methods.h"
#include "server/clock.h"
#include "server/hash.h"
#include "server/lsp/binder.h"
#include "server/lsp/exec_output.h"
#include "server/lsp/from_protocol.h"
#include "server/lsp/session.h"
#include "server/lsp/to_protocol.h"
#include "server/policy_view.h"
#include "server/store/config.h"
#include "server/store/grant_json.h"

namespace escrow::server::lsp {
namespace {

namespace method = protocol::method;

constexpr std::int64_t kDefaultEntries = 100;
constexpr std::int64_t kMaxEntries = 10'000;

/// A grant's nonce is bound to the grant as it was shown.
std::string grant_subject(const engine::Grant& grant) {
  return "grant:" + sha256_hex(boost::json::serialize(server::to_json(grant)));
}

bool by_agent(const protocol::OptionalCredential& caller) {
  return caller.agentId || caller.token;
}

const Error kForbidden{ErrorKind::role_forbidden,
                       "an agent can never approve or grant: only the person's own views may ask"};

bool is_wanted(const Review& review, const protocol::ReviewListParams& params) {
  if (!params.states) return !is_final(review.state);
  return std::any_of(params.states->begin(), params.states->end(), [&](protocol::ReviewState state) {
    return static_cast<int>(state) == static_cast<int>(review.state);
  });
}

}  // namespace

std::string_view command_of_verb(protocol::Verb verb) {
  namespace command = protocol::command;
  switch (verb) {
    case protocol::Verb::approve:
      return command::kReviewApprove;
    case protocol::Verb::reject:
      return command::kReviewReject;
    case protocol::Verb::apply:
      return command::kApply;
    case protocol::Verb::undo:
      return command::kUndo;
    case protocol::Verb::allowOnce:
      return command::kAllowOnce;
    case protocol::Verb::allowSession:
      return command::kAllowSession;
    case protocol::Verb::allowWorkspace:
      return command::kAllowWorkspace;
    case protocol::Verb::allowUser:
      return "escrow.decision.allowUser";
    case protocol::Verb::deny:
      return command::kDeny;
  }
  return {};
}

void PersonMethods::bind(Binder& binder) {
  binder.request(method::kReviewList, this, &PersonMethods::list);
  binder.request(method::kReviewGet, this, &PersonMethods::get);
  binder.request(method::kReviewContent, this, &PersonMethods::content);
  binder.request(method::kReviewApprove, this, &PersonMethods::approve);
  binder.request(method::kReviewReject, this, &PersonMethods::reject);
  binder.request(method::kReviewNonce, this, &PersonMethods::nonce);
  binder.request(method::kApplyUndo, this, &PersonMethods::undo);
  binder.request(method::kGrantsList, this, &PersonMethods::grants_list);
  binder.request(method::kGrantsAdd, this, &PersonMethods::grants_add);
  binder.request(method::kGrantsRevoke, this, &PersonMethods::grants_revoke);
  binder.request(method::kGrantsNonce, this, &PersonMethods::grants_nonce);
  binder.request(method::kPolicyGet, this, &PersonMethods::policy_get);
  binder.request(method::kPolicyExplain, this, &PersonMethods::policy_explain);
  binder.request(method::kPolicyReload, this, &PersonMethods::policy_reload);
  binder.request(method::kAuditQuery, this, &PersonMethods::audit_query);
  binder.request(method::kAuditVerify, this, &PersonMethods::audit_verify);
  binder.request(method::kStatus, this, &PersonMethods::answer_status);
  binder.request("workspace/textDocumentContent", this, &PersonMethods::text_document_content);
}

void PersonMethods::list(const protocol::ReviewListParams& params, Reply reply) {
  protocol::ReviewListResult result;
  for (const auto& review : session_.broker->reviews()) {
    if (is_wanted(review, params)) result.reviews.push_back(review_to_wire(session_, review));
  }
  reply(result);
}

void PersonMethods::get(const protocol::ReviewGetParams& params, Reply reply) {
  const auto review = session_.broker->review(params.reviewId);
  if (!review) return reply.error(to_wire(review.error()));
  reply(review_to_wire(session_, *review));
}

/// Agents read reviews too, and a secret file is theirs to replace at most.
std::string shown_base(const ReviewFile& file) {
  if (engine::ward_of(file.old_path) != engine::Ward::secret) return file.before.content;
  return "(" + file.old_path + " holds secrets: open the file itself to see them)\n";
}

Result<std::string> PersonMethods::review_text(const std::string& uri) const {
  const auto parts = parse_review_uri(uri);
  if (!parts) return Error{ErrorKind::not_found, "`" + uri + "` is not a review's text"};
  const auto review = session_.broker->review(parts->review_id);
  if (!review) return review.error();
  if (review->revision != parts->revision) return moved_on(*review);
  for (const auto& file : review->files) {
    if (parts->side == "before" && file.old_path == parts->path) return shown_base(file);
    if (parts->side == "after" && file.path == parts->path) return file.after.content;
  }
  return Error{ErrorKind::not_found, parts->path + ": not part of this review"};
}

void PersonMethods::content(const protocol::ReviewContentParams& params, Reply reply) {
  const auto text = review_text(params.uri);
  if (!text) return reply.error(to_wire(text.error()));
  const auto [data, encoding] = to_text(*text);
  if (encoding != protocol::Encoding::utf8) {
    return reply.error(to_wire(Error{ErrorKind::bad_change, "not text: " + std::to_string(text->size()) + " bytes"}));
  }
  reply(protocol::ReviewContentResult{.text = data});
}

void PersonMethods::text_document_content(const protocol::TextDocumentContentParams& params, Reply reply) {
  content({.uri = params.uri}, std::move(reply));
}

/// One hunk takes the nonce issued for that hunk; the whole, or several, the nonce of the whole.
template <class Params>
Result<void> PersonMethods::spend_for_hunks(const Params& params, std::string_view command) {
  const bool one = params.hunks && params.hunks->size() == 1;
  const std::string verb = std::string(command) + (one ? params.hunks->front() : std::string());
  return session_.broker->nonces().spend(params.nonce, params.reviewId, params.revision, verb, now_ms());
}

void PersonMethods::approve(const protocol::ReviewApproveParams& params, Reply reply) {
  auto& broker = *session_.broker;
  const auto spent = spend_for_hunks(params, protocol::command::kReviewApprove);
  if (!spent) return reply.error(to_wire(spent.error()));
  const auto review =
      broker.approve(params.reviewId, params.revision, params.hunks.value_or(std::vector<std::string>()), "person");
  if (!review) return reply.error(to_wire(review.error()));
  reply(review_to_wire(session_, *review));
}

void PersonMethods::reject(const protocol::ReviewRejectParams& params, Reply reply) {
  auto& broker = *session_.broker;
  const auto spent = spend_for_hunks(params, protocol::command::kReviewReject);
  if (!spent) return reply.error(to_wire(spent.error()));
  const auto review = broker.reject(params.reviewId, params.revision, params.hunks.value_or(std::vector<std::string>()),
                                    params.reason.value_or(""));
  if (!review) return reply.error(to_wire(review.error()));
  reply(review_to_wire(session_, *review));
}

void PersonMethods::nonce(const protocol::ReviewNonceParams& params, Reply reply) {
  if (by_agent(params)) return reply.error(to_wire(kForbidden));
  const auto review = session_.broker->review(params.reviewId);
  if (!review) return reply.error(to_wire(review.error()));
  const bool undo = params.verb == protocol::Verb::undo;
  const std::string subject = undo ? review->undo_id : params.reviewId;
  const std::string verb = std::string(command_of_verb(params.verb)) + params.hunk.value_or("");
  reply(protocol::NonceResult{
      .nonce = session_.broker->nonces().issue(subject, undo ? 0 : params.revision, verb, now_ms()),
      .expiresAt = now_ms() + Nonces::kLifeMs});
}

void PersonMethods::undo(const protocol::ApplyUndoParams& params, Reply reply) {
  const auto spent =
      session_.broker->nonces().spend(params.nonce, params.undoId, 0, std::string(protocol::command::kUndo), now_ms());
  if (!spent) return reply.error(to_wire(spent.error()));
  auto shared = std::make_shared<Reply>(std::move(reply));
  const std::string root = session_.broker->roots().empty() ? std::string() : session_.broker->roots().front();
  session_.broker->undo(params.undoId, [this, shared, root](Result<ApplyOutcome> outcome) {
    if (!outcome) return shared->error(to_wire(outcome.error()));
    (*shared)(to_wire(session_, *outcome, root));
  });
}

void PersonMethods::grants_list(const protocol::NoParams&, Reply reply) {
  protocol::GrantsListResult result;
  for (const auto& grant : session_.broker->grants()) result.grants.push_back(to_wire(grant));
  const auto& notes = session_.broker->grant_notes();
  if (!notes.empty()) result.notes = notes;
  reply(result);
}

void PersonMethods::grants_add(const protocol::GrantsAddParams& params, Reply reply) {
  engine::Grant grant = grant_from(params.grant);
  if (grant.effect == engine::GrantEffect::allow) {
    const auto spent =
        session_.broker->nonces().spend(params.nonce.value_or(""), grant_subject(grant), 0, "grant", now_ms());
    if (!spent) return reply.error(to_wire(spent.error()));
  }
  grant.by = "person, editor";
  const auto added = session_.broker->grant(grant);
  if (!added) return reply.error(to_wire(added.error()));
  reply(to_wire(*added));
}

void PersonMethods::grants_revoke(const protocol::GrantsRevokeParams& params, Reply reply) {
  if (params.all.value_or(false)) {
    const auto count = session_.broker->revoke_all();
    if (!count) return reply.error(to_wire(count.error()));
    return reply(protocol::GrantsRevokeResult{.revoked = static_cast<std::int64_t>(*count)});
  }
  const auto found = session_.broker->revoke(params.grantId.value_or(""));
  if (!found) return reply.error(to_wire(found.error()));
  if (!*found) return reply.error(to_wire(Error{ErrorKind::not_found, "no grant " + params.grantId.value_or("")}));
  reply(protocol::GrantsRevokeResult{.revoked = 1});
}

void PersonMethods::grants_nonce(const protocol::GrantsNonceParams& params, Reply reply) {
  if (by_agent(params)) return reply.error(to_wire(kForbidden));
  const engine::Grant grant = grant_from(params.grant);
  reply(protocol::NonceResult{.nonce = session_.broker->nonces().issue(grant_subject(grant), 0, "grant", now_ms()),
                              .expiresAt = now_ms() + Nonces::kLifeMs});
}

void PersonMethods::policy_get(const protocol::NoParams&, Reply reply) {
  const engine::Policy& policy = session_.broker->policy();
  protocol::PolicyGetResult result;
  result.policy = json_policy(policy);
  for (const auto& [key, origin] : policy.origins) result.origins[key] = origin_text(origin);
  result.backend = session_.probe->available ? "bubblewrap" : "none";
  result.available = session_.probe->available;
  result.message = session_.probe->message;
  for (const auto& item : json_restrictions(policy)) {
    const auto& restriction = item.as_object();
    result.restrictions.push_back({.kind = std::string(restriction.at("kind").as_string()),
                                   .text = std::string(restriction.at("text").as_string())});
  }
  result.grantsPath = session_.places.grants_file;
  reply(result);
}

void PersonMethods::policy_explain(const protocol::PolicyExplainParams& params, Reply reply) {
  const auto action = action_from(params.subject);
  if (!action) return reply.error(to_wire(action.error()));
  std::optional<engine::Autonomy> autonomy;
  if (params.autonomy) autonomy = static_cast<engine::Autonomy>(*params.autonomy);
  const auto venue = params.venue == protocol::Venue::host ? engine::Venue::host : engine::Venue::cage;
  const auto evaluation = session_.broker->explain(*action, venue, autonomy);
  protocol::PolicyExplainResult result;
  result.decision = static_cast<protocol::Verdict>(evaluation.decision.verdict);
  result.clause = evaluation.decision.clause;
  result.reason = evaluation.decision.reason;
  result.risk = to_wire(evaluation.decision.risk);
  result.trace = evaluation.trace;
  reply(result);
}

void PersonMethods::policy_reload(const protocol::NoParams&, Reply reply) {
  if (auto reloaded = session_.reload_policy(); !reloaded) return reply.error(to_wire(reloaded.error()));
  reply(protocol::PolicyReloadResult{.policyVersion = session_.broker->policy().version,
                                     .notes = session_.broker->policy().notes});
}

void PersonMethods::audit_query(const protocol::AuditQueryParams& params, Reply reply) {
  const auto max =
      static_cast<std::size_t>(std::clamp<std::int64_t>(params.max.value_or(kDefaultEntries), 1, kMaxEntries));
  protocol::AuditQueryResult result;
  auto entries = session_.broker->audit().tail(params.event ? static_cast<std::size_t>(kMaxEntries) : max);
  for (auto& entry : entries) {
    const auto* event = entry.if_contains("event");
    if (params.event && (event == nullptr || *event != boost::json::value(*params.event))) continue;
    result.entries.push_back(std::move(entry));
  }
  if (result.entries.size() > max) {
    result.entries.erase(result.entries.begin(), result.entries.end() - static_cast<std::ptrdiff_t>(max));
  }
  reply(result);
}

void PersonMethods::audit_verify(const protocol::AuditVerifyParams& params, Reply reply) {
  const auto verified = session_.broker->audit().verify(params.anchor.value_or(""));
  protocol::AuditVerifyResult result;
  result.ok = verified.ok;
  result.entries = static_cast<std::int64_t>(verified.entries);
  result.lastHash = verified.last_hash;
  if (!verified.problem.empty()) result.problem = verified.problem;
  reply(result);
}

protocol::Status PersonMethods::status() const {
  const Broker& broker = *session_.broker;
  protocol::Status status;
  status.version = session_.version;
  status.policyVersion = broker.policy().version;
  status.mode = std::string(engine::name_of(broker.policy().mode));
  status.locked = broker.locked();
  status.enforcement =
      session_.probe->available ? protocol::EnforcementLevel::sandbox : protocol::EnforcementLevel::policy_only;
  status.pending = static_cast<std::int64_t>(session_.broker->pending_count());
  status.running = broker.running_executions();
  status.agents = static_cast<std::int64_t>(broker.agent_count());
  if (session_.probe->available) {
    status.pool = to_wire(session_.executor->pool());
  } else {
    status.message = session_.probe->message;
  }
  return status;
}

void PersonMethods::answer_status(const protocol::NoParams&, Reply reply) {
  reply(status());
}

}  // namespace escrow::server::lsp
