#include "server/cli/review_view.h"

#include <algorithm>
#include <boost/json/array.hpp>

#include "engine/redact.h"
#include "server/cli/times.h"
#include "server/json_out.h"

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

Tone tone_of_state(ReviewState state) {
  switch (state) {
    case ReviewState::pending:
    case ReviewState::checking:
    case ReviewState::stale:
    case ReviewState::unverified:
      return Tone::yellow;
    case ReviewState::approved:
    case ReviewState::applied:
      return Tone::green;
    case ReviewState::rejected:
    case ReviewState::failed:
      return Tone::red;
    case ReviewState::expired:
    case ReviewState::withdrawn:
      return Tone::dim;
  }
  return Tone::plain;
}

std::string author_of(const Review& review) {
  return review.agent.empty() ? "you" : engine::one_line(review.agent, 80);
}

std::string mark_text(const ReviewFile& file) {
  std::size_t approved = 0;
  std::size_t rejected = 0;
  for (const auto& hunk : file.hunks) {
    approved += hunk.mark == HunkMark::approved ? 1 : 0;
    rejected += hunk.mark == HunkMark::rejected ? 1 : 0;
  }
  if (approved + rejected == 0 || approved == file.hunks.size()) return {};
  return "  " + std::to_string(approved) + " of " + std::to_string(file.hunks.size()) + " hunks approved";
}

std::string colored_diff_line(std::string_view line, const Style& style) {
  auto text = engine::make_visible(line);
  if (line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ")) return style.bold(text);
  if (line.starts_with('+')) return style.paint(Tone::green, text);
  if (line.starts_with('-')) return style.paint(Tone::red, text);
  if (line.starts_with("@@")) return style.dim(text);
  return text;
}

std::string colored_diff(const std::string& diff, const Style& style) {
  std::string out;
  for (std::size_t begin = 0; begin < diff.size();) {
    const auto end = std::min(diff.find('\n', begin), diff.size());
    out += colored_diff_line(std::string_view(diff).substr(begin, end - begin), style) + "\n";
    begin = end + 1;
  }
  return out;
}

std::string findings_text(const Review& review, const Style& style) {
  std::string out;
  for (const auto& signal : review.risk.signals) {
    auto place = engine::one_line(signal.file, 4096);
    if (signal.line != 0) place += ":" + std::to_string(signal.line);
    if (!place.empty()) out += style.bold(place) + ": ";
    out += style.name(signal.severity) + ": " + engine::one_line(signal.message) + " " +
           style.dim("[" + signal.rule + "]") + "\n";
  }
  return out;
}

std::string checks_text(const Review& review) {
  std::string out;
  for (const auto& check : review.checks) {
    out += "  " + padded(check.name, 22) + " " + check.state + (check.required ? ", required" : "") +
           (check.detail.empty() ? "" : ": " + engine::one_line(check.detail)) + "\n";
  }
  return out;
}

std::string call_text(const Review& review) {
  std::string out;
  if (review.action) out += "  " + engine::describe(*review.action) + "\n";
  if (!review.cwd.empty()) out += "  in " + engine::one_line(review.cwd, 4096) + "\n";
  if (review.decision && !review.decision->reason.empty()) out += engine::one_line(review.decision->reason, 400) + "\n";
  return out;
}

json::array json_review_files(const Review& review) {
  json::array files;
  for (const auto& file : review.files) {
    auto one = json_file(file.patch);
    json::array hunks;
    for (const auto& hunk : file.hunks) {
      hunks.emplace_back(json::object{{"id", json_text(hunk.id)}, {"mark", engine::name_of(hunk.mark)}});
    }
    one["hunks"] = std::move(hunks);
    files.emplace_back(std::move(one));
  }
  return files;
}

json::array json_checks(const Review& review) {
  json::array checks;
  for (const auto& check : review.checks) {
    checks.emplace_back(json::object{{"name", json_text(check.name)},
                                     {"state", json_text(check.state)},
                                     {"detail", json_text(check.detail)},
                                     {"required", check.required}});
  }
  return checks;
}

}  // namespace

