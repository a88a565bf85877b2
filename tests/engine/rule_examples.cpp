#include "engine/rule_examples.h"

#include <algorithm>

#include "engine/diff_rule_table.h"
#include "engine/explain.h"
#include "tests/catch.h"
#include "tests/engine/diff_case.h"

namespace escrow::engine {
namespace {

PatchEvaluation judge_example(const ExampleChange& change) {
  const auto parsed = parse_diff(to_diff(change, ExampleForm::real));
  INFO(to_diff(change, ExampleForm::shown));
  CHECK(parsed.issues.empty());
  return evaluate(parsed, {.confidence = change.confidence}, builtin_policy());
}

std::string names_of(const Risk& risk) {
  std::string names;
  for (const auto& name : risk.categories) names += name + " ";
  return names;
}

Decision judge_example(std::string_view command) {
  ActionContext context;
  context.venue = Venue::cage;
  context.workspace_root = "/work/app";
  context.home = "/home/ada";
  return evaluate(ShellAction{std::string(command), "/work/app"}, context, builtin_policy()).decision;
}

bool has_category(const Decision& decision, std::string_view id) {
  const auto& all = decision.risk.categories;
  return std::find(all.begin(), all.end(), id) != all.end();
}

TEST_CASE("every diff rule fires on its example and leaves the close one alone") {
  for (const DiffRule& rule : diff_rules()) {
    INFO(rule.id);
    const DiffRuleExample* example = find_diff_rule_example(rule.id);
    REQUIRE(example != nullptr);
    const auto fired = judge_example(example->fires);
    const auto silent = judge_example(example->silent);
    INFO("found in the first: " << names_of(fired.risk) << "\nin the second: " << names_of(silent.risk));
    CHECK(testing::has_rule(fired, rule.id));
    CHECK(!testing::has_rule(silent, rule.id));
  }
  CHECK(diff_rule_examples().size() == diff_rules().size());
}

TEST_CASE("every command category is met by its example and not by the close one") {
  for (const RuleText& category : command_category_texts()) {
    INFO(category.id);
    const CategoryExample* example = find_category_example(category.id);
    REQUIRE(example != nullptr);
    const auto met = judge_example(example->fires);
    const auto other = judge_example(example->silent);
    INFO("found in the first: " << names_of(met.risk) << "\nin the second: " << names_of(other.risk));
    CHECK(has_category(met, category.id));
    CHECK(!has_category(other, category.id));
  }
  CHECK(category_examples().size() == command_category_texts().size());
}

TEST_CASE("a page shows no whole token and no hidden character") {
  for (const DiffRuleExample& example : diff_rule_examples()) {
    INFO(example.id);
    for (const ExampleChange& change : {example.fires, example.silent}) {
      CHECK(to_diff(change, ExampleForm::shown).find("\u202e") == std::string::npos);
      if (example.id == "secret-literal") continue;
      CHECK(to_diff(change, ExampleForm::shown).find("ghp_") == std::string::npos);
    }
  }
  const auto* secret = find_diff_rule_example("secret-literal");
  CHECK(to_diff(secret->fires, ExampleForm::shown).find("\"ghp_…\"") != std::string::npos);
  CHECK(to_diff(secret->fires, ExampleForm::real).find("ghp_…") == std::string::npos);
}

}  // namespace
}  // namespace escrow::engine
