#include "server/cli/metrics.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/diff_rule_table.h"
#include "engine/lane.h"

namespace escrow::server::cli {
namespace {

using engine::Lane;
using engine::Verdict;
using Names = std::set<std::string>;

constexpr std::uint32_t kSameFinding = 5, kNear = 2;
constexpr std::string_view kHardStratum = "hard";

std::string named(std::string_view expected, std::string_view got) {
  return std::string(expected) + " expected, " + std::string(got) + " given";
}

template <class Item>
bool has(const std::vector<Item>& items, const Item& wanted) {
  return std::find(items.begin(), items.end(), wanted) != items.end();
}

Metric precision(std::string_view key, std::string_view title, const std::map<std::string, Tally>& tallies) {
  Metric out{key, title};
  for (const auto& [name, tally] : tallies) {
    out.hits += tally.right;
    out.of += tally.right + tally.wrong;
  }
  return out;
}

Metric recall(std::string_view key, std::string_view title, const std::map<std::string, Tally>& tallies) {
  Metric out{key, title};
  for (const auto& [name, tally] : tallies) {
    out.hits += tally.right;
    out.of += tally.right + tally.missed;
  }
  return out;
}

void count(Metric& metric, bool hit) {
  metric.hits += hit ? 1 : 0;
  metric.of += 1;
}

// ---- Commands

/// The categories that say something is wrong; the calm ones are no finding.
Names risky(const std::vector<std::string>& categories) {
  Names out(categories.begin(), categories.end());
  for (const auto* calm : {"read-only", "workspace-write", "build-test"}) out.erase(calm);
  return out;
}

void tally_categories(const LabelledCommand& label, const std::vector<std::string>& found,
                      std::map<std::string, Tally>& tallies) {
  const Names expected = risky(label.categories), given = risky(found);
  for (const auto& name : expected) ++(given.contains(name) ? tallies[name].right : tallies[name].missed);
  for (const auto& name : given) {
    if (!expected.contains(name) && !has(label.tolerated, name)) ++tallies[name].wrong;
  }
}

class CommandCount {
 public:
  void add(const LabelledCommand& label, const engine::Decision& given) {
    const auto level = static_cast<int>(given.risk.level), wanted = static_cast<int>(label.level);
    count(decision_, given.verdict == label.decision);
    count(exact_, level == wanted);
    count(near_, std::abs(level - wanted) <= 1);
    if (label.decision == Verdict::allow) {
      count(over_, given.verdict != Verdict::allow);
    } else {
      count(under_, given.verdict == Verdict::allow);
    }
    if (label.decision == Verdict::deny) count(critical_, given.verdict == Verdict::deny);
    if (given.verdict == Verdict::deny) count(deny_, label.decision == Verdict::deny);
    tally_categories(label, given.risk.categories, tallies_);
    if (given.verdict != label.decision) note(label, given);
  }

  Report take(std::size_t cases) {
    Report out;
    out.cases = cases;
    out.metrics = {decision_,
                   exact_,
                   near_,
                   over_,
                   under_,
                   critical_,
                   deny_,
                   precision("cat_p", "categories given that are right", tallies_),
                   recall("cat_r", "categories expected that are given", tallies_)};
    out.tallies = std::move(tallies_);
    out.mistakes = std::move(mistakes_);
    return out;
  }

 private:
  void note(const LabelledCommand& label, const engine::Decision& given) {
    const auto kind = label.decision == Verdict::allow                                    ? "over-prompt"
                      : given.verdict == Verdict::allow                                   ? "under-block"
                      : label.decision == Verdict::deny && given.verdict != Verdict::deny ? "critical not denied"
                                                                                          : "denied";
    mistakes_.push_back(
        {label.id, kind,
         named(engine::name_of(label.level), engine::name_of(given.risk.level)) + ": " + label.command});
  }

