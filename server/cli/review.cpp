#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <optional>

#include "engine/redact.h"
#include "server/cli/command.h"
#include "server/cli/consent.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/person_session.h"
#include "server/cli/review_view.h"
#include "server/json_out.h"
#include "server/store/review_store.h"

// escrow review: the proposals of this workspace. Approving loosens, so it shows the whole change and asks.

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

struct ReviewOptions {
  OutputOptions output;
  std::string id, reason;
  std::vector<std::string> hunks;
  bool all = false;
  bool yes = false;
};

using Options = std::shared_ptr<ReviewOptions>;

int run_list(const ReviewOptions& options) {
  const auto place = find_workplace();
  if (!place) return fail(place.error().message);
  std::vector<Review> reviews = ReviewStore(place->places.state_dir + "/reviews").list(place->root);
  if (!options.all) std::erase_if(reviews, [](const Review& review) { return is_final(review.state); });
  if (options.output.as_json()) {
    json::array all;
    for (const auto& review : reviews) all.emplace_back(json_review(review, Detail::summary));
    put_json({{"reviews", std::move(all)}});
    return kOk;
  }
  const auto style = options.output.style();
  for (const auto& review : reviews) put(review_line(review, style));
  if (reviews.empty()) put(options.all ? "no reviews in this workspace\n" : "nothing is waiting in this workspace\n");
  return kOk;
}

void print_review(const Review& review, const OutputOptions& output) {
  if (output.as_json()) {
    put_json(json_review(review, Detail::whole));
  } else {
    put(review_text(review, output.style()));
  }
}

int run_show(const ReviewOptions& options) {
  const auto place = find_workplace();
  if (!place) return fail(place.error().message);
  const auto review = ReviewStore(place->places.state_dir + "/reviews").get(options.id);
  if (!review) return fail(review.error().message);
  print_review(*review, options.output);
  return kOk;
}

int print_line(const Result<Review>& review, const OutputOptions& output) {
  if (!review) return fail(review.error().message);
  if (output.as_json()) {
    put_json(json_review(*review, Detail::summary));
  } else {
    put(review_line(*review, output.style()));
  }
  return kOk;
}

/// The question is about exactly what was shown: the revision shown is the one approved.
int run_approve(const ReviewOptions& options) {
  const auto session = PersonSession::open({});
  if (!session) return fail(session.error().message);
  auto& broker = (*session)->broker();
  const auto review = broker.review(options.id);
  if (!review) return fail(review.error().message);
  if (!options.output.as_json()) put(review_text(*review, options.output.style()) + "\n");
  close_output(kOk);
  const auto what = options.hunks.empty() ? std::string("this change") : counted(options.hunks.size(), "hunk");
  auto agreed = confirm("Approve " + what + "?", options.yes ? AnswerWith::yes_flag : AnswerWith::question);
  if (!agreed) return fail(agreed.error().message);
  return print_line(broker.approve(options.id, review->revision, options.hunks, "person"), options.output);
}

int run_reject(const ReviewOptions& options) {
  const auto session = PersonSession::open({});
  if (!session) return fail(session.error().message);
  auto rejected = (*session)->broker().reject(options.id, 0, options.hunks, options.reason);
  return print_line(rejected, options.output);
}

json::object json_outcome(const ApplyOutcome& outcome) {
  json::array files;
  for (const auto& file : outcome.files) {
    files.emplace_back(json::object{{"path", json_text(file.path)},
                                    {"via", json_text(file.via)},
                                    {"result", json_text(file.result)},
                                    {"sha256", json_text(file.sha256)}});
  }
  json::object out;
  out["state"] = json_text(outcome.state);
  if (!outcome.reason.empty()) out["reason"] = json_text(outcome.reason);
  out["files"] = std::move(files);
  if (!outcome.undo_id.empty()) out["undoId"] = json_text(outcome.undo_id);
  return out;
}

