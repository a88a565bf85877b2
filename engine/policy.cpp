#include "engine/policy.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace escrow::engine {
namespace {

using std::string_view;

const std::vector<std::string>& baseline() {
  static const std::vector<std::string> kBaseline = {"sandbox_isolation", "egress_deny_by_default",
                                                     "no_prod_credentials", "secrets_scan"};
  return kBaseline;
}

std::optional<double> number_of(string_view text, string_view& unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// A limit as written (`10m`, `4G`, `2048`) in its base unit; empty if it cannot be read.
std::optional<double> limit_value(const std::string& name, string_view text) {
  string_view unit;
  const std::optional<double> value = number_of(text, unit);
  if (!value || *value < 0) return std::nullopt;
  const bool time = name == "wall" || name == "cpu";
  double factor = 1;
  if (unit.empty())
    factor = 1;
  else if (time && unit == "ms")
    factor = 0.001;
  else if (time && unit == "s")
    factor = 1;
  else if (time && unit == "m")
    factor = 60;
  else if (time && unit == "h")
    factor = 3600;
  else if (!time && (unit == "K" || unit == "k" || unit == "KiB"))
    factor = 1024;
  else if (!time && (unit == "M" || unit == "MiB"))
    factor = 1024.0 * 1024;
  else if (!time && (unit == "G" || unit == "GiB"))
    factor = 1024.0 * 1024 * 1024;
  else
    return std::nullopt;
  return *value * factor;
}

/// FNV-1a: the version tells texts apart, it guards nothing.
std::string fingerprint(string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out.push_back(kHex[(hash >> shift) & 15]);
  return out;
}

class VersionText {
 public:
  void add(string_view key, string_view value) {
    text_ += std::string(key) + "=" + std::to_string(value.size()) + ":" + std::string(value) + "\n";
  }
  void add(string_view key, const std::vector<std::string>& values) {
    add(key, std::to_string(values.size()));
    for (const std::string& value : values) add(key, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_own_rule(VersionText& out, const OwnRule& rule) {
  out.add("own", rule.id);
  out.add("pattern", rule.pattern);
  out.add("paths", rule.paths);
  out.add("exclude", rule.exclude);
  out.add("on", name_of(rule.on));
  out.add("weight", std::to_string(rule.weight) + " " + std::string(name_of(rule.severity)));
  out.add("message", rule.message);
  out.add("cwe", rule.cwe);
}

std::string version_of(const Policy& policy) {
  VersionText out;
  out.add("mode", name_of(policy.mode));
  out.add("autonomy", name_of(policy.autonomy));
  out.add("capped", policy.autonomy_capped ? "1" : "0");
  for (const auto& [name, band] : policy.risk_bands) {
    out.add(name, std::to_string(band.min_score.value_or(-1)) + "-" + std::to_string(band.max_score.value_or(-1)) +
                      (band.human_review ? "h" : "") + (band.auto_merge ? "a" : ""));
    out.add(name, band.actions);
  }
  out.add("always_on", policy.always_on);
  for (const auto& [name, check] : policy.checks)
    out.add(name, check.run + "|" + std::to_string(check.timeout_ms) + (check.required ? "|r" : ""));
  for (const PolicyRule& rule : policy.rules) {
    out.add(rule.id, name_of(rule.effect));
    out.add("command", rule.command);
    out.add("rest", rule.network + "|" + rule.path + "|" + rule.tool);
  }
  for (const OwnRule& rule : policy.own_rules.list()) add_own_rule(out, rule);
  for (const auto& [name, value] : policy.limits) out.add(name, value);
  out.add("env", policy.env_allow);
  out.add("mask", policy.mask);
  out.add("read", policy.read);
  out.add("write", policy.write);
  out.add("network", policy.network_allow);
  out.add("sample", std::to_string(policy.sample_rate));
  out.add("expiry", std::to_string(policy.review_expiry_ms));
  out.add("runner", policy.allow_policy_only_runner ? "1" : "0");
  return fingerprint(out.text());
}

/// Adds one layer to the policy so far. A workspace layer passes through the same steps, each asking first whether the
/// value tightens.
class Merger {
 public:
  Merger(Policy& policy, const PolicyLayer& layer)
      : policy_(policy), layer_(layer), tighten_(layer.kind == LayerKind::workspace) {}

  void merge() {
    merge_mode();
    merge_autonomy();
    merge_bands();
    merge_always_on();
    merge_checks();
    merge_rules();
    merge_limits();
    widen("sandbox.env_allow", policy_.env_allow, layer_.env_allow);
    widen("sandbox.read", policy_.read, layer_.read);
    widen("sandbox.write", policy_.write, layer_.write);
    widen("network.allow", policy_.network_allow, layer_.network_allow);
    append("sandbox.mask", policy_.mask, layer_.mask);
    merge_review();
    merge_runner();
  }

 private:
  int line_of(const std::string& key) const {
    const auto it = layer_.lines.find(key);
    return it == layer_.lines.end() ? 0 : it->second;
  }

  void set_origin(const std::string& key) { policy_.origins[key] = {layer_.kind, layer_.file, line_of(key)}; }

  std::string where(const std::string& key) const {
    const int line = line_of(key);
    return (layer_.file.empty() ? std::string(name_of(layer_.kind)) : layer_.file) +
           (line > 0 ? ":" + std::to_string(line) : "") + ": " + key;
  }

  void refuse(const std::string& key, string_view why) {
    policy_.notes.push_back(where(key) + " is ignored: a workspace may only tighten, and this " + std::string(why));
  }

  void merge_mode() {
    if (!layer_.mode) return;
    if (tighten_ && *layer_.mode > policy_.mode) return refuse("mode", "would stop less");
    policy_.mode = *layer_.mode;
    set_origin("mode");
  }

  void merge_autonomy() {
    if (!layer_.autonomy) return;
    if (tighten_ && *layer_.autonomy > policy_.autonomy)
      return refuse("autonomy", "would let agents go further unasked");
    policy_.autonomy = *layer_.autonomy;
    policy_.autonomy_capped = true;
    set_origin("autonomy");
  }

  static bool tightens(const std::string& name, const RiskBand& now, const RiskBand& wanted) {
    const bool fewer_actions = std::any_of(now.actions.begin(), now.actions.end(), [&](const std::string& action) {
      return std::find(wanted.actions.begin(), wanted.actions.end(), action) == wanted.actions.end();
    });
    if (fewer_actions || (now.human_review && !wanted.human_review) || (!now.auto_merge && wanted.auto_merge))
      return false;
    // Lower bounds move a band down onto scores that were in a milder one.
    const int now_max = now.max_score.value_or(100), max = wanted.max_score.value_or(100);
    const int now_min = now.min_score.value_or(0), min = wanted.min_score.value_or(0);
    if (name == "low") return max <= now_max;
    return min <= now_min && max <= now_max;
  }

  void merge_bands() {
    for (const auto& [name, band] : layer_.risk_bands) {
      const auto now = policy_.risk_bands.find(name);
      if (tighten_ && (now == policy_.risk_bands.end() || !tightens(name, now->second, band))) {
        refuse("risk_bands." + name, "band is milder than the one in force");
        continue;
      }
      policy_.risk_bands[name] = band;
      set_origin("risk_bands." + name);
    }
  }

  /// The baseline is never switched off, by nobody.
  void merge_always_on() {
    if (!layer_.always_on) return;
    for (const std::string& name : policy_.always_on) {
      if (std::find(layer_.always_on->begin(), layer_.always_on->end(), name) != layer_.always_on->end()) continue;
      policy_.notes.push_back(where("always_on") + " leaves out " + name +
                              ", which stays on: it is part of the baseline");
    }
    append("always_on", policy_.always_on, *layer_.always_on);
  }

  void merge_checks() {
    for (const auto& [name, wanted] : layer_.checks) {
      const std::string key = "checks." + name;
      const auto now = policy_.checks.find(name);
      CheckSetting value = wanted;
      if (tighten_ && now != policy_.checks.end()) {
        if (!now->second.run.empty() && now->second.run != wanted.run) {
          refuse(key, "would replace the command of a check that the person set");
          continue;
        }
        if (now->second.required && !wanted.required) refuse(key, "would make a required check optional");
        value.required = wanted.required || now->second.required;
        value.timeout_ms =
            now->second.run.empty() ? wanted.timeout_ms : std::min(wanted.timeout_ms, now->second.timeout_ms);
      }
      policy_.checks[name] = value;
      set_origin(key);
    }
  }

  void merge_rules() {
    for (PolicyRule rule : layer_.rules) {
      if (tighten_ && rule.effect == RuleEffect::allow) {
        refuse("rules." + rule.id, "rule allows something");
        continue;
      }
      rule.origin.layer = layer_.kind;
      if (rule.origin.file.empty()) rule.origin.file = layer_.file;
      if (rule.origin.line == 0) rule.origin.line = line_of("rules." + rule.id);
      policy_.origins["rules." + rule.id] = rule.origin;
      policy_.rules.push_back(std::move(rule));
    }
  }

  void merge_limits() {
    for (const auto& [name, text] : layer_.limits) {
      const std::string key = "sandbox.limits." + name;
      const auto now = policy_.limits.find(name);
      if (tighten_ && now != policy_.limits.end()) {
        const std::optional<double> have = limit_value(name, now->second), want = limit_value(name, text);
        if (!have || !want || *want > *have) {
          refuse(key, "limit is wider than the one in force, or cannot be read");
          continue;
        }
      }
      policy_.limits[name] = text;
      set_origin(key);
    }
  }

  void append(const std::string& key, std::vector<std::string>& into, const std::vector<std::string>& values) {
    bool changed = false;
    for (const std::string& value : values) {
      if (std::find(into.begin(), into.end(), value) != into.end()) continue;
      into.push_back(value);
      changed = true;
    }
    if (changed) set_origin(key);
  }

  void widen(const std::string& key, std::vector<std::string>& into, const std::vector<std::string>& values) {
    if (values.empty()) return;
    const bool all_known = std::all_of(values.begin(), values.end(), [&](const std::string& value) {
      return std::find(into.begin(), into.end(), value) != into.end();
    });
    if (tighten_ && !all_known) return refuse(key, "list would open more");
    append(key, into, values);
  }

  void merge_review() {
    if (layer_.sample_rate) {
      if (tighten_ && *layer_.sample_rate < policy_.sample_rate) {
        refuse("review.sample_rate", "rate would show fewer changes to a person");
      } else {
        policy_.sample_rate = *layer_.sample_rate;
        set_origin("review.sample_rate");
      }
    }
    if (!layer_.review_expiry_ms) return;
    if (tighten_ && *layer_.review_expiry_ms > policy_.review_expiry_ms)
      return refuse("review.expiry", "would keep approvals longer");
    policy_.review_expiry_ms = *layer_.review_expiry_ms;
    set_origin("review.expiry");
  }

  void merge_runner() {
    if (!layer_.allow_policy_only_runner) return;
    if (tighten_ && *layer_.allow_policy_only_runner && !policy_.allow_policy_only_runner)
      return refuse("allow_policy_only_runner", "would run commands without a sandbox");
    policy_.allow_policy_only_runner = *layer_.allow_policy_only_runner;
    set_origin("allow_policy_only_runner");
  }

  Policy& policy_;
  const PolicyLayer& layer_;
  bool tighten_;
};

std::vector<std::string> with(std::vector<std::string> base, std::initializer_list<const char*> more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

}  // namespace

Policy builtin_policy() {
  Policy policy;
  const std::vector<std::string> low = {"unit_tests", "lint", "semgrep"};
  const std::vector<std::string> medium = with(low, {"dependency_scan", "secrets_scan", "codeql"});
  policy.risk_bands["low"] = {std::nullopt, 30, low, false, true};
  policy.risk_bands["medium"] = {31, 70, medium, false, true};
  policy.risk_bands["high"] = {71, std::nullopt, with(medium, {"full_sandbox_no_egress"}), true, false};
  policy.always_on = baseline();
  policy.checks["unit_tests"] = {"", 300'000, true};
  policy.checks["secrets_scan"] = {"", 300'000, true};
  policy.limits = {{"wall", "10m"}, {"memory", "4G"}, {"pids", "2048"}, {"output", "1M"}};
  policy.env_allow = {"LANG", "LC_ALL", "TERM", "TZ"};
  for (const char* key : {"mode", "autonomy", "risk_bands.low", "risk_bands.medium", "risk_bands.high", "always_on",
                          "checks.unit_tests", "checks.secrets_scan", "sandbox.limits.wall", "sandbox.limits.memory",
                          "sandbox.limits.pids", "sandbox.limits.output", "sandbox.env_allow", "network.allow",
                          "review.sample_rate", "review.expiry", "allow_policy_only_runner"}) {
    policy.origins[key] = Origin{};
  }
  policy.version = version_of(policy);
  return policy;
}

namespace {

/// Every layer's rules hold beside each other: one only ever adds signals.
void merge_own_rules(const std::vector<const PolicyLayer*>& layers, Policy& policy) {
  std::vector<OwnRule> all;
  std::set<std::string> seen;
  for (const PolicyLayer* layer : layers) {
    for (const OwnRule& rule : layer->own_rules) {
      policy.origins["diff_rules." + rule.id] = rule.origin;
      if (!seen.insert(rule.id).second)
        policy.notes.push_back("diff rule " + rule.id + " is named twice; both hold, and the heavier one counts");
      all.push_back(rule);
    }
  }
  policy.own_rules = OwnRules(std::move(all));
}

}  // namespace

Policy merge_layers(const std::vector<PolicyLayer>& layers) {
  std::vector<const PolicyLayer*> ordered;
  for (const PolicyLayer& layer : layers) ordered.push_back(&layer);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const PolicyLayer* a, const PolicyLayer* b) { return a->kind < b->kind; });
  Policy policy = builtin_policy();
  for (const PolicyLayer* layer : ordered) Merger(policy, *layer).merge();
  merge_own_rules(ordered, policy);
  std::set<std::string> seen;
  for (const PolicyRule& rule : policy.rules) {
    if (!seen.insert(rule.id).second)
      policy.notes.push_back("rule " + rule.id + " is named twice; both hold, and the stricter one decides");
  }
  policy.version = version_of(policy);
  return policy;
}

}  // namespace escrow::engine
