#include "server/review/finding.h"

#include <algorithm>

#include "engine/redact.h"

namespace escrow::server {
namespace {

/// A contiguous run of removed and added lines, and where it stands in the base.
struct Run {
  std::uint32_t first_removed = 0, last_removed = 0;
  std::uint32_t next_old = 0;  ///< the base line after the run
};

/// The run that holds line `index` of the hunk.
Run run_around(const engine::Hunk& hunk, std::size_t index) {
  std::size_t begin = index;
  while (begin > 0 && hunk.lines[begin - 1].kind != engine::LineKind::context) --begin;
  Run run;
  run.next_old = hunk.old_count == 0 ? hunk.old_start + 1 : hunk.old_start;
  for (std::size_t i = 0; i < begin; ++i) {
    if (hunk.lines[i].kind != engine::LineKind::added) run.next_old = hunk.lines[i].old_line + 1;
  }
  for (std::size_t i = begin; i < hunk.lines.size() && hunk.lines[i].kind != engine::LineKind::context; ++i) {
    if (hunk.lines[i].kind != engine::LineKind::removed) continue;
    if (run.first_removed == 0) run.first_removed = hunk.lines[i].old_line;
    run.last_removed = hunk.lines[i].old_line;
    run.next_old = hunk.lines[i].old_line + 1;
  }
  return run;
}

std::string summary_of(const Review& review) {
  const std::string agent = review.agent.empty() ? "A change" : engine::one_line(review.agent, 40) + " proposes";
  std::string text = agent + ": " + engine::one_line(review.title, 120) + " (" +
                     std::string(engine::name_of(review.lane)) + " lane, score " + std::to_string(review.risk.score) +
                     ")";
  switch (review.state) {
    case ReviewState::stale:
      return text + ". Stale: the file changed underneath";
    case ReviewState::unverified:
      return text + ". The editor did not confirm the edit: check the file";
    case ReviewState::failed:
      return text + ". Could not be applied";
    case ReviewState::approved:
      return text + ". Approved, not applied yet";
    case ReviewState::pending:
    case ReviewState::checking:
    case ReviewState::rejected:
    case ReviewState::applied:
    case ReviewState::expired:
    case ReviewState::withdrawn:
      return text + ". Awaits a decision";
  }
  return text;
}

engine::Level severity_of(engine::Lane lane) {
  return lane == engine::Lane::low ? engine::Level::low : engine::Level::medium;
}

std::string absolute_path(const Review& review, const std::string& path) {
  return review.root + "/" + path;
}

void append_call(const Review& review, std::vector<Finding>& findings) {
  const std::string who = review.agent.empty() ? "An agent" : engine::one_line(review.agent, 40);
  findings.push_back({.severity = engine::Level::medium,
                      .rule = review.decision ? review.decision->clause : std::string("command"),
                      .message = who + " asks: " + review.title,
                      .review_id = review.id,
                      .revision = review.revision});
}

void append_file(const Review& review, const ReviewFile& file, std::vector<Finding>& findings) {
  const std::uint32_t first = file.patch.hunks.empty() ? 0 : file.patch.hunks.front().new_start;
  std::uint32_t touched = first;
  for (const auto& hunk : file.patch.hunks) {
    const auto changed = std::find_if(hunk.lines.begin(), hunk.lines.end(), [](const engine::DiffLine& line) {
      return line.kind != engine::LineKind::context;
    });
    if (changed != hunk.lines.end()) {
      touched = changed->new_line;
      break;
    }
  }
  const auto [line, end_line] = base_lines_of(file.patch, touched);
  findings.push_back({.path = absolute_path(review, file.old_path),
                      .line = line,
                      .end_line = end_line,
                      .severity = severity_of(review.lane),
                      .rule = "review",
                      .message = summary_of(review),
                      .review_id = review.id,
                      .revision = review.revision,
                      .proposed_line = touched});
}

}  // namespace

std::pair<std::uint32_t, std::uint32_t> base_lines_of(const engine::FilePatch& patch, std::uint32_t new_line) {
  if (new_line == 0) return {1, 1};
  std::int64_t shift = 0;  // old minus new, after the hunks passed so far
  for (const auto& hunk : patch.hunks) {
    for (std::size_t i = 0; i < hunk.lines.size(); ++i) {
      const auto& line = hunk.lines[i];
      if (line.new_line != new_line) continue;
      if (line.kind == engine::LineKind::context) return {line.old_line, line.old_line};
      const Run run = run_around(hunk, i);
      if (run.first_removed != 0) return {run.first_removed, run.last_removed};
      const std::uint32_t at = std::max<std::uint32_t>(run.next_old, 1);
      return {at, at};
    }
    if (hunk.new_start > new_line) break;
    shift = static_cast<std::int64_t>(hunk.old_start + hunk.old_count) -
            static_cast<std::int64_t>(hunk.new_start + hunk.new_count);
  }
  const auto at = static_cast<std::uint32_t>(std::max<std::int64_t>(1, static_cast<std::int64_t>(new_line) + shift));
  return {at, at};
}

void append_findings(const Review& review, std::vector<Finding>& findings) {
  if (is_final(review.state)) return;
  if (review.kind == ReviewKind::call) return append_call(review, findings);
  for (const auto& file : review.files) append_file(review, file, findings);
  for (std::size_t i = 0; i < review.risk.signals.size(); ++i) {
    const auto& signal = review.risk.signals[i];
    const auto file = std::find_if(review.files.begin(), review.files.end(), [&](const ReviewFile& each) {
      return each.path == signal.file || each.patch.path() == signal.file;
    });
    if (file == review.files.end()) continue;
    const auto [line, end_line] = base_lines_of(file->patch, signal.line);
    findings.push_back({.path = absolute_path(review, file->old_path),
                        .line = line,
                        .end_line = end_line,
                        .severity = signal.severity,
                        .rule = signal.rule,
                        .message = signal.message,
                        .review_id = review.id,
                        .revision = review.revision,
                        .signal = static_cast<int>(i),
                        .proposed_line = signal.line});
  }
}

}  // namespace escrow::server
