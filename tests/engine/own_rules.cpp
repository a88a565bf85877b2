#include "engine/own_rules.h"

#include <string>
#include <vector>

#include "engine/policy.h"
#include "tests/catch.h"
#include "tests/engine/diff_case.h"

using namespace escrow::engine;
using escrow::engine::testing::make_diff;

namespace {

OwnRule own_rule(const std::string& id, const std::string& pattern, int weight = 40) {
  OwnRule rule;
  rule.id = id;
  rule.pattern = pattern;
  rule.weight = weight;
  rule.severity = severity_of_weight(weight);
  rule.message = "not here";
  return rule;
}

PatchEvaluation judge_with(const std::vector<OwnRule>& rules, const std::string& diff, PatchContext context = {}) {
  PolicyLayer layer;
  layer.own_rules = rules;
  return evaluate(parse_diff(diff), context, merge_layers({layer}));
}

/// `file:line rule` of the signals of own rules, one after the other.
std::string own_signals(const std::vector<OwnRule>& rules, const std::string& diff) {
  std::string out;
  for (const Signal& signal : judge_with(rules, diff).risk.signals) {
    if (!signal.rule.starts_with("own.")) continue;
    out += (out.empty() ? "" : "; ") + signal.file + ":" + std::to_string(signal.line) + " " + signal.rule;
  }
  return out;
}

struct PathCase {
  std::vector<std::string> paths, exclude;
  const char* file;
  bool fires;
};

}  // namespace

TEST_CASE("a rule of a policy file finds its pattern in added lines, at the line") {
  const std::string diff = make_diff("src/app.py", " a = 1\n+print(a)\n-print(b)\n c = 2\n+x = print(c)\n");
  CHECK(own_signals({own_rule("no-print", R"(\bprint\()")}, diff) ==
        "src/app.py:11 own.no-print; src/app.py:13 own.no-print");
  const PatchEvaluation verdict = judge_with({own_rule("no-print", R"(\bprint\()", 40)}, diff);
  REQUIRE(verdict.risk.signals.size() == 2);
  const Signal& signal = verdict.risk.signals.front();
  CHECK(signal.weight == 40);
  CHECK(signal.severity == Level::medium);
  CHECK(signal.message == "not here");
}

TEST_CASE("a rule about removed lines stands where the line stood") {
  OwnRule rule = own_rule("keep-audit", R"(\baudit\()");
  rule.on = LineSide::removed;
  const std::string diff = make_diff("src/pay.js", " a\n-audit(x)\n b\n+audit(y)\n");
  CHECK(own_signals({rule}, diff) == "src/pay.js:11 own.keep-audit");
}

TEST_CASE("globs say which files a rule is about") {
  const PathCase cases[] = {
      {{}, {}, "any/where.txt", true},
      {{"src/**"}, {}, "src/deep/a.py", true},
      {{"src/**"}, {}, "lib/src/a.py", false},
      {{"src/*.py"}, {}, "src/deep/a.py", false},
      {{"*.sql"}, {}, "db/migrations/1.sql", true},
      {{"*.sql"}, {}, "db/migrations/1.sql.md", false},
      {{"**/migrations/**"}, {}, "db/migrations/1.sql", true},
      {{"a/**", "b/**"}, {}, "b/x", true},
      {{"src/**"}, {"src/generated/**"}, "src/generated/a.py", false},
      {{"src/**"}, {"src/generated/**"}, "src/hand/a.py", true},
      {{}, {"*.md"}, "docs/a.md", false},
  };
  for (const auto& [paths, exclude, file, fires] : cases) {
    CAPTURE(file, paths, exclude);
    OwnRule rule = own_rule("r", "needle");
    rule.paths = paths;
    rule.exclude = exclude;
    CHECK(own_signals({rule}, make_diff(file, "+needle\n")).empty() != fires);
  }
}

TEST_CASE("attack: a path in capitals does not slip past a rule, and does not slip into what it leaves out") {
  OwnRule rule = own_rule("r", "needle");
  rule.paths = {"src/**"};
  rule.exclude = {"src/vendor/**"};
  CHECK_FALSE(own_signals({rule}, make_diff("SRC/a.py", "+needle\n")).empty());
  CHECK_FALSE(own_signals({rule}, make_diff("src/VENDOR/a.py", "+needle\n")).empty());
}

TEST_CASE("a renamed file's added lines are of the new path, its removed ones of the old") {
  const std::string diff =
      "diff --git a/src/a.py b/attic/a.py\nsimilarity index 60%\nrename from src/a.py\nrename to attic/a.py\n"
      "--- a/src/a.py\n+++ b/attic/a.py\n@@ -1,2 +1,2 @@\n x\n-needle old\n+needle new\n";
  OwnRule added = own_rule("added", "needle"), removed = own_rule("removed", "needle");
  removed.on = LineSide::removed;
  added.paths = removed.paths = {"src/**"};
  CHECK(own_signals({added, removed}, diff) == "attic/a.py:2 own.removed");
}