std::string review_diff(const Review& review) {
  std::string out;
  for (const auto& file : review.files) out += engine::print_file_patch(file.patch);
  return out;
}

std::string review_line(const Review& review, const Style& style) {
  const auto state = style.paint(tone_of_state(review.state), padded(engine::name_of(review.state), 10));
  return style.bold(padded(review.id, 14)) + "  " + state + "  " +
         style.paint(tone_of(review.lane), padded(engine::name_of(review.lane), 6)) + "  " +
         engine::one_line(review.title, 100) +
         style.dim("  (" + author_of(review) + ", " + local_time(review.created_ms) + ")") + "\n";
}

std::string review_files_text(const Review& review, const Style& style) {
  std::size_t width = 0;
  for (const auto& file : review.files) width = std::max(width, columns(engine::one_line(file.path, 4096)));
  std::string out;
  for (const auto& file : review.files) {
    const auto counts = engine::count_lines(file.patch);
    auto size = style.paint(Tone::green, "+" + std::to_string(counts.added)) + " " +
                style.paint(Tone::red, "-" + std::to_string(counts.removed));
    if (file.patch.binary) size = "binary";
    out += std::string("  ") + engine::letter_of(file.patch.status) + " " +
           padded(engine::one_line(file.path, 4096), width) + "  " + size + style.dim(mark_text(file)) + "\n";
  }
  return out;
}

std::string review_text(const Review& review, const Style& style) {
  auto out = style.bold(review.id) + " revision " + std::to_string(review.revision) + ": " +
             style.paint(tone_of_state(review.state), engine::name_of(review.state)) + "\n";
  out += engine::one_line(review.title, 200) +
         style.dim("  (" + author_of(review) + ", " + local_time(review.created_ms) + ")") + "\n\n";
  if (review.kind == ReviewKind::call) return out + call_text(review);
  out += review_files_text(review, style) + "\n" + colored_diff(review_diff(review), style) + "\n";
  out += findings_text(review, style);
  out += style.paint(tone_of(review.lane), std::string(engine::name_of(review.lane)) + " lane") + ", " +
         std::to_string(review.risk.score) + " of 100\n";
  if (!review.checks.empty()) out += "checks\n" + checks_text(review);
  for (const auto& note : review.notes) out += style.paint(Tone::yellow, "note: ") + engine::one_line(note, 400) + "\n";
  if (!review.undo_id.empty()) out += style.dim("undo with: escrow review undo " + review.undo_id) + "\n";
  return out;
}

json::object json_review(const Review& review, Detail detail) {
  json::object out;
  out["reviewId"] = json_text(review.id);
  out["revision"] = review.revision;
  out["kind"] = engine::name_of(review.kind);
  out["state"] = engine::name_of(review.state);
  out["lane"] = engine::name_of(review.lane);
  out["level"] = engine::name_of(review.risk.level);
  out["score"] = review.risk.score;
  out["title"] = json_text(review.title);
  out["agent"] = json_text(review.agent);
  out["root"] = json_text(review.root);
  out["createdAt"] = review.created_ms;
  out["expiresAt"] = review.expires_ms;
  if (!review.undo_id.empty()) out["undoId"] = json_text(review.undo_id);
  out["files"] = json_review_files(review);
  if (detail == Detail::summary) return out;
  out["signals"] = json_signals(review.risk.signals);
  out["explain"] = json_explain(review.risk.explain);
  out["checks"] = json_checks(review);
  out["notes"] = json_texts(review.notes);
  if (review.action) out["action"] = json_text(engine::describe(*review.action));
  out["diff"] = json_text(review_diff(review));
  return out;
}

json::object json_changes(const Review& review) {
  json::array files;
  for (const auto& file : review.files) files.emplace_back(json_file(file.patch));
  json::object out;
  out["reviewId"] = json_text(review.id);
  out["lane"] = engine::name_of(review.lane);
  out["score"] = review.risk.score;
  out["files"] = std::move(files);
  out["diff"] = json_text(review_diff(review));
  return out;
}

}  // namespace escrow::server::cli