int print_outcome(const std::optional<Result<ApplyOutcome>>& outcome, const OutputOptions& output) {
  if (!outcome) return fail("the change was not applied: the gate gave no answer");
  if (!*outcome) return fail(outcome->error().message);
  const auto& done = **outcome;
  const bool applied = done.state == "applied";
  if (output.as_json()) {
    put_json(json_outcome(done));
    return applied ? kOk : kFlagged;
  }
  const auto style = output.style();
  put(style.paint(applied ? Tone::green : Tone::red, done.state) +
      (done.reason.empty() ? "" : ": " + engine::one_line(done.reason, 400)) + "\n");
  for (const auto& file : done.files)
    put("  " + padded(file.result, 10) + " " + engine::one_line(file.path, 4096) + "\n");
  if (!done.undo_id.empty()) put(style.dim("undo with: escrow review undo " + done.undo_id) + "\n");
  return applied ? kOk : kFlagged;
}

int run_apply(const ReviewOptions& options) {
  const auto session = PersonSession::open({});
  if (!session) return fail(session.error().message);
  auto& broker = (*session)->broker();
  const auto review = broker.review(options.id);
  if (!review) return fail(review.error().message);
  std::optional<Result<ApplyOutcome>> outcome;
  broker.apply(options.id, review->revision, false, [&](Result<ApplyOutcome> result) { outcome = std::move(result); });
  while (!outcome && (*session)->loop().run_one() > 0) {
  }
  return print_outcome(outcome, options.output);
}

int run_undo(const ReviewOptions& options) {
  const auto session = PersonSession::open({});
  if (!session) return fail(session.error().message);
  std::optional<Result<ApplyOutcome>> outcome;
  (*session)->broker().undo(options.id, [&](Result<ApplyOutcome> result) { outcome = std::move(result); });
  while (!outcome && (*session)->loop().run_one() > 0) {
  }
  return print_outcome(outcome, options.output);
}

CLI::App& add_one(CommandTree& tree, CLI::App& group, const std::string& name, const std::string& description,
                  const Options& options, int (*run)(const ReviewOptions&)) {
  auto* app = group.add_subcommand(name, description);
  add_output_options(*app, options->output);
  tree.commands.push_back({"review " + name, app, [options, run] { return run(*options); }});
  return *app;
}

void add_id(CLI::App& app, const Options& options, const std::string& placeholder) {
  add_text(app, "id", options->id, placeholder, "as review list shows it")->required();
}

void add_hunks(CLI::App& app, const Options& options) {
  add_texts(app, "--hunk", options->hunks, "HUNK", "only this hunk (again for more); ids are in review show --json");
}

}  // namespace

void add_review(CommandTree& tree) {
  auto* group = tree.root.add_subcommand("review", "Proposed changes: list, show, approve, reject, apply, undo");
  group->require_subcommand(1);
  const auto fresh = [] { return std::make_shared<ReviewOptions>(); };

  auto list = fresh();
  add_one(tree, *group, "list", "What waits in this workspace", list, run_list)
      .add_flag("--all", list->all, "also what is settled");
  auto show = fresh();
  add_id(add_one(tree, *group, "show", "One, whole", show, run_show), show, "REVIEW");
  auto approve = fresh();
  auto& approve_app = add_one(tree, *group, "approve", "Approve it (asks you on the terminal)", approve, run_approve);
  add_id(approve_app, approve, "REVIEW");
  add_hunks(approve_app, approve);
  approve_app.add_flag("--yes", approve->yes, "do not ask; only with ESCROW_GRANTS_PATH or ESCROW_STATE_DIR set");
  auto reject = fresh();
  auto& reject_app = add_one(tree, *group, "reject", "Reject it", reject, run_reject);
  add_id(reject_app, reject, "REVIEW");
  add_hunks(reject_app, reject);
  add_text(reject_app, "--reason", reject->reason, "TEXT", "why; kept in the log");
  auto apply = fresh();
  add_id(add_one(tree, *group, "apply", "Write an approved one to the files, all or nothing", apply, run_apply), apply,
         "REVIEW");
  auto undo = fresh();
  add_id(add_one(tree, *group, "undo", "Take an applied one back", undo, run_undo), undo, "UNDO");
}

}  // namespace escrow::server::cli
