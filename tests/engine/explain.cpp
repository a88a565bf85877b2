#include "engine/explain.h"

#include "engine/diff_rule_table.h"
#include "tests/catch.h"

namespace escrow::engine {
namespace {

TEST_CASE("every rule and category has a text") {
  for (const DiffRule& rule : diff_rules()) {
    INFO(rule.id);
    const RuleText* text = find_rule_text(rule.id);
    REQUIRE(text != nullptr);
    CHECK(!text->title.empty());
    CHECK(text->why.size() > 30);
  }
  CHECK(diff_rule_texts().size() == diff_rules().size());
  CHECK(command_category_texts().size() == 17);
  CHECK(find_rule_text("remote-code") != nullptr);
  CHECK(find_rule_text("no-such-rule") == nullptr);
}

TEST_CASE("a score is explained line by line") {
  Signal signal;
  signal.rule = "sql-injection";
  Risk risk;
  risk.score = 69;
  risk.explain = {{"sql-injection", 69}};
  risk.signals = {signal, signal};
  CHECK(explain_score(risk) == "+69  sql-injection (seen 2 times)\n=69 of 100");
}

}  // namespace
}  // namespace escrow::engine
