#include "server/store/policy_yaml.h"

#include "tests/catch.h"

using namespace escrow;
using server::parse_policy;

namespace {

/// The problems of a file, one a line, as a person reads them.
std::string problems_of(const std::string& yaml) {
  std::string text;
  for (const auto& problem : parse_policy(yaml, "p.yaml", engine::LayerKind::user).problems) {
    text += server::to_text(problem, "p.yaml") + "\n";
  }
  return text;
}

engine::PolicyLayer layer_of(const std::string& yaml) {
  const auto parsed = parse_policy(yaml, "p.yaml", engine::LayerKind::user);
  for (const auto& problem : parsed.problems) FAIL(server::to_text(problem, "p.yaml"));
  return parsed.layer;
}

struct Refusal {
  const char* yaml;
  const char* message;
};

}  // namespace

TEST_CASE("the policy file of the documentation is read whole") {
  const auto layer = layer_of(R"(
version: 1
mode: enforce
autonomy: medium
risk_bands:
  low:    { max_score: 30, actions: [unit_tests, lint, semgrep], human_review: false, auto_merge: true }
  medium: { min_score: 31, max_score: 70, actions: [unit_tests, codeql], human_review: false, auto_merge: true }
  high:   { min_score: 71, actions: [unit_tests, full_sandbox_no_egress], human_review: true, auto_merge: false }
always_on: [sandbox_isolation, egress_deny_by_default, no_prod_credentials, secrets_scan]
checks:
  unit_tests: { run: "npm test", timeout: 5m, required: true }
rules:
  - { id: allow-docs-host, effect: allow, network: "docs.example.org:443" }
  - { id: no-terraform-apply, effect: deny, command: ["terraform", "apply"], match: ["terraform apply -auto-approve"], not_match: ["terraform plan"] }
sandbox: { pool: { min: 2, max: 8, handoff_slo: 50ms }, limits: { wall: 10m, memory: 4G, pids: 2048, output: 1M }, env_allow: [LANG, TERM], mask: ["secrets/**"], read: [], write: [] }
network: { allow: [] }
review: { sample_rate: 0.07, expiry: 24h }
allow_policy_only_runner: false
)");
  CHECK(layer.mode == engine::Mode::enforce);
  CHECK(layer.autonomy == engine::Autonomy::medium);
  CHECK(layer.risk_bands.at("low").max_score == 30);
  CHECK(layer.risk_bands.at("low").auto_merge);
  CHECK(layer.risk_bands.at("high").human_review);
  CHECK(layer.risk_bands.at("medium").actions == std::vector<std::string>{"unit_tests", "codeql"});
  CHECK(layer.checks.at("unit_tests") == engine::CheckSetting{"npm test", 300'000, true});
  REQUIRE(layer.rules.size() == 2);
  CHECK(layer.rules[0].network == "docs.example.org:443");
  CHECK(layer.rules[1].command == std::vector<std::string>{"terraform", "apply"});
  CHECK(layer.rules[1].origin == engine::Origin{engine::LayerKind::user, "p.yaml", 14});
  CHECK(layer.limits.at("memory") == "4G");
  CHECK(layer.mask == std::vector<std::string>{"secrets/**"});
  CHECK(layer.review_expiry_ms == 86'400'000);
  CHECK(layer.sample_rate == 0.07);
  CHECK(layer.allow_policy_only_runner == false);
  CHECK(layer.lines.at("risk_bands.high.min_score") == 8);
}

TEST_CASE("an empty file says nothing and is no problem") {
  for (const auto* yaml : {"", "# only a comment\n", "---\n", "rules:\nnetwork:\n"}) {
    CAPTURE(yaml);
    const auto layer = layer_of(yaml);
    CHECK_FALSE(layer.mode.has_value());
    CHECK(layer.rules.empty());
  }
}

TEST_CASE("a problem names its place, what is wrong, and what is allowed there") {
  const Refusal refusals[] = {
      {"mdoe: enforce",
       "p.yaml:1:1: unknown key \"mdoe\" in the policy; allowed here: allow_policy_only_runner, always_on, "
       "autonomy, checks, diff_rules, mode, network, review, risk_bands, rules, sandbox, version\n"},
      {"mode: strict", "p.yaml:1:7: mode: expected one of enforce, observe, disabled, found \"strict\"\n"},
      {"version: 2", "p.yaml:1:10: version: expected 1, the only version this Escrow reads, found \"2\"\n"},
      {"mode: enforce\nmode: observe", "p.yaml:2:1: \"mode\" appears twice in the policy; keep one\n"},
      {"- mode", "p.yaml:1:1: the policy: expected a mapping, found a list\n"},
      {"risk_bands:\n  low: { max_score: 101 }",
       "p.yaml:2:21: risk_bands.low.max_score: expected a whole number from 0 to 100, found \"101\"\n"},
      {"risk_bands:\n  low: { max_score: 30 }\n  medium: { min_score: 41 }",
       "p.yaml:3:11: risk_bands: medium.min_score must be 31, one above low.max_score, so that every score is in one "
       "band\n"},
      {"risk_bands:\n  high: { human_review: yes }",
       "p.yaml:2:25: risk_bands.high.human_review: expected true or false, found \"yes\"\n"},
      {"checks:\n  unit_tests: { timeout: 5 }",
       "p.yaml:2:26: checks.unit_tests.timeout: expected a time such as 500ms, 30s, 5m or 24h, found \"5\"\n"},
      {"network: { allow: [\"*\"] }",
       "p.yaml:1:20: network.allow: expected a host name such as docs.example.org or *.example.org:443 (never * "
       "alone), "
       "found \"*\"\n"},
      {"sandbox: { limits: { memory: lots } }",
       "p.yaml:1:30: sandbox.limits.memory: expected a size such as 512K, 64M or 4G, found \"lots\"\n"},
      {"review: { sample_rate: 1.5 }",
       "p.yaml:1:24: review.sample_rate: expected a share from 0 to 1, found \"1.5\"\n"},
      {"rules:\n  - { id: a, effect: deny }",
       "p.yaml:2:5: rules[0]: a rule is about exactly one of command, network, path or tool\n"},
      {"rules:\n  - { id: a, command: [ls] }", "p.yaml:2:5: rules[0]: needs an effect: one of allow, prompt, deny\n"},
      {"rules:\n  - { id: a, effect: deny, command: [ls] }\n  - { id: a, effect: deny, command: [rm] }",
       "p.yaml:3:5: two rules are called \"a\"; ids are unique, since verdicts name them\n"},
  };
  for (const auto& [yaml, message] : refusals) {
    CAPTURE(yaml);
    CHECK(problems_of(yaml) == message);
  }
}

TEST_CASE("every problem of a file is found in one reading") {
  CHECK(problems_of("mode: never\nautonomy: total\nnetwork: open\n") ==
        "p.yaml:1:7: mode: expected one of enforce, observe, disabled, found \"never\"\n"
        "p.yaml:2:11: autonomy: expected one of low, medium, high, found \"total\"\n"
        "p.yaml:3:10: network: expected a mapping, found \"open\"\n");
}

TEST_CASE("the baseline controls cannot be removed from always_on") {
  CHECK(problems_of("always_on: [sandbox_isolation, egress_deny_by_default, no_prod_credentials]") ==
        "p.yaml:1:12: always_on: \"secrets_scan\" cannot be removed; always on: egress_deny_by_default, "
        "no_prod_credentials, sandbox_isolation, secrets_scan\n");
}

TEST_CASE("a rule whose own example it does not match is refused") {
  CHECK(problems_of("rules:\n  - { id: push, effect: deny, command: [git, push], match: [git pull] }") ==
        "p.yaml:2:60: rule \"push\": its example \"git pull\" is not matched by git push\n");
  CHECK(problems_of("rules:\n  - { id: push, effect: deny, command: [git, push], not_match: [git push origin] }") ==
        "p.yaml:2:64: rule \"push\": its counter-example \"git push origin\" is matched by git push\n");
  CHECK(problems_of("rules:\n  - { id: push, effect: deny, command: [git, push], match: [\"cd x && git push\"] }")
            .empty());
}

TEST_CASE("a rule about the lines of a change is read whole") {
  const auto layer = layer_of(R"yaml(
diff_rules:
  - id: no-print
    pattern: '\bprint\('
    paths: ["src/**/*.py", scripts/]
    exclude: ["*_test.py"]
    weight: 40
    message: print is not logging
    cwe: [CWE-532]
    match: ["print(user)", "  print('x')"]
    not_match: ["logger.sprint(1)", ""]
  - { id: keep-audit, on: removed, pattern: 'audit\(', weight: 80, severity: critical, message: an audit call is gone }
)yaml");
  REQUIRE(layer.own_rules.size() == 2);
  const auto& rule = layer.own_rules[0];
  CHECK(rule.id == "no-print");
  CHECK(rule.pattern == R"(\bprint\()");
  CHECK(rule.paths == std::vector<std::string>{"src/**/*.py", "scripts/**"});
  CHECK(rule.exclude == std::vector<std::string>{"*_test.py"});
  CHECK(rule.on == engine::LineSide::added);
  CHECK(rule.weight == 40);
  CHECK(rule.severity == engine::Level::medium);
  CHECK(rule.message == "print is not logging");
  CHECK(rule.cwe == std::vector<std::string>{"CWE-532"});
  CHECK(rule.not_match.size() == 2);
  CHECK(rule.origin == engine::Origin{engine::LayerKind::user, "p.yaml", 3});
  CHECK(layer.own_rules[1].on == engine::LineSide::removed);
  CHECK(layer.own_rules[1].severity == engine::Level::critical);
}

TEST_CASE("a diff rule that would not do what its author believes is refused with its place") {
  const std::string head = "diff_rules:\n  - { id: r, weight: 9, message: m, ";
  const Refusal refusals[] = {
      {"pattern: '(x' }",
       "p.yaml:2:46: diff_rules[0].pattern: cannot be read (missing ): (x); allowed here: a regular expression of RE2, "
       "which has no look-around and no back-references\n"},
      {"pattern: 'x*' }",
       "p.yaml:2:46: diff_rules[0].pattern: is found in an empty line, so in every line; `.` is for any text\n"},
      {"pattern: x, match: [axb, y] }", "p.yaml:2:62: diff rule \"r\": its example is not matched by its pattern: y\n"},
      {"pattern: x, not_match: [y, axb] }",
       "p.yaml:2:64: diff rule \"r\": its counter-example is matched by its pattern: axb\n"},
      {"pattern: x, on: changed }",
       "p.yaml:2:53: diff_rules[0].on: expected one of added, removed, found \"changed\"\n"},
      {"pattern: x, severity: none }",
       "p.yaml:2:59: diff_rules[0].severity: expected one of low, medium, high, critical, found \"none\"\n"},
      {"pattern: x, effect: deny }",
       "p.yaml:2:49: unknown key \"effect\" in diff_rules[0]; allowed here: cwe, exclude, id, match, message, "
       "not_match, "
       "on, paths, pattern, severity, weight\n"},
      {"pattern: x, paths: [/etc/**] }",
       "p.yaml:2:56: diff_rules[0].paths: \"/etc/**\" is no glob; allowed here: a path of the repository, as in "
       "src/**/*.py, *.sql or docs/, with * within a name and ** across directories\n"},
      {"pattern: x, cwe: [532] }", "p.yaml:2:54: diff_rules[0].cwe: \"532\" is not a weakness such as CWE-798\n"},
  };
  for (const auto& [rest, message] : refusals) {
    CAPTURE(rest);
    CHECK(problems_of(head + rest) == message);
  }
  CHECK(problems_of("diff_rules:\n  - { id: r }") ==
        "p.yaml:2:5: diff_rules[0]: needs a pattern: a regular expression, looked for in each line\n"
        "p.yaml:2:5: diff_rules[0]: needs a weight: the points it brings, 1 to 100 (from 31 alone medium, from 71 "
        "high)\n"
        "p.yaml:2:5: diff_rules[0]: needs a message: one line that says what is wrong\n");
  CHECK(problems_of("diff_rules:\n  - { id: r, pattern: x, weight: 101, message: m }") ==
        "p.yaml:2:34: diff_rules[0].weight: expected a whole number from 1 to 100, found \"101\"\n");
  CHECK(problems_of("diff_rules:\n  - { pattern: x, weight: 1, message: m }") ==
        "p.yaml:2:5: diff_rules[0]: needs an id of letters, digits, `_`, `-` and `.`; signals name it `own.` and the "
        "id\n");
  CHECK(problems_of("diff_rules:\n  - { id: r, pattern: x, weight: 1, message: m }\n"
                    "  - { id: r, pattern: y, weight: 1, message: m }") ==
        "p.yaml:3:5: two diff rules are called \"r\"; ids are unique, since signals name them\n");
}

TEST_CASE("attack: a rule's message cannot bring hidden text, escapes or a second line to who reads it") {
  for (const char* written : {R"("a\nb")", R"("red \e[31m")", R"("x\u202Ey")", R"("\U000E0041")", R"("a\u200Bb")"}) {
    CAPTURE(written);
    CHECK(problems_of(std::string("diff_rules:\n  - { id: r, pattern: x, weight: 1, message: ") + written + " }") ==
          "p.yaml:2:46: diff_rules[0].message: must be one line of at most 200 bytes, without control or invisible "
          "characters\n");
  }
}

TEST_CASE("attack: a file of thousands of rules or of patterns that explode is refused, not worked through") {
  std::string many = "diff_rules:\n";
  for (std::size_t i = 0; i <= engine::kMaxOwnRules; ++i)
    many += "  - { id: r" + std::to_string(i) + ", pattern: x, weight: 1, message: m }\n";
  CHECK(problems_of(many) == "p.yaml:2:3: diff_rules: holds 101 rules; at most 100 are allowed in a file\n");
  std::string costly = "diff_rules:\n";
  for (int i = 0; i < 20; ++i)
    costly += "  - { id: r" + std::to_string(i) + ", pattern: '[a-z].{70}Q', weight: 1, message: m }\n";
  CHECK(problems_of(costly).starts_with("p.yaml:2:3: diff_rules: the patterns cost too much together: "));
  for (const char* pattern : {"((x{100}){100}){100}", "(.{1000}){1000}"}) {
    CAPTURE(pattern);
    const auto problems =
        problems_of(std::string("diff_rules:\n  - { id: r, weight: 1, message: m, pattern: '") + pattern + "' }");
    CHECK(problems.find("diff_rules[0].pattern: cannot be read") != std::string::npos);
  }
}

TEST_CASE("an attack: a byte that ends the YAML early cannot hide the rest of the file") {
  // yaml-cpp takes 0x04 for the end of its input.
  const auto problems = problems_of(std::string("mode: enforce\n\x04\nrules: []\n"));
  CHECK(problems == "p.yaml:2:1: control character; remove it (code 4)\n");
}

TEST_CASE("an attack: aliases and deep nesting cost nothing and crash nothing") {
  std::string bomb = "a: &a [x, x]\n";
  for (char name = 'b'; name < 'z'; ++name) {
    bomb += std::string(1, name) + ": &" + name + " [*" + static_cast<char>(name - 1) + ", *" +
            static_cast<char>(name - 1) + "]\n";
  }
  CHECK_FALSE(problems_of(bomb).empty());
  CHECK_FALSE(problems_of("rules: &r [*r]").empty());
  CHECK_FALSE(problems_of(std::string(100'000, '[')).empty());
  CHECK_FALSE(problems_of("mode: enforce\n---\nmode: disabled\n").empty());
}

TEST_CASE("what is not YAML is a problem with a place") {
  for (const auto* yaml : {"mode: [", "mode: \"x", "\t- x", "a: b: c", "{{{{", "rules: *nothing"}) {
    CAPTURE(yaml);
    const auto parsed = parse_policy(yaml, "p.yaml", engine::LayerKind::workspace);
    REQUIRE_FALSE(parsed.problems.empty());
    CHECK(parsed.problems.front().line >= 1);
    CHECK(parsed.problems.front().column >= 1);
    CHECK_FALSE(parsed.problems.front().message.empty());
  }
}
