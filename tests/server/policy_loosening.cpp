#include <algorithm>
#include <string>

#include "engine/policy.h"
#include "server/store/policy_yaml.h"
#include "tests/catch.h"

using namespace escrow;
using namespace escrow::server;

// A repository's own policy is the attacker's text. Each line here is one way in which it could try to loosen what the
// person set; each must change nothing, and be reported with the key that it tried.

namespace {

constexpr const char* kPersons = R"(
mode: enforce
autonomy: low
risk_bands:
  low:    { max_score: 20, actions: [unit_tests, lint], human_review: false, auto_merge: false }
  medium: { min_score: 21, max_score: 60, actions: [unit_tests, codeql], human_review: true, auto_merge: false }
  high:   { min_score: 61, actions: [unit_tests, codeql], human_review: true, auto_merge: false }
checks:
  unit_tests: { run: "npm test", timeout: 1m, required: true }
  lint: { run: "npm run lint", timeout: 1m, required: true }
rules:
  - { id: no-push, effect: deny, command: [git, push] }
  - { id: ask-docker, effect: prompt, command: [docker] }
diff_rules:
  - { id: no-print, pattern: 'print\(', weight: 80, message: print is not logging }
sandbox: { limits: { wall: 2m, cpu: 1m, memory: 1G, pids: 100, output: 512K, file-size: 10M }, env_allow: [LANG], mask: ["secrets/**"] }
network: { allow: [docs.example.org] }
review: { sample_rate: 0.5, expiry: 1h }
allow_policy_only_runner: false
)";

struct Attempt {
  const char* yaml;
  const char* key;  ///< what the report must name
};

const Attempt kAttempts[] = {
    {"mode: observe", "mode"},
    {"mode: disabled", "mode"},
    {"autonomy: medium", "autonomy"},
    {"autonomy: high", "autonomy"},
    {"risk_bands: { low: { max_score: 21 } }", "risk_bands.low.max_score"},
    {"risk_bands: { low: { max_score: 100 } }", "risk_bands.low.max_score"},
    {"risk_bands: { medium: { max_score: 99 } }", "risk_bands.medium.max_score"},
    {"risk_bands: { medium: { min_score: 40 } }", "risk_bands.medium.min_score"},
    {"risk_bands: { high: { min_score: 99 } }", "risk_bands.high.min_score"},
    {"risk_bands: { low: { actions: [] } }", "risk_bands.low.actions"},
    {"risk_bands: { low: { actions: [lint] } }", "risk_bands.low.actions"},
    {"risk_bands: { medium: { actions: [unit_tests] } }", "risk_bands.medium.actions"},
    {"risk_bands: { high: { actions: [unit_tests] } }", "risk_bands.high.actions"},
    {"risk_bands: { medium: { human_review: false } }", "risk_bands.medium.human_review"},
    {"risk_bands: { high: { human_review: false } }", "risk_bands.high.human_review"},
    {"risk_bands: { low: { auto_merge: true } }", "risk_bands.low.auto_merge"},
    {"risk_bands: { medium: { auto_merge: true } }", "risk_bands.medium.auto_merge"},
    {"risk_bands: { high: { auto_merge: true, human_review: false } }", "risk_bands.high.auto_merge"},
    {"checks: { unit_tests: { run: 'true', required: true, timeout: 1m } }", "checks.unit_tests"},
    {"checks: { unit_tests: { run: 'npm test', required: false, timeout: 1m } }", "checks.unit_tests"},
    {"checks: { unit_tests: { run: 'npm test', required: true, timeout: 9h } }", "checks.unit_tests.timeout"},
    {"checks: { lint: { run: 'true', required: true, timeout: 1m } }", "checks.lint"},
    {"checks: { secrets_scan: { run: 'true', required: true } }", "checks.secrets_scan"},
    {"checks: { secrets_scan: { required: false } }", "checks.secrets_scan"},
    {"rules: [{ id: a, effect: allow, command: [git, push] }]", "rules.a"},
    {"rules: [{ id: no-push, effect: allow, command: [git, push] }]", "rules.no-push"},
    {"rules: [{ id: a, effect: allow, command: [docker] }]", "rules.a"},
    {"rules: [{ id: a, effect: allow, network: '*.example.net' }]", "rules.a"},
    {"rules: [{ id: a, effect: allow, path: '**' }]", "rules.a"},
    {"rules: [{ id: a, effect: allow, tool: shell }]", "rules.a"},
    {"sandbox: { limits: { wall: 3m } }", "sandbox.limits.wall"},
    {"sandbox: { limits: { wall: 1d } }", "sandbox.limits.wall"},
    {"sandbox: { limits: { cpu: 2m } }", "sandbox.limits.cpu"},
    {"sandbox: { limits: { memory: 2G } }", "sandbox.limits.memory"},
    {"sandbox: { limits: { memory: 1T } }", "sandbox.limits.memory"},
    {"sandbox: { limits: { pids: 101 } }", "sandbox.limits.pids"},
    {"sandbox: { limits: { output: 1M } }", "sandbox.limits.output"},
    {"sandbox: { limits: { file-size: 11M } }", "sandbox.limits.file-size"},
    {"sandbox: { env_allow: [LANG, SSH_AUTH_SOCK] }", "sandbox.env_allow"},
    {"sandbox: { read: ['/home'] }", "sandbox.read"},
    {"sandbox: { write: ['/etc'] }", "sandbox.write"},
    {"network: { allow: [evil.example.net] }", "network.allow"},
    {"network: { allow: ['*.example.org'] }", "network.allow"},
    {"network: { allow: ['docs.example.org:22'] }", "network.allow"},
    {"review: { sample_rate: 0 }", "review.sample_rate"},
    {"review: { expiry: 720h }", "review.expiry"},
    {"allow_policy_only_runner: true", "allow_policy_only_runner"},
};

