#include "engine/score.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "engine/diff_rule_table.h"

namespace escrow::engine {
namespace {

constexpr double kRepeat = 0.15;
constexpr double kMaxWeight = 99;

struct RuleWeight {
  std::string rule;
  double weight = 0;
  bool is_context = false;
};

bool is_context(const std::string& rule) {
  const DiffRule* found = find_diff_rule(rule);
  return found != nullptr && found->is_context;
}

std::vector<RuleWeight> weigh_rules(std::span<const Signal> signals) {
  struct Seen {
    int largest = 0;
    int count = 0;
  };
  std::map<std::string, Seen> seen;
  for (const Signal& signal : signals) {
    Seen& entry = seen[signal.rule];
    entry.largest = std::max(entry.largest, signal.weight);
    ++entry.count;
  }
  std::vector<RuleWeight> out;
  for (const auto& [rule, entry] : seen) {
    const bool context = is_context(rule);
    const double repeat = entry.count > 1 && !context ? kRepeat * entry.largest : 0;
    out.push_back({rule, std::min(kMaxWeight, entry.largest + repeat), context});
  }
  std::stable_sort(out.begin(), out.end(), [](const RuleWeight& a, const RuleWeight& b) {
    return a.is_context != b.is_context ? b.is_context : a.weight > b.weight;
  });
  return out;
}

int rounded(double safe) {
  return static_cast<int>(std::lround(100 * (1 - safe)));
}

}  // namespace

Score score_signals(std::span<const Signal> signals, const LaneBounds& bounds) {
  Score score;
  double safe = 1;  // the product of what each rule leaves
  int ceiling = 100;
  for (const RuleWeight& rule : weigh_rules(signals)) {
    if (rule.is_context && ceiling == 100) ceiling = highest_score(lane_of(score.value, bounds), bounds);
    safe *= 1 - rule.weight / 100;
    // Rounding the running total, not each share, makes the shares add up exactly.
    const int total = std::min(rounded(safe), ceiling);
    score.explain.push_back({rule.rule, total - score.value});
    score.value = total;
  }
  return score;
}

}  // namespace escrow::engine
