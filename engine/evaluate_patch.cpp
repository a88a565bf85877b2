#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/evaluate.h"
#include "engine/explain.h"
#include "engine/file_passes.h"
#include "engine/findings.h"
#include "engine/lane.h"
#include "engine/rules.h"
#include "engine/score.h"

namespace escrow::engine {
namespace {

std::vector<Signal> find_signals(const Patch& patch, const OwnRules& own_rules, const Sharing& sharing) {
  const ChangeView change = view_change(patch);
  Findings findings;
  find_in_files(change, sharing, findings);
  find_own_rules(change, own_rules, findings);
  find_weakened_tests(change, findings);
  find_chains(change, findings);
  find_context(change, findings);
  return findings.take();
}

/// An agent's doubt counts only beside something to doubt.
void add_confidence(const Patch& patch, const PatchContext& context, std::vector<Signal>& signals) {
  if (!context.confidence || !std::isfinite(*context.confidence) || signals.empty() || patch.files.empty()) return;
  const double confidence = std::clamp(*context.confidence, 0.0, 1.0);
  const int weight = static_cast<int>(std::lround(10 * (1 - confidence)));
  if (weight == 0) return;
  signals.push_back({.rule = "low-confidence",
                     .file = patch.files.front().path(),
                     .severity = Level::low,
                     .weight = weight,
                     .message = "the agent itself is unsure of this change",
                     .cwe = {}});
}

std::vector<std::string> distinct_rules(const std::vector<Signal>& signals) {
  std::vector<std::string> rules;
  for (const Signal& signal : signals) rules.push_back(signal.rule);
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

Level highest_severity(const std::vector<Signal>& signals) {
  Level level = Level::none;
  for (const Signal& signal : signals) level = std::max(level, signal.severity);
  return level;
}

/// Where one band ends and the next begins. Layers may leave a gap between the two or let them overlap: a score that is
/// in neither or in both is in the stricter one.
int band_end(const Policy& policy, const char* lower, const char* upper, int otherwise) {
  constexpr int kNowhere = 101;
  int last = kNowhere;
  const auto below = policy.risk_bands.find(lower), above = policy.risk_bands.find(upper);
  if (below != policy.risk_bands.end()) last = std::min(last, below->second.max_score.value_or(kNowhere));
  if (above != policy.risk_bands.end()) last = std::min(last, above->second.min_score.value_or(kNowhere + 1) - 1);
  return last == kNowhere ? otherwise : last;
}

LaneBounds lane_bounds(const Policy& policy) {
  LaneBounds bounds;
  bounds.medium = band_end(policy, "medium", "high", bounds.medium);
  bounds.low = std::min(band_end(policy, "low", "medium", bounds.low), bounds.medium);
  return bounds;
}

/// What could not be read was not judged: a person decides, and the points say why.
void close_on_parse_error(const ParsedPatch& change, PatchEvaluation& out) {
  if (change.issues.empty()) return;
  out.notes.emplace_back(kUnreadRule);
  for (const ParseIssue& issue : change.issues) {
    out.notes.push_back("line " + std::to_string(issue.line) + ": " + issue.message);
  }
  out.risk.level = std::max(out.risk.level, Level::high);
  if (out.risk.score >= kUnreadableScore) return;
  out.risk.explain.push_back({std::string(kUnreadRule), kUnreadableScore - out.risk.score});
  out.risk.score = kUnreadableScore;
}

}  // namespace

PatchEvaluation evaluate(const ParsedPatch& change, const PatchContext& context, const Policy& policy) {
  PatchEvaluation out;
  out.risk.signals = find_signals(change.patch, policy.own_rules, context.sharing);
  add_confidence(change.patch, context, out.risk.signals);
  out.risk.categories = distinct_rules(out.risk.signals);
  out.risk.level = highest_severity(out.risk.signals);
  const LaneBounds bounds = lane_bounds(policy);
  Score score = score_signals(out.risk.signals, bounds);
  out.risk.score = score.value;
  out.risk.explain = std::move(score.explain);
  close_on_parse_error(change, out);
  out.lane = change.issues.empty() ? lane_of(out.risk.score, bounds) : Lane::high;
  return out;
}

}  // namespace escrow::engine
