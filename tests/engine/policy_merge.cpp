#include <algorithm>
#include <string>

#include "engine/policy.h"
#include "tests/catch.h"

using namespace escrow::engine;

namespace {

PolicyLayer layer(LayerKind kind) {
  PolicyLayer out;
  out.kind = kind;
  out.file = kind == LayerKind::workspace ? ".escrow/policy.yaml" : "policy.yaml";
  return out;
}

bool notes_name(const Policy& policy, const std::string& text) {
  return std::any_of(policy.notes.begin(), policy.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("with no file the built-in policy holds") {
  const Policy policy = merge_layers({});
  CHECK(policy.mode == Mode::enforce);
  CHECK(policy.autonomy == Autonomy::medium);
  CHECK(policy.risk_bands.at("low").max_score == 30);
  CHECK(policy.risk_bands.at("high").human_review);
  CHECK(policy.checks.at("unit_tests").required);
  CHECK(policy.checks.at("secrets_scan").required);
  CHECK(policy.notes.empty());
  CHECK(policy.version == builtin_policy().version);
}

TEST_CASE("a user's value replaces the built-in one and says where it came from") {
  PolicyLayer user = layer(LayerKind::user);
  user.mode = Mode::observe;
  user.autonomy = Autonomy::high;
  user.limits["wall"] = "30m";
  user.lines["mode"] = 2;
  const Policy policy = merge_layers({user});
  CHECK(policy.mode == Mode::observe);
  CHECK(policy.autonomy == Autonomy::high);
  CHECK(policy.autonomy_capped);
  CHECK(policy.limits.at("wall") == "30m");
  CHECK(policy.origins.at("mode") == Origin{LayerKind::user, "policy.yaml", 2});
  CHECK(policy.origins.at("autonomy").layer == LayerKind::user);
  CHECK(policy.version != builtin_policy().version);
}

TEST_CASE("a workspace only tightens: every loosening value is dropped and named") {
  PolicyLayer evil = layer(LayerKind::workspace);
  evil.mode = Mode::disabled;
  evil.autonomy = Autonomy::high;
  evil.risk_bands["low"] = {std::nullopt, 90, {}, false, true};
  evil.risk_bands["high"] = {99, std::nullopt, {}, false, true};
  evil.always_on = std::vector<std::string>{};
  evil.checks["secrets_scan"] = {"true", 1, false};
  evil.rules.push_back({"let-me", RuleEffect::allow, {"curl"}, "", "", "", {}, {}, {}});
  evil.limits["wall"] = "10h";
  evil.limits["memory"] = "not a size";
  evil.env_allow = {"AWS_SECRET_ACCESS_KEY"};
  evil.read = {"/"};
  evil.write = {"/etc"};
  evil.network_allow = {"evil.example"};
  evil.sample_rate = 0.0;
  evil.review_expiry_ms = 1'000'000'000'000;
  evil.allow_policy_only_runner = true;
  const Policy policy = merge_layers({evil});
  const Policy builtin = builtin_policy();
  CHECK(policy.mode == builtin.mode);
  CHECK(policy.autonomy == builtin.autonomy);
  CHECK(policy.risk_bands == builtin.risk_bands);
  CHECK(policy.always_on == builtin.always_on);
  CHECK(policy.checks.at("secrets_scan").required);
  CHECK(policy.rules.empty());
  CHECK(policy.limits == builtin.limits);
  CHECK(policy.env_allow == builtin.env_allow);
  CHECK(policy.read.empty());
  CHECK(policy.write.empty());
  CHECK(policy.network_allow.empty());
  CHECK(policy.sample_rate == builtin.sample_rate);
  CHECK(policy.review_expiry_ms == builtin.review_expiry_ms);
  CHECK_FALSE(policy.allow_policy_only_runner);
  for (const char* key : {"mode", "autonomy", "risk_bands.low", "risk_bands.high", "always_on", "checks.secrets_scan",
                          "rules.let-me", "limits.wall", "limits.memory", "env_allow", "sandbox.read", "sandbox.write",
                          "network.allow", "sample_rate", "review.expiry", "allow_policy_only_runner"}) {
    INFO(key);
    CHECK(notes_name(policy, key));
  }
}

TEST_CASE("a workspace's tightening values hold") {
  PolicyLayer strict = layer(LayerKind::workspace);
  strict.autonomy = Autonomy::low;
  strict.risk_bands["low"] = {std::nullopt, 10, std::vector<std::string>{"unit_tests", "lint", "semgrep", "codeql"},
                              true, false};
  strict.checks["e2e"] = {"npm run e2e", 60'000, true};
  strict.rules.push_back({"no-push", RuleEffect::deny, {"git", "push"}, "", "", "", {}, {}, {}});
  strict.limits["wall"] = "5m";
  strict.limits["memory"] = "512M";
  strict.mask = {"secrets/**"};
  strict.sample_rate = 0.5;
  const Policy policy = merge_layers({strict});
  CHECK(policy.autonomy == Autonomy::low);
  CHECK(policy.risk_bands.at("low").max_score == 10);
  CHECK(policy.checks.at("e2e").required);
  REQUIRE(policy.rules.size() == 1);
  CHECK(policy.rules[0].origin.layer == LayerKind::workspace);
  CHECK(policy.limits.at("wall") == "5m");
  CHECK(policy.limits.at("memory") == "512M");
  CHECK(policy.mask == std::vector<std::string>{"secrets/**"});
  CHECK(policy.sample_rate == 0.5);
  CHECK(policy.notes.empty());
}

TEST_CASE("layers apply in their order of trust, however they are given") {
  PolicyLayer user = layer(LayerKind::user), system = layer(LayerKind::system), workspace = layer(LayerKind::workspace);
  user.mode = Mode::disabled;
  workspace.mode = Mode::enforce;
  system.autonomy = Autonomy::low;
  user.autonomy = Autonomy::high;
  const Policy a = merge_layers({system, workspace, user});
  const Policy b = merge_layers({user, workspace, system});
  CHECK(a.version == b.version);
  CHECK(a.mode == Mode::enforce);
  CHECK(a.autonomy == Autonomy::low);
  CHECK(a.origins.at("autonomy").layer == LayerKind::system);
}

TEST_CASE("the baseline stays on whoever leaves it out") {
  PolicyLayer user = layer(LayerKind::user);
  user.always_on = std::vector<std::string>{"secrets_scan", "extra"};
  const Policy policy = merge_layers({user});
  CHECK(policy.always_on.size() == 5);
  CHECK(notes_name(policy, "sandbox_isolation"));
}

TEST_CASE("a workspace cannot replace the command of a check that the person set") {
  PolicyLayer user = layer(LayerKind::user), workspace = layer(LayerKind::workspace);
  user.checks["unit_tests"] = {"npm test", 300'000, true};
  workspace.checks["unit_tests"] = {"true", 300'000, true};
  const Policy policy = merge_layers({user, workspace});
  CHECK(policy.checks.at("unit_tests").run == "npm test");
  CHECK(notes_name(policy, "checks.unit_tests"));
}

TEST_CASE("the version changes with the meaning and only with it") {
  PolicyLayer user = layer(LayerKind::user);
  user.rules.push_back({"r", RuleEffect::deny, {"a"}, "", "", "", {}, {}, {}});
  const std::string one = merge_layers({user}).version;
  user.lines["rules.r"] = 9;
  CHECK(merge_layers({user}).version == one);
  user.rules[0].command = {"b"};
  CHECK(merge_layers({user}).version != one);
}
