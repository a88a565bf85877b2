#include "server/lsp/code_actions.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "engine/redact.h"
#include "protocol/escrow_commands.h"
#include "protocol/escrow_methods.h"
#include "server/clock.h"
#include "server/lsp/session.h"
#include "server/lsp/to_protocol.h"
#include "server/lsp/uri.h"

namespace escrow::server::lsp {
namespace {

namespace command = protocol::command;

/// An applied change offers its undo this long on the files it touched.
constexpr std::int64_t kUndoShownMs = 60 * 60 * 1000;

struct Action {
  std::string title;
  std::string_view command;
  boost::json::value argument;
};

/// Collects actions; each nonce is bound to (review, revision, verb, hunk).
class ActionList {
 public:
  ActionList(Session& session, std::string uri) : session_(session), uri_(std::move(uri)) {}

  void add(const std::string& title, std::string_view id, boost::json::value argument) {
    actions_.push_back({.title = engine::one_line(title, 160), .command = id, .argument = std::move(argument)});
  }

  void add_matter(const std::string& title, std::string_view id, const Review& review, const std::string& hunk = {}) {
    protocol::MatterArgument argument;
    argument.reviewId = review.id;
    argument.revision = review.revision;
    if (!hunk.empty()) argument.hunk = hunk;
    if (id == command::kReviewShow) {
      argument.uri = uri_;
    } else {
      argument.nonce = nonce(review.id, review.revision, std::string(id) + hunk);
    }
    add(title, id, protocol::to_json(argument));
  }

  std::string nonce(const std::string& subject, int revision, const std::string& verb) {
    return session_.broker->nonces().issue(subject, revision, verb, now_ms());
  }

  Session& session() { return session_; }
  std::vector<Action> take() { return std::move(actions_); }
  bool empty() const { return actions_.empty(); }

