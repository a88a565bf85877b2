#include "engine/explain.h"

#include <string>
#include <vector>

#include "engine/diff.h"
#include "engine/diff_rule_table.h"
#include "engine/rule_page.h"
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
  CHECK(find_rule_text("parse-error") == &unread_text());
  CHECK(find_rule_text("no-such-rule") == nullptr);
}

TEST_CASE("the page about unreadable changes shows one, and one that can be read") {
  const std::string page = rule_page(kUnreadRule);
  std::vector<std::string> blocks;
  for (std::size_t at = page.find("```\n"); at != std::string::npos; at = page.find("```\n", at)) {
    const std::size_t end = page.find("```\n", at + 4);
    REQUIRE(end != std::string::npos);
    blocks.push_back(page.substr(at + 4, end - at - 4));
    at = end + 4;
  }
  REQUIRE(blocks.size() == 3);
  const ParsedPatch unread = parse_diff(blocks[0]);
  REQUIRE(!unread.issues.empty());
  CHECK(blocks[1].find(unread.issues.front().message) != std::string::npos);
  CHECK(parse_diff(blocks[2]).issues.empty());
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