/// Tries that the parser itself refuses: the whole file is then out, and what holds asks about everything.
const Attempt kRefused[] = {
    {"always_on: []", "always_on"},
    {"always_on: [sandbox_isolation]", "always_on"},
    {"always_on: [sandbox_isolation, egress_deny_by_default, no_prod_credentials]", "always_on"},
    {"grants: [{ effect: allow }]", "unknown key"},
    {"network: { allow: ['*'] }", "network.allow"},
    {"mode: off", "mode"},
};

engine::PolicyLayer layer_from(const std::string& yaml, engine::LayerKind kind) {
  auto parsed = parse_policy(yaml, kind == engine::LayerKind::user ? "user.yaml" : "workspace.yaml", kind);
  for (const auto& problem : parsed.problems) FAIL_CHECK(to_text(problem, "policy"));
  return parsed.layer;
}

}  // namespace

TEST_CASE("a workspace policy loosens nothing in any of the ways there are, and each try is reported") {
  CHECK(std::size(kAttempts) >= 30);
  const auto user = layer_from(kPersons, engine::LayerKind::user);
  const std::string before = engine::merge_layers({user}).version;
  for (const auto& [yaml, key] : kAttempts) {
    INFO(yaml);
    const auto policy = engine::merge_layers({user, layer_from(yaml, engine::LayerKind::workspace)});
    CHECK(policy.version == before);
    CHECK(std::any_of(policy.notes.begin(), policy.notes.end(), [key = key](const std::string& note) {
      return note.starts_with("workspace.yaml:1: " + std::string(key)) &&
             note.find("only tighten") != std::string::npos;
    }));
  }
}

TEST_CASE("the same tries in one file with a tightening value get the one and not the others") {
  const auto user = layer_from(kPersons, engine::LayerKind::user);
  const auto policy = engine::merge_layers(
      {user, layer_from("risk_bands: { low: { max_score: 10, auto_merge: true, actions: [lint, semgrep] } }",
                        engine::LayerKind::workspace)});
  const auto& low = policy.risk_bands.at("low");
  CHECK(low.max_score == 10);
  CHECK_FALSE(low.auto_merge);
  CHECK(low.actions == std::vector<std::string>{"unit_tests", "lint", "semgrep"});
  CHECK(policy.notes.size() == 2);
}

TEST_CASE("a workspace policy that the parser refuses is not half in force") {
  for (const auto& [yaml, what] : kRefused) {
    INFO(yaml);
    const auto parsed = parse_policy(yaml, "workspace.yaml", engine::LayerKind::workspace);
    REQUIRE_FALSE(parsed.problems.empty());
    CHECK(parsed.problems.front().message.find(what) != std::string::npos);
  }
}

TEST_CASE("any layer may lower the ceiling on autonomy, and none lifts it again") {
  const auto with = [](const char* user, const char* workspace, const char* system) {
    std::vector<engine::PolicyLayer> layers;
    for (const auto& [level, kind] :
         {std::pair{user, engine::LayerKind::user}, std::pair{workspace, engine::LayerKind::workspace},
          std::pair{system, engine::LayerKind::system}}) {
      if (*level == 0) continue;
      layers.push_back(layer_from("autonomy: " + std::string(level), engine::LayerKind::user));
      layers.back().kind = kind;
    }
    const auto policy = engine::merge_layers(layers);
    return std::string(engine::name_of(policy.autonomy)) + (policy.autonomy_capped ? " capped" : "");
  };
  CHECK(with("", "", "") == "medium");
  CHECK(with("high", "", "") == "high capped");
  CHECK(with("low", "", "high") == "low capped");
  CHECK(with("high", "medium", "") == "medium capped");
  CHECK(with("high", "low", "medium") == "low capped");
  CHECK(with("", "high", "") == "medium");
}

TEST_CASE("the system layer has the last word on what it sets") {
  auto user = layer_from("mode: disabled\nnetwork: { allow: [docs.example.org] }", engine::LayerKind::user);
  auto system = layer_from("mode: enforce", engine::LayerKind::system);
  const auto policy = engine::merge_layers({user, system});
  CHECK(policy.mode == engine::Mode::enforce);
  CHECK(policy.origins.at("mode").layer == engine::LayerKind::system);
}

TEST_CASE("a band that names one value leaves the others as they were") {
  const auto policy =
      engine::merge_layers({layer_from("risk_bands: { low: { max_score: 20 } }", engine::LayerKind::user)});
  const auto& low = policy.risk_bands.at("low");
  CHECK(low.max_score == 20);
  CHECK(low.auto_merge);
  CHECK(low.actions == engine::builtin_policy().risk_bands.at("low").actions);
}
