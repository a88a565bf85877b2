#include "engine/score.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "engine/diff_rule_table.h"
#include "engine/lane.h"
#include "tests/catch.h"

namespace escrow::engine {
namespace {

Signal signal_of(const std::string& rule, int weight) {
  Signal signal;
  signal.rule = rule;
  signal.weight = weight;
  return signal;
}

std::vector<Signal> signals(std::initializer_list<std::pair<std::string, int>> weights) {
  std::vector<Signal> out;
  for (const auto& [rule, weight] : weights) out.push_back(signal_of(rule, weight));
  return out;
}

int points(const Score& score) {
  return std::accumulate(score.explain.begin(), score.explain.end(), 0,
                         [](int sum, const Contribution& share) { return sum + share.points; });
}

TEST_CASE("weights combine as independent chances, and the points add up to the score") {
  const auto check = [](std::initializer_list<std::pair<std::string, int>> weights, int expected) {
    const Score score = score_signals(signals(weights));
    CHECK(score.value == expected);
    CHECK(points(score) == expected);
  };
  check({}, 0);
  check({{"sql-injection", 60}}, 60);
  check({{"sql-injection", 60}, {"shell-exec", 50}}, 80);
  check({{"sql-injection", 60}, {"sql-injection", 60}}, 69);
  check({{"sql-injection", 60}, {"sql-injection", 60}, {"sql-injection", 60}}, 69);
  check({{"sql-injection", 60}, {"sql-injection", 24}}, 69);
  check({{"reverse-shell", 95}, {"reverse-shell", 95}}, 99);
  check({{"reverse-shell", 95}, {"secret-literal", 85}, {"tls-verify-off", 75}}, 100);
}

TEST_CASE("the order of the signals does not matter") {
  std::vector<Signal> all = signals({{"a", 12}, {"secret-literal", 85}, {"b", 35}, {"b", 20}, {"sensitive-path", 12}});
  const Score first = score_signals(all);
  std::sort(all.begin(), all.end(), [](const Signal& x, const Signal& y) { return x.weight < y.weight; });
  do {
    CHECK(score_signals(all).explain == first.explain);
  } while (std::next_permutation(all.begin(), all.end(),
                                 [](const Signal& x, const Signal& y) { return x.weight < y.weight; }));
}

TEST_CASE("one more signal never lowers the score") {
  std::vector<Signal> all;
  int before = 0;
  for (const auto& [rule, weight] : std::vector<std::pair<std::string, int>>{{"sensitive-path", 12},
                                                                             {"mode-executable", 15},
                                                                             {"large-change", 15},
                                                                             {"binary-file", 5},
                                                                             {"low-confidence", 9},
                                                                             {"shell-exec", 50},
                                                                             {"shell-exec", 20},
                                                                             {"secret-literal", 85}}) {
    all.push_back(signal_of(rule, weight));
    const int now = score_signals(all).value;
    CHECK(now >= before);
    before = now;
  }
}

TEST_CASE("context amplifies and never decides the lane") {
  CHECK(score_signals(signals({{"sensitive-path", 12}, {"large-change", 15}, {"low-confidence", 10}})).value == 30);
  CHECK(score_signals(signals({{"mode-executable", 15}, {"sensitive-path", 12}, {"large-change", 15}})).value == 30);
  CHECK(score_signals(signals({{"sql-injection", 60}, {"sensitive-path", 12}, {"large-change", 15}})).value == 70);
  CHECK(score_signals(signals({{"test-weakened", 35}, {"sensitive-path", 12}})).value == 43);
}

TEST_CASE("lanes end at 30 and 70") {
  CHECK(lane_of(0) == Lane::low);
  CHECK(lane_of(30) == Lane::low);
  CHECK(lane_of(31) == Lane::medium);
  CHECK(lane_of(70) == Lane::medium);
  CHECK(lane_of(71) == Lane::high);
  CHECK(lane_of(100) == Lane::high);
}

TEST_CASE("each rule alone reaches the lane of its severity") {
  for (const DiffRule& rule : diff_rules()) {
    INFO(rule.id);
    CHECK(severity_of(rule, rule.weight) == rule.severity);
    if (rule.is_context) continue;
    const Lane lane = lane_of(score_signals(signals({{std::string(rule.id), rule.weight}})).value);
    CHECK(lane == (rule.severity >= Level::high     ? Lane::high
                   : rule.severity == Level::medium ? Lane::medium
                                                    : Lane::low));
  }
}

TEST_CASE("the rule table is sorted, so that it can be searched") {
  const auto rules = diff_rules();
  CHECK(std::is_sorted(rules.begin(), rules.end(), [](const DiffRule& a, const DiffRule& b) { return a.id < b.id; }));
  CHECK(find_diff_rule("no-such-rule") == nullptr);
}

}  // namespace
}  // namespace escrow::engine
