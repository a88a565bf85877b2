// Proposed changes: bound to their bases, judged, approved whole or by hunk, and written by the gate.
//
// The gate, in the order of protocol/README.md "Applying": the revision is locked by moving through the store under its
// lock; what is approved is computed again as base + approved hunks and scored again; every base is compared; open
// documents go first, one versioned edit each, believed only when the text comes back; then the disk, all or nothing.

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/json.hpp>

#include "engine/redact.h"
#include "server/broker.h"
#include "server/broker_state.h"
#include "server/clock.h"
#include "server/hash.h"
#include "server/workspace/repository.h"

namespace escrow::server {
namespace {

Error wrong_state(const Review& review, const std::string& wanted) {
  return {ErrorKind::state_conflict,
          "review " + review.id + " is " + std::string(engine::name_of(review.state)) + ", not " + wanted,
          current_of(review)};
}

bool required_checks_hold(const Review& review) {
  return std::all_of(review.checks.begin(), review.checks.end(),
                     [](const Check& check) { return !check.required || check.state == "passed"; });
}

/// A lane approves by itself what its band lets through and its required checks passed.
bool lane_approves(const Review& review, const engine::Policy& policy) {
  const auto band = policy.risk_bands.find(std::string(engine::name_of(review.lane)));
  if (band == policy.risk_bands.end() || review.lane == engine::Lane::high) return false;
  return band->second.auto_merge && !band->second.human_review && required_checks_hold(review);
}

void mark_all(Review& review, HunkMark mark) {
  for (auto& file : review.files) {
    for (auto& hunk : file.hunks) hunk.mark = mark;
  }
}

void approve_as_lane(Review& review) {
  mark_all(review, HunkMark::approved);
  review.state = ReviewState::approved;
  review.approved_by = "lane";
  review.approved_lane = review.lane;
}

std::size_t mark_hunks(Review& review, const std::vector<std::string>& ids, HunkMark mark) {
  std::size_t count = 0;
  for (auto& file : review.files) {
    for (auto& hunk : file.hunks) {
      if (std::find(ids.begin(), ids.end(), hunk.id) == ids.end()) continue;
      hunk.mark = mark;
      ++count;
    }
  }
  return count;
}

bool has_mark(const Review& review, HunkMark mark) {
  for (const auto& file : review.files) {
    for (const auto& hunk : file.hunks) {
      if (hunk.mark == mark) return true;
    }
  }
  return false;
}

boost::json::array written_json(const ApplyOutcome& outcome) {
  boost::json::array files;
  for (const auto& file : outcome.files) {
    files.push_back({{"path", file.path}, {"via", file.via}, {"result", file.result}, {"sha256", file.sha256}});
  }
  return files;
}

std::string hash_of_image(const FileImage& image) {
  return image.exists() ? sha256_hex(image.content) : std::string();
}

/// What the agent said of the bases it worked on, against what stands there.
Result<void> check_stated_bases(const std::vector<StatedBase>& bases, const std::string& root, Editor& editor,
                                const ReadImage& read) {
  for (const auto& base : bases) {
    const auto image = read(base.path);
    if (!image) return image.error();
    const auto open = editor.open_text(root + "/" + base.path);
    const bool moved = base.exists != image->exists() || (base.sha256 && *base.sha256 != hash_of_image(*image)) ||
                       (base.version && open && *base.version != open->version);
    if (!moved) continue;
    return Error{
        ErrorKind::stale, base.path + ": is not the base this change was made on: read it again",
        boost::json::serialize(boost::json::object{
            {"current", {{"path", base.path}, {"exists", image->exists()}, {"sha256", hash_of_image(*image)}}}})};
  }
  return {};
}

}  // namespace

ReadImage Broker::reader(const std::string& root) {
  return [this, root](const std::string& path) -> Result<FileImage> {
    auto image = tree_.read(root, path);
    const auto open = editor_.open_text(root + "/" + path);
    if (!open) return image;
    // The buffer is the base of an open document; kind and mode are still the disk's.
    if (image && image->kind == ImageKind::symlink) return image;
    const std::uint32_t mode = image && image->exists() ? image->mode : 0644u;
    return FileImage{.kind = ImageKind::file, .mode = mode, .content = open->text};
  };
}

/// What a rule or a remembered decision of the person forbids to write is not for review; empty if nothing does. What
/// the table alone thinks of a path, the rules about changes say better.
std::string Broker::why_forbidden(const Asker& asker, const std::string& root, const ReviewFile& file) {
  const auto& rules = options_.policy.rules;
  const bool by_rule = std::any_of(rules.begin(), rules.end(), [](const engine::PolicyRule& rule) {
    return rule.effect == engine::RuleEffect::deny && (!rule.path.empty() || !rule.tool.empty());
  });
  const auto grants = by_rule ? std::vector<engine::Grant>() : grants_.current(now_ms());
  const bool by_grant = std::any_of(grants.begin(), grants.end(), [](const engine::Grant& grant) {
    return grant.effect == engine::GrantEffect::deny && grant.tool == "file";
  });
  if (!by_rule && !by_grant) return {};
  for (const std::string& path : {file.path, file.old_path}) {
    const engine::FileAction write{.op = file.after.exists() ? engine::FileOp::write : engine::FileOp::remove,
                                   .paths = {root + "/" + path},
                                   .to = {}};
    const auto decision = judge_call(asker, write, engine::Venue::cage).decision;
    if (decision.verdict != engine::Verdict::deny || decision.clause.starts_with("command.")) continue;
    return path + ": " + decision.reason;
  }
  return {};
}

Result<Review> Broker::propose(ProposeRequest request) {
  const bool by_agent = !request.agent.agent_id.empty();
  const AgentInfo* agent = nullptr;
  if (by_agent) {
    const auto found = agents_.find(request.agent);
    if (!found) return found.error();
    agent = *found;
    const auto fresh = agents_.claim_call(request.agent.agent_id, request.call_id, request.body_hash);
    if (!fresh) return fresh.error();
    if (!*fresh) return repeat_proposal(call_key(request.agent.agent_id, request.call_id));
  }
  if (locked_) return Error{ErrorKind::locked, "Escrow is locked: the person unlocks it first"};
  std::string root = request.root;
  if (root.empty() && !options_.roots.empty()) root = options_.roots.front();
  if (root.empty() || root_for(root) != root) {
    return Error{ErrorKind::outside_roots, "`" + root + "` is not a folder of this workspace"};
  }
  if (!request.supersedes.empty()) {
    const auto older = store_.get(request.supersedes);
    if (!older) return older.error();
    if (older->agent_id != request.agent.agent_id) {
      return Error{ErrorKind::role_forbidden, "an agent supersedes only its own reviews"};
    }
  }
  const ReadImage read = reader(root);
  if (auto fine = check_stated_bases(request.bases, root, editor_, read); !fine) return fine.error();
  auto files =
      request.patch_text ? change_from_patch(*request.patch_text, read) : change_from_texts(request.files, read);
  if (!files) return files.error();
  const Asker asker{.agent_id = request.agent.agent_id,
                    .name = agent == nullptr ? std::string("person") : agent->name,
                    .session = agent == nullptr ? std::string() : agent->session,
                    .call_id = request.call_id};
  for (const auto& file : *files) {
    if (auto why = why_forbidden(asker, root, file); !why.empty()) return Error{ErrorKind::role_forbidden, why};
  }

  Review review;
  review.id = "r-" + random_token().substr(0, 12);
  review.root = root;
  review.agent = agent == nullptr ? std::string() : agent->name;
  review.agent_id = request.agent.agent_id;
  review.session = agent == nullptr ? std::string() : agent->session;
  review.call_id = request.call_id;
  review.title = engine::one_line(engine::redact(request.title), 200);
  review.origin = by_agent ? "proposal" : "person";
  review.files = std::move(*files);
  auto published = publish(std::move(review), request.confidence);
  if (published && by_agent) proposals_[call_key(request.agent.agent_id, request.call_id)] = published->id;
  if (published && !request.supersedes.empty()) withdraw(request.supersedes, request.agent.agent_id);
  return published;
}

Result<Review> Broker::repeat_proposal(const std::string& key) {
  const auto known = proposals_.find(key);
  if (known == proposals_.end())
    return Error{ErrorKind::state_conflict, "the first call with this callId failed: use a new one"};
  return store_.get(known->second);
}

void Broker::withdraw(const std::string& review_id, const std::string& agent_id) {
  const auto moved = store_.update(review_id, [&](Review& review) -> Result<void> {
    if (review.agent_id != agent_id) return Error{ErrorKind::role_forbidden, "another agent's review"};
    if (!may_move(review.state, ReviewState::withdrawn)) return wrong_state(review, "open");
    review.state = ReviewState::withdrawn;
    review.updated_ms = now_ms();
    return {};
  });
  if (!moved) return;
  record("withdrawn", {{"reviewId", review_id}});
  announce(*moved);
}

Result<Review> Broker::publish(Review review, std::optional<double> confidence) {
  judge_change(review, confidence, options_.policy);
  const std::int64_t now = now_ms();
  if (review.created_ms == 0) review.created_ms = now;
  review.updated_ms = now;
  review.expires_ms = now + options_.policy.review_expiry_ms;
  review.state = ReviewState::pending;
  if (lane_approves(review, options_.policy)) approve_as_lane(review);
  if (auto kept = store_.put(review); !kept) return kept.error();
  record("review", {{"reviewId", review.id},
                    {"revision", review.revision},
                    {"agent", review.agent},
                    {"title", review.title},
                    {"lane", engine::name_of(review.lane)},
                    {"score", review.risk.score},
                    {"state", engine::name_of(review.state)},
                    {"files", review.files.size()}});
  announce(review);
  return review;
}

Result<Review> Broker::approve(const std::string& review_id, int revision, const std::vector<std::string>& hunks,
                               const std::string& by) {
  auto approved = store_.update(review_id, [&](Review& review) -> Result<void> {
    if (review.revision != revision) return moved_on(review);
    if (!may_move(review.state, ReviewState::approved)) return wrong_state(review, "open");
    if (hunks.empty()) {
      mark_all(review, HunkMark::approved);
    } else if (mark_hunks(review, hunks, HunkMark::approved) != hunks.size()) {
      return Error{ErrorKind::not_found, "a hunk of that id is not part of revision " + std::to_string(revision)};
    }
    review.updated_ms = now_ms();
    if (has_mark(review, HunkMark::undecided)) return {};
    review.state = ReviewState::approved;
    review.approved_by = by;
    review.approved_lane = review.lane;
    return {};
  });
  if (!approved) return approved;
  record("approve", {{"reviewId", review_id},
                     {"revision", revision},
                     {"by", by},
                     {"hunks", hunks.size()},
                     {"state", engine::name_of(approved->state)}});
  announce(*approved);
  return approved;
}

Result<Review> Broker::reject(const std::string& review_id, int revision, const std::vector<std::string>& hunks,
                              const std::string& reason) {
  auto rejected = store_.update(review_id, [&](Review& review) -> Result<void> {
    if (revision != 0 && review.revision != revision) return moved_on(review);
    if (!may_move(review.state, ReviewState::rejected)) return wrong_state(review, "open");
    if (!hunks.empty() && mark_hunks(review, hunks, HunkMark::rejected) != hunks.size()) {
      return Error{ErrorKind::not_found, "a hunk of that id is not part of revision " + std::to_string(revision)};
    }
    review.updated_ms = now_ms();
    if (!hunks.empty() && has_mark(review, HunkMark::undecided)) return {};
    const bool keeps_some = !hunks.empty() && has_mark(review, HunkMark::approved);
    review.state = keeps_some ? ReviewState::approved : ReviewState::rejected;
    if (keeps_some) {
      review.approved_by = "person";
      review.approved_lane = review.lane;
    }
    return {};
  });
  if (!rejected) return rejected;
  if (rejected->state == ReviewState::rejected) settle_stage(*rejected);
  record("reject", {{"reviewId", review_id},
                    {"reason", engine::redact(reason)},
                    {"hunks", hunks.size()},
                    {"state", engine::name_of(rejected->state)}});
  announce(*rejected);
  return rejected;
}

std::vector<std::string> Broker::moved_files(const Review& review) {
  std::vector<std::string> moved;
  const ReadImage read = reader(review.root);
  for (const auto& file : review.files) {
    const auto now = read(file.old_path);
    if (!now || fingerprint(*now) != fingerprint(file.before)) moved.push_back(file.old_path);
    if (file.old_path == file.path) continue;
    const auto target = read(file.path);
    if (!target || target->exists()) moved.push_back(file.path);
  }
  return moved;
}

void Broker::mark_stale(const std::string& review_id, const std::vector<std::string>& moved) {
  auto stale = store_.update(review_id, [&](Review& review) -> Result<void> {
    if (!may_move(review.state, ReviewState::stale)) return wrong_state(review, "open");
    review.state = ReviewState::stale;
    review.updated_ms = now_ms();
    mark_all(review, HunkMark::undecided);
    return {};
  });
  if (!stale) return;
  record("stale", {{"reviewId", review_id}, {"revision", stale->revision}, {"files", boost::json::value_from(moved)}});
  announce(*stale);
  // Stale is information: where the change still fits, it is shown again as a new revision, all approvals dropped.
  if (auto rebased = rebase_review(*stale, reader(stale->root))) (void)publish(std::move(*rebased), std::nullopt);
}

void Broker::recheck_bases(const std::string& path) {
  const std::string root = root_for(path);
  if (root.empty()) return;
  const std::string relative = path.substr(root.size() + 1);
  for (const auto& each : store_.open(root)) {
    const Review& review = *each;
    if (!may_move(review.state, ReviewState::stale)) continue;
    const bool touches = std::any_of(review.files.begin(), review.files.end(), [&](const ReviewFile& file) {
      return file.path == relative || file.old_path == relative;
    });
    if (!touches || applying_.contains(review.id)) continue;
    if (const auto moved = moved_files(review); !moved.empty()) mark_stale(review.id, moved);
  }
}

void Broker::apply_by_agent(const Credential& agent, const std::string& review_id, int revision, bool save,
                            Reply<ApplyOutcome> reply) {
  if (const auto known = agents_.find(agent); !known) return reply(known.error());
  const auto review = store_.get(review_id);
  if (!review) return reply(review.error());
  if (review->agent_id != agent.agent_id) {
    return reply(Error{ErrorKind::role_forbidden, "an agent applies only its own reviews"});
  }
  apply(review_id, revision, save, std::move(reply));
}

void Broker::apply(const std::string& review_id, int revision, bool save, Reply<ApplyOutcome> reply) {
  const auto review = store_.get(review_id);
  if (!review) return reply(review.error());
  if (auto fine = may_apply(*review, revision); !fine) return reply(fine.error());
  auto part = approved_part(*review);
  if (!part) return reply(part.error());
  judge_change(*part, std::nullopt, options_.policy);
  if (part->lane > review->approved_lane) {
    (void)store_.update(review_id, [&](Review& stored) -> Result<void> {
      stored.state = ReviewState::pending;
      stored.notes.push_back("the approved part scores higher than what was approved: look again");
      return {};
    });
    changed();
    return reply(
        Error{ErrorKind::state_conflict, "the approved hunks alone are in a higher lane: they must be approved again"});
  }
  if (const auto moved = moved_files(*review); !moved.empty()) {
    mark_stale(review_id, moved);
    const auto now = store_.get(review_id);
    return reply(Error{ErrorKind::stale, moved.front() + ": changed since it was reviewed; nothing was written",
                       now ? current_of(*now) : std::string()});
  }
  auto writes = approved_writes(*review);
  if (!writes) return reply(writes.error());
  auto work = std::make_shared<Application>();
  work->review = *review;
  work->review.files = part->files;
  work->save = save;
  work->reply = std::move(reply);
  for (auto& write : *writes) {
    const std::string absolute = review->root + "/" + write.path;
    const bool plain = write.before.kind == ImageKind::file && write.after.kind == ImageKind::file &&
                       git_mode(write.before) == git_mode(write.after);
    if (editor_.open_text(absolute) && plain) {
      work->open.push_back(
          {.path = write.path, .absolute = absolute, .before = write.before.content, .after = write.after.content});
    } else {
      work->disk.push_back(std::move(write));
    }
  }
  applying_.insert(review_id);
  (void)audit_.sync();  // the approval is on the disk before what it allows
  write_open_documents(work);
}

Result<void> Broker::may_apply(const Review& review, int revision) const {
  if (locked_) return Error{ErrorKind::locked, "Escrow is locked: the person unlocks it first"};
  if (review.revision != revision) return moved_on(review);
  if (review.state != ReviewState::approved) return wrong_state(review, "approved");
  if (root_for(review.root) != review.root) {
    return Error{ErrorKind::outside_roots, "the workspace of this review is not open here"};
  }
  if (applying_.contains(review.id)) return Error{ErrorKind::state_conflict, "this review is being applied"};
  if (review.expires_ms < now_ms())
    return Error{ErrorKind::state_conflict, "the approval has expired: propose it again"};
  if (review.approved_by == "lane" && !required_checks_hold(review)) {
    return Error{ErrorKind::state_conflict, "a required check has not passed: a person must approve it"};
  }
  return {};
}

/// One document after the other: an editor that declines the second has the first put back.
void Broker::write_open_documents(const std::shared_ptr<Application>& work) {
  if (work->next == work->open.size()) return write_disk(work);
  auto& edit = work->open[work->next];
  const auto open = editor_.open_text(edit.absolute);
  if (!open || open->text != edit.before) {
    return put_back_documents(work, ReviewState::stale, "changed in the editor since it was reviewed");
  }
  editor_.replace_text(edit.absolute, open->version, edit.after, [this, work](EditOutcome outcome) {
    auto& current = work->open[work->next];
    switch (outcome) {
      case EditOutcome::applied:
        current.done = true;
        ++work->next;
        return write_open_documents(work);
      case EditOutcome::declined:
        return put_back_documents(work, ReviewState::failed, "the editor declined the edit");
      case EditOutcome::unverified:
        work->outcome.reason = current.path + ": the editor did not confirm the edit";
        return finish_application(work, ReviewState::unverified);
    }
  });
}

void Broker::write_disk(const std::shared_ptr<Application>& work) {
  if (!work->disk.empty()) {
    const auto written = tree_.write_all(work->review.root, work->disk);
    if (!written) {
      const bool stale = written.error().kind == ErrorKind::stale;
      return put_back_documents(work, stale ? ReviewState::stale : ReviewState::failed, written.error().message);
    }
  }
  if (work->save) {
    for (const auto& edit : work->open) editor_.save(edit.absolute);
  }
  work->outcome.undo_id = "u-" + random_token().substr(0, 12);
  finish_application(work, ReviewState::applied);
}

/// Nothing is on disk yet: the documents already edited get their old text back, so that all of it is old.
void Broker::put_back_documents(const std::shared_ptr<Application>& work, ReviewState state,
                                const std::string& reason) {
  work->outcome.reason = reason;
  for (auto& edit : work->open) {
    const auto open = editor_.open_text(edit.absolute);
    if (!edit.done || !open || open->text != edit.after) continue;
    edit.done = false;
    editor_.replace_text(edit.absolute, open->version, edit.before, [](EditOutcome) {});
  }
  finish_application(work, state);
}

void Broker::finish_application(const std::shared_ptr<Application>& work, ReviewState to) {
  applying_.erase(work->review.id);
  const bool applied = to == ReviewState::applied;
  work->outcome.state = applied ? "applied" : to == ReviewState::unverified ? "unverified" : "refused";
  for (const auto& edit : work->open) {
    work->outcome.files.push_back({.path = edit.path,
                                   .via = "editor",
                                   .result = edit.done                       ? "written"
                                             : to == ReviewState::unverified ? "unverified"
                                                                             : "untouched",
                                   .sha256 = sha256_hex(edit.done ? edit.after : edit.before)});
  }
  for (const auto& write : work->disk) {
    const FileImage& now = applied ? write.after : write.before;
    work->outcome.files.push_back({.path = write.path,
                                   .via = "disk",
                                   .result = !applied               ? "untouched"
                                             : write.after.exists() ? "written"
                                                                    : "deleted",
                                   .sha256 = hash_of_image(now)});
  }
  if (to == ReviewState::stale) {
    mark_stale(work->review.id, {work->outcome.reason});
  } else {
    const auto moved = store_.update(work->review.id, [&](Review& review) -> Result<void> {
      if (!may_move(review.state, to)) return wrong_state(review, "approved");
      review.state = to;
      review.updated_ms = now_ms();
      review.undo_id = work->outcome.undo_id;
      if (applied) {
        settle_stage(review);
        review.files = work->review.files;  // what was written, for undo
      }
      if (!work->outcome.reason.empty()) review.notes.push_back(work->outcome.reason);
      return {};
    });
    if (moved) announce(*moved);
  }
  record("apply", {{"reviewId", work->review.id},
                   {"revision", work->review.revision},
                   {"approvedBy", work->review.approved_by},
                   {"state", work->outcome.state},
                   {"reason", work->outcome.reason},
                   {"undoId", work->outcome.undo_id},
                   {"files", written_json(work->outcome)}});
  work->reply(work->outcome);
}

void Broker::undo(const std::string& undo_id, Reply<ApplyOutcome> reply) {
  for (const auto& root : options_.roots) {
    for (const auto& review : store_.settled(root)) {
      if (undo_id.empty() || review->undo_id != undo_id) continue;
      const auto whole = store_.get(review->id);
      return whole ? apply_reversed(*whole, std::move(reply)) : reply(whole.error());
    }
  }
  reply(Error{ErrorKind::not_found, "nothing was applied under " + undo_id + " in this workspace"});
}

/// An undo is a change like any other: bound to what stands there now, scored, recorded, and itself undoable.
void Broker::apply_reversed(const Review& applied, Reply<ApplyOutcome> reply) {
  Review back;
  back.id = "r-" + random_token().substr(0, 12);
  back.root = applied.root;
  back.title = "Undo: " + applied.title;
  back.origin = "undo";
  for (const auto& file : applied.files) {
    back.files.push_back(make_review_file(file.path, file.old_path, file.after, file.before));
  }
  auto published = publish(std::move(back), std::nullopt);
  if (!published) return reply(published.error());
  if (published->state != ReviewState::approved) {
    published = approve(published->id, published->revision, {}, "person");
    if (!published) return reply(published.error());
  }
  apply(published->id, published->revision, false,
        [this, id = applied.id, reply = std::move(reply)](Result<ApplyOutcome> outcome) {
          if (outcome && outcome->state == "applied") {
            (void)store_.update(id, [](Review& review) -> Result<void> {
              review.undo_id.clear();  // nothing is left to undo: the undo itself has an id of its own
              review.notes.emplace_back("undone");
              return {};
            });
          }
          reply(std::move(outcome));
        });
}

}  // namespace escrow::server