TEST_CASE("attack: bytes that are no UTF-8, a carriage return, letters of other scripts do not blind a pattern") {
  const auto fires = [](const std::string& pattern, const std::string& line) {
    return !OwnRules({own_rule("r", pattern)}).matching(LineSide::added, line).empty();
  };
  CHECK(fires("open.*close", "open \xff\xfe close"));
  CHECK(fires("open.close",
              "open\xc3\xa9"
              "close"));
  CHECK(fires("caf[\xc3\xa9\xc3\xa8]$", "caf\xc3\xa9\r"));
  CHECK_FALSE(fires("caf[\xc3\xa9\xc3\xa8]$", "caf\xc3\xa0"));
  CHECK(fires("a.b", std::string("a\0b", 3)));
}

TEST_CASE("many rules in one pass say the same as each by itself") {
  std::vector<OwnRule> rules;
  for (int i = 0; i < 100; ++i)
    rules.push_back(own_rule("r" + std::to_string(i), "(?i)\\bword" + std::to_string(i) + "\\w{0,20}[a-z]*x?$"));
  const OwnRules together(rules);
  for (const std::string line : {"word7", "WORD42 and word99", "sword1", "word12word13", "nothing", "word0 word1"}) {
    CAPTURE(line);
    std::vector<std::size_t> one_by_one;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (!OwnRules({rules[i]}).matching(LineSide::added, line).empty()) one_by_one.push_back(i);
    }
    CHECK(together.matching(LineSide::added, line) == one_by_one);
  }
}

TEST_CASE("attack: patterns whose joint automaton outgrows its memory still say the same as each by itself") {
  // Each `.{n}` doubles the states that it must tell apart.
  std::vector<OwnRule> rules;
  for (int i = 0; i < 40; ++i)
    rules.push_back(own_rule("r" + std::to_string(i), "[a-m].{" + std::to_string(20 + i) + "}[n-z]$"));
  for (const OwnRule& rule : rules) REQUIRE_FALSE(pattern_fault(rule.pattern));
  const OwnRules together(rules);
  std::string line;
  for (unsigned i = 0, state = 1; i < 20'000; ++i) {
    state = state * 1103515245 + 12345;
    line += static_cast<char>('a' + (state >> 16) % 26);
  }
  line += std::string(25, 'a') + 'z';
  const auto found = together.matching(LineSide::added, line);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const bool alone = !OwnRules({rules[i]}).matching(LineSide::added, line).empty();
    CHECK((std::find(found.begin(), found.end(), i) != found.end()) == alone);
  }
}

TEST_CASE("a pattern that cannot be used says why") {
  CHECK_FALSE(pattern_fault(R"(\bTODO\b)"));
  CHECK(pattern_fault("(open").value_or("").starts_with("cannot be read (missing"));
  CHECK(pattern_fault("(?=ahead)").value_or("").find("no look-around") != std::string::npos);
  CHECK(pattern_fault("(a)\\1").value_or("").starts_with("cannot be read"));
  CHECK(pattern_fault("((a{100}){100}){100}").value_or("").starts_with("cannot be read"));
  CHECK(pattern_fault(".{900}x").value_or("").starts_with("costs too much"));
  CHECK_FALSE(pattern_fault("\\p{L}+_id"));
  CHECK(pattern_fault("x*").value_or("").starts_with("is found in an empty line"));
  CHECK(pattern_fault(std::string(kMaxPatternBytes + 1, 'x')).value_or("").starts_with("is longer than"));
  CHECK(pattern_fault("\xff").value_or("").starts_with("cannot be read"));
}

TEST_CASE("attack: an own rule cannot pass for a built-in one, nor weaken it") {
  const std::string diff = make_diff("src/a.py", "+requests.get(url, verify=False)\n");
  const PatchEvaluation bare = judge_with({}, diff);
  const PatchEvaluation with = judge_with({own_rule("tls-verify-off", "verify=False", 1)}, diff);
  CHECK(escrow::engine::testing::has_rule(with, "tls-verify-off"));
  CHECK(escrow::engine::testing::has_rule(with, "own.tls-verify-off"));
  CHECK(with.risk.score >= bare.risk.score);
  CHECK(with.risk.level >= bare.risk.level);
  CHECK(with.lane >= bare.lane);
}

TEST_CASE("an own rule counts in score, level and lane, and the points add up") {
  const std::string diff = make_diff("src/a.py", "+needle\n");
  for (const auto& [weight, lane] :
       {std::pair{30, Lane::low}, {31, Lane::medium}, {71, Lane::high}, {100, Lane::high}}) {
    CAPTURE(weight);
    const PatchEvaluation verdict = judge_with({own_rule("r", "needle", weight)}, diff);
    CHECK(verdict.lane == lane);
    CHECK(verdict.risk.score == std::min(weight, 99));
    CHECK(verdict.risk.level == severity_of_weight(weight));
    REQUIRE(verdict.risk.explain.size() == 1);
    CHECK(verdict.risk.explain.front().rule == "own.r");
    CHECK(verdict.risk.explain.front().points == verdict.risk.score);
  }
}