 private:
  Session& session_;
  std::string uri_;
  std::vector<Action> actions_;
};

void add_call(ActionList& list, const Review& review) {
  const std::string what = engine::one_line(review.title, 80);
  list.add_matter("Escrow: Show what `" + what + "` would do", command::kReviewShow, review);
  list.add_matter("Escrow: Deny `" + what + "`", command::kDeny, review);
  list.add_matter("Escrow: Allow once `" + what + "`", command::kAllowOnce, review);
  const auto matches = engine::suggest_matches(*review.action);
  if (matches.empty()) return;  // too powerful to be remembered
  const std::string granted = engine::quoted_list(matches);
  list.add_matter("Escrow: Allow for this session " + granted, command::kAllowSession, review);
  list.add_matter("Escrow: Always allow here " + granted, command::kAllowWorkspace, review);
}

void add_change(ActionList& list, const Review& review, const std::string& path, const protocol::Range& range) {
  const std::string what = engine::one_line(review.title, 80);
  list.add_matter("Escrow: Show `" + what + "`", command::kReviewShow, review);
  list.add_matter("Escrow: Reject `" + what + "`", command::kReviewReject, review);
  if (review.state == ReviewState::approved) {
    list.add_matter("Escrow: Apply `" + what + "`", command::kApply, review);
    return;
  }
  if (!may_move(review.state, ReviewState::approved)) return;
  const auto wire = review_to_wire(list.session(), review);
  const std::size_t hunks = [&] {
    std::size_t count = 0;
    for (const auto& file : review.files) count += file.hunks.size();
    return count;
  }();
  for (std::size_t i = 0; i < review.files.size() && hunks > 1; ++i) {
    if (review.root + "/" + review.files[i].old_path != path) continue;
    for (const auto& hunk : wire.files[i].hunks) {
      if (hunk.range.start.line > range.end.line || hunk.range.end.line < range.start.line || hunk.mark) continue;
      list.add_matter("Escrow: Approve this hunk (score " + std::to_string(hunk.score) + ")", command::kReviewApprove,
                      review, hunk.id);
    }
  }
  const std::string size = std::to_string(review.files.size()) + (review.files.size() == 1 ? " file" : " files");
  list.add_matter("Escrow: Approve all of `" + what + "` (" + size + ")", command::kReviewApprove, review);
}

void add_remedy(ActionList& list, const OpenRemedy& remedy) {
  protocol::MatterArgument refusal;
  refusal.reviewId = remedy.id;
  list.add("Escrow: Show status", command::kStatus, boost::json::object{});
  list.add("Escrow: Keep " + remedy.remedy.grant.match + " refused", command::kDeny, protocol::to_json(refusal));
  protocol::RemedyArgument argument;
  argument.remedyId = remedy.id;
  argument.nonce = list.nonce(remedy.id, 0, std::string(command::kRemedyGrant));
  list.add("Escrow: " + remedy.remedy.title, command::kRemedyGrant, protocol::to_json(argument));
}

void add_unlock(ActionList& list) {
  protocol::LockArgument argument;
  argument.locked = false;
  argument.nonce = list.nonce("escrow", 0, std::string(command::kLock));
  list.add("Escrow: Show status", command::kStatus, boost::json::object{});
  list.add("Escrow: Unlock", command::kLock, protocol::to_json(argument));
}

void add_undo(ActionList& list, const Review& review) {
  protocol::UndoArgument argument;
  argument.undoId = review.undo_id;
  argument.nonce = list.nonce(review.undo_id, 0, std::string(command::kUndo));
  list.add_matter("Escrow: Show `" + engine::one_line(review.title, 80) + "`", command::kReviewShow, review);
  list.add("Escrow: Undo `" + engine::one_line(review.title, 80) + "`", command::kUndo, protocol::to_json(argument));
}

/// The newest change applied to this file, if it is recent.
std::shared_ptr<const Review> last_applied(const Broker& broker, const std::string& path) {
  std::shared_ptr<const Review> newest;
  for (const auto& each : broker.settled_reviews()) {
    const Review& review = *each;
    if (review.state != ReviewState::applied || review.undo_id.empty() || review.origin == "undo") continue;
    if (review.updated_ms + kUndoShownMs < now_ms()) continue;
    const bool touches = std::any_of(review.files.begin(), review.files.end(), [&](const ReviewFile& file) {
      return review.root + "/" + file.path == path || review.root + "/" + file.old_path == path;
    });
    if (touches && (newest == nullptr || review.updated_ms > newest->updated_ms)) newest = each;
  }
  return newest;
}

std::vector<Action> gather(Session& session, const FindingsView& view, const std::string& uri, const std::string& path,
                           const protocol::Range& range) {
  ActionList list(session, uri);
  std::set<std::string> seen;
  for (const auto& shown : view.at(uri, range)) {
    const Finding& finding = shown.finding;
    if (!finding.remedy_id.empty() && seen.insert(finding.remedy_id).second) {
      for (const auto& remedy : session.broker->open_remedies()) {
        if (remedy.id == finding.remedy_id) add_remedy(list, remedy);
      }
    }
    if (finding.rule == "locked" && seen.insert("locked").second) add_unlock(list);
    if (finding.review_id.empty() || !seen.insert(finding.review_id).second) continue;
    const auto review = session.broker->find_review(finding.review_id);
    if (!review) continue;
    if (review->kind == ReviewKind::call) {
      add_call(list, *review);
    } else {
      add_change(list, *review, path, range);
    }
  }
  if (!path.empty()) {
    if (const auto applied = last_applied(*session.broker, path)) add_undo(list, *applied);
  }
  return list.take();
}

protocol::Command command_of(const Action& action) {
  protocol::Command wire;
  wire.title = action.title;
  wire.command = std::string(action.command);
  wire.arguments = {{action.argument}};
  return wire;
}

bool wants_quickfix(const protocol::CodeActionParams& params) {
  if (!params.context.only || params.context.only->empty()) return true;
  return std::any_of(params.context.only->begin(), params.context.only->end(),
                     [](const std::string& kind) { return kind.empty() || kind == "quickfix"; });
}

}  // namespace

boost::json::array code_actions(Session& session, const FindingsView& view, const protocol::CodeActionParams& params) {
  boost::json::array wire;
  if (!session.broker || !wants_quickfix(params)) return wire;
  const Document* document = session.documents.find(params.textDocument.uri);
  const std::string uri = document != nullptr ? document->uri : params.textDocument.uri;
  const std::string path = document != nullptr ? document->path : to_path(uri).value_or("");
  for (const auto& action : gather(session, view, uri, path, params.range)) {
    if (!session.client.code_action_literals) {
      wire.push_back(protocol::to_json(command_of(action)));
      continue;
    }
    protocol::CodeAction literal;
    literal.title = action.title;
    literal.kind = "quickfix";
    literal.command = command_of(action);
    wire.push_back(protocol::to_json(literal));
  }
  return wire;
}

std::vector<protocol::CodeLens> code_lenses(Session& session, const FindingsView& view, const std::string& uri) {
  std::vector<protocol::CodeLens> lenses;
  const protocol::Range whole{.start = {}, .end = {.line = 0x7fffffff, .character = 0}};
  std::set<std::string> seen;
  for (const auto& shown : view.at(uri, whole)) {
    if (shown.finding.review_id.empty() || !seen.insert(shown.finding.review_id).second) continue;
    const auto review = session.broker->find_review(shown.finding.review_id);
    if (!review) continue;
    ActionList list(session, uri);
    const std::string lane = std::string(engine::name_of(review->lane));
    list.add_matter(review->kind == ReviewKind::call
                        ? "Escrow: " + engine::one_line(review->title, 60) + " awaits an answer"
                        : "Escrow: " + engine::one_line(review->title, 60) + " (" + lane + ", score " +
                              std::to_string(review->risk.score) + ")",
                    command::kReviewShow, *review);
    for (const auto& action : list.take()) {
      protocol::CodeLens lens;
      lens.range = {.start = shown.range.start, .end = shown.range.start};
      lens.command = command_of(action);
      lenses.push_back(std::move(lens));
    }
  }
  return lenses;
}

}  // namespace escrow::server::lsp