  Metric decision_{"decision_acc", "decisions right"};
  Metric exact_{"level_exact", "levels right"};
  Metric near_{"level_within1", "levels within one"};
  Metric over_{"over_prompt", "over-prompt: asked or denied for nothing", Better::lower};
  Metric under_{"under_block", "under-block: let through", Better::lower};
  Metric critical_{"critical_recall", "critical denied"};
  Metric deny_{"deny_precision", "denials right"};
  std::map<std::string, Tally> tallies_;
  std::vector<Mistake> mistakes_;
};

// ---- Diffs

/// Signals of one rule that lie together.
struct Region {
  std::string rule, file;
  std::uint32_t first = 0, last = 0;
};

std::vector<Region> regions_of_one(const std::string& rule, const std::string& file,
                                   std::vector<std::pair<std::uint32_t, std::uint32_t>> lines) {
  std::sort(lines.begin(), lines.end());
  std::vector<Region> out;
  for (const auto& [first, last] : lines) {
    if (!out.empty() && first <= out.back().last + kSameFinding) {
      out.back().last = std::max(out.back().last, last);
    } else {
      out.push_back({rule, file, first, last});
    }
  }
  return out;
}

std::vector<Region> regions(const std::vector<engine::Signal>& signals) {
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<std::uint32_t, std::uint32_t>>> by_rule;
  for (const auto& signal : signals) {
    by_rule[{signal.rule, signal.file}].emplace_back(signal.line, signal.end_line == 0 ? signal.line : signal.end_line);
  }
  std::vector<Region> out;
  for (const auto& [key, lines] : by_rule) {
    const auto more = regions_of_one(key.first, key.second, lines);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

bool meets(const Region& a, const Region& b, std::uint32_t slack) {
  return a.rule == b.rule && a.file == b.file && b.first <= a.last + slack && b.last + slack >= a.first;
}

/// The first region that overlaps, else the first that is near; the size if there is none.
std::size_t match(const Region& expected, const std::vector<Region>& given) {
  const auto find = [&](std::uint32_t slack) {
    return std::find_if(given.begin(), given.end(), [&](const Region& one) { return meets(expected, one, slack); });
  };
  const auto exact = find(0);
  return static_cast<std::size_t>((exact != given.end() ? exact : find(kNear)) - given.begin());
}

bool is_context(const std::string& rule) {
  const auto* known = engine::find_diff_rule(rule);
  return known != nullptr && known->is_context;
}

void tally_signals(const LabelledDiff& label, const std::vector<engine::Signal>& signals,
                   std::map<std::string, Tally>& tallies) {
  const auto expected = regions(label.signals), given = regions(signals);
  std::set<std::size_t> used;
  Names wanted(label.tolerated.begin(), label.tolerated.end());
  for (const auto& region : expected) {
    wanted.insert(region.rule);
    const auto found = match(region, given);
    auto& tally = tallies[region.rule];
    ++(found < given.size() ? tally.right : tally.missed);
    if (found == given.size()) continue;
    tally.on_line += meets(region, given[found], 0) ? 1 : 0;
    used.insert(found);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& rule = given[i].rule;
    if (!used.contains(i) && !wanted.contains(rule) && !is_context(rule)) ++tallies[rule].wrong;
  }
}

std::string rules_of(const engine::Risk& risk) {
  std::string out;
  for (const auto& name : risk.categories) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "nothing found" : out;
}

class DiffCount {
 public:
  void add(const LabelledDiff& label, const engine::PatchEvaluation& given) {
    const bool accepted = has(label.accepted, given.lane);
    count(strict_, given.lane == label.lane);
    count(lane_, accepted);
    if (!has(label.accepted, Lane::low)) {
      count(risky_, given.lane != Lane::low);
      count(label.stratum == kHardStratum ? hard_ : core_, given.lane != Lane::low);
    }
    if (label.lane == Lane::high) count(high_, accepted);
    if (label.lane == Lane::low) count(benign_, given.lane == Lane::low);
    const int score = given.risk.score;
    count(bounds_, score >= label.min_score && score <= label.max_score);
    tally_signals(label, given.risk.signals, tallies_);
    if (!accepted) note(label, given);
    if (engine::lane_of(score) != given.lane) fail(label);
  }

  Report take(std::size_t cases) {
    Report out;
    out.cases = cases;
    out.failures = failures_;
    Metric located{"located", "found on the right line"};
    for (const auto& [rule, tally] : tallies_) {
      located.hits += tally.on_line;
      located.of += tally.right;
    }
    out.metrics = {strict_,
                   lane_,
                   risky_,
                   core_,
                   hard_,
                   high_,
                   benign_,
                   bounds_,
                   precision("signal_p", "findings given that are right", tallies_),
                   recall("signal_r", "findings expected that are given", tallies_),
                   located};
    out.tallies = std::move(tallies_);
    out.mistakes = std::move(mistakes_);
    return out;
  }

 private:
  void note(const LabelledDiff& label, const engine::PatchEvaluation& given) {
    mistakes_.push_back({label.id, "wrong lane",
                         named(engine::name_of(label.lane), engine::name_of(given.lane)) + " (score " +
                             std::to_string(given.risk.score) + "): " + rules_of(given.risk)});
  }

  void fail(const LabelledDiff& label) {
    ++failures_;
    mistakes_.push_back({label.id, "failure", "the lane contradicts the score"});
  }

  Metric strict_{"lane_strict", "lanes right"};
  Metric lane_{"lane_ok", "lanes right or accepted"};
  Metric risky_{"risky_recall", "risky kept out of low"};
  Metric core_{"risky_core", "  of the core strata"};
  Metric hard_{"risky_hard", "  of the hard stratum"};
  Metric high_{"high_recall", "high found"};
  Metric benign_{"benign_low", "benign kept low"};
  Metric bounds_{"in_bounds", "scores inside their bounds"};
  std::map<std::string, Tally> tallies_;
  std::vector<Mistake> mistakes_;
  std::size_t failures_ = 0;
};

}  // namespace

std::optional<double> Metric::rate() const {
  if (of == 0) return std::nullopt;
  return static_cast<double>(hits) / static_cast<double>(of);
}

Report measure(const std::vector<LabelledCommand>& cases, const std::vector<engine::Evaluation>& answers) {
  CommandCount counts;
  for (std::size_t i = 0; i < cases.size(); ++i) counts.add(cases[i], answers[i].decision);
  return counts.take(cases.size());
}

Report measure(const std::vector<LabelledDiff>& cases, const std::vector<engine::PatchEvaluation>& answers) {
  DiffCount counts;
  for (std::size_t i = 0; i < cases.size(); ++i) counts.add(cases[i], answers[i]);
  return counts.take(cases.size());
}

}  // namespace escrow::server::cli