TEST_CASE("the rules of all layers hold, and one that is named twice only adds") {
  PolicyLayer user, workspace;
  workspace.kind = LayerKind::workspace;
  user.own_rules = {own_rule("same", "needle", 60)};
  workspace.own_rules = {own_rule("same", "needle", 1), own_rule("more", "thread", 50)};
  const Policy both = merge_layers({workspace, user});
  REQUIRE(both.own_rules.list().size() == 3);
  REQUIRE(both.notes.size() == 1);
  CHECK(both.notes.front().find("diff rule same is named twice") == 0);
  const ParsedPatch change = parse_diff(make_diff("a.txt", "+needle and thread\n"));
  const PatchEvaluation alone = evaluate(change, {}, merge_layers({user}));
  const PatchEvaluation with = evaluate(change, {}, both);
  CHECK(alone.risk.score == 60);
  CHECK(with.risk.score == 80);
  CHECK(with.risk.signals.size() == 2);
}

TEST_CASE("attack: a rule that fires on every line of a huge change costs a bounded number of signals") {
  std::string body;
  for (int i = 0; i < 3000; ++i) body += "+needle\n";
  const PatchEvaluation verdict = judge_with({own_rule("r", "needle", 40)}, make_diff("a.txt", body));
  std::vector<Signal> own;
  for (const Signal& signal : verdict.risk.signals) {
    if (signal.rule == "own.r") own.push_back(signal);
  }
  REQUIRE(own.size() == kMaxRuleSignals);
  CHECK(own.back().message == "not here (and 2800 lines more)");
  CHECK(own.front().message == "not here");
}

TEST_CASE("the policy's version changes with what a diff rule means") {
  PolicyLayer layer;
  layer.own_rules = {own_rule("r", "needle")};
  const std::string version = merge_layers({layer}).version;
  CHECK(version != builtin_policy().version);
  layer.own_rules[0].origin.line = 7;
  CHECK(merge_layers({layer}).version == version);
  layer.own_rules[0].weight = 41;
  CHECK(merge_layers({layer}).version != version);
}

TEST_CASE("the bands of the policy decide the lane; a gap or an overlap goes to the stricter one") {
  struct Case {
    std::optional<int> low_max, medium_min, medium_max, high_min;
    int score;
    Lane lane;
  };
  const Case cases[] = {
      {{}, {}, {}, {}, 30, Lane::low},   {{}, {}, {}, {}, 31, Lane::medium}, {{}, {}, {}, {}, 71, Lane::high},
      {10, 11, {}, {}, 10, Lane::low},   {10, 11, {}, {}, 11, Lane::medium}, {10, 31, {}, {}, 20, Lane::medium},
      {30, 5, {}, {}, 20, Lane::medium}, {30, 31, 50, 71, 60, Lane::high},   {30, 31, 50, 51, 51, Lane::high},
      {60, 61, 90, 91, 60, Lane::low},   {60, 61, 90, 91, 90, Lane::medium}, {30, 31, 20, 21, 25, Lane::high},
      {30, 31, {}, 40, 45, Lane::high},
  };
  for (const auto& [low_max, medium_min, medium_max, high_min, score, lane] : cases) {
    CAPTURE(low_max.value_or(-1), medium_min.value_or(-1), medium_max.value_or(-1), high_min.value_or(-1), score);
    PolicyLayer layer;
    layer.risk_bands["low"] = {std::nullopt, low_max, {}, false, true};
    layer.risk_bands["medium"] = {medium_min, medium_max, {}, false, true};
    layer.risk_bands["high"] = {high_min, std::nullopt, {}, true, false};
    layer.own_rules = {own_rule("r", "needle", score)};
    const PatchEvaluation verdict = evaluate(parse_diff(make_diff("a.txt", "+needle\n")), {}, merge_layers({layer}));
    REQUIRE(verdict.risk.score == score);
    CHECK(verdict.lane == lane);
  }
}

TEST_CASE("rules of context do not move a change over the policy's bands either") {
  PolicyLayer layer;
  layer.risk_bands["low"] = {std::nullopt, 10, {}, false, true};
  layer.own_rules = {own_rule("r", "needle", 8)};
  const PatchEvaluation verdict =
      evaluate(parse_diff(make_diff("a.txt", "+needle\n")), PatchContext{.confidence = 0.0}, merge_layers({layer}));
  CHECK(verdict.risk.signals.size() == 2);
  CHECK(verdict.risk.score == 10);
  CHECK(verdict.lane == Lane::low);
}

TEST_CASE("attack: bands that begin late do not let an unreadable change through") {
  PolicyLayer layer;
  layer.risk_bands["low"] = {std::nullopt, 90, {}, false, true};
  layer.risk_bands["medium"] = {91, 98, {}, false, true};
  layer.risk_bands["high"] = {99, std::nullopt, {}, true, false};
  const PatchEvaluation verdict = evaluate(parse_diff("@@ -1 +1 @@\n+x\n"), {}, merge_layers({layer}));
  CHECK(verdict.lane == Lane::high);
}
