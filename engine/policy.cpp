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
  else if (time && unit == "d")
    factor = 86400;
  else if (!time && (unit == "K" || unit == "k" || unit == "KiB"))
    factor = 1024;
  else if (!time && (unit == "M" || unit == "MiB"))
    factor = 1024.0 * 1024;
  else if (!time && (unit == "G" || unit == "GiB"))
    factor = 1024.0 * 1024 * 1024;
  else if (!time && unit == "T")
    factor = 1024.0 * 1024 * 1024 * 1024;
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

  std::string where(const std::string& key) const { return where(key, line_of(key)); }

  std::string where(const std::string& key, int line) const {
    return (layer_.file.empty() ? std::string(name_of(layer_.kind)) : layer_.file) +
           (line > 0 ? ":" + std::to_string(line) : "") + ": " + key;
  }

  void refuse(const std::string& key, string_view why) { refuse(key, line_of(key), why); }

  void refuse(const std::string& key, int line, string_view why) {
    policy_.notes.push_back(where(key, line) + " is ignored: a workspace may only tighten, and this " +
                            std::string(why));
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
    if (policy_.autonomy_capped && *layer_.autonomy >= policy_.autonomy) return;
    policy_.autonomy = *layer_.autonomy;
    policy_.autonomy_capped = true;
    set_origin("autonomy");
  }

  void merge_bands() {
    for (const auto& [name, change] : layer_.risk_bands)
      merge_band("risk_bands." + name, policy_.risk_bands[name], change);
  }

  /// Value by value: a file that tightens one and loosens another gets the one and not the other.
  void merge_band(const std::string& key, RiskBand& band, const RiskBandChange& change) {
    // A lower bound moves scores up from the band below; a higher one lets them down.
    const auto set_bound = [&](const char* name, std::optional<int>& now, std::optional<int> wanted, int open) {
      if (!wanted) return;
      if (tighten_ && *wanted > now.value_or(open))
        return refuse(key + "." + name,
                      "bound is higher than the one in force, so graver changes would count as milder");
      take(key, now, wanted);
    };
    set_bound("min_score", band.min_score, change.min_score, 0);
    set_bound("max_score", band.max_score, change.max_score, 100);
    if (change.actions) merge_actions(key, band.actions, *change.actions);
    merge_flag(key, "human_review", band.human_review, change.human_review, "would let it pass without a person");
    merge_flag(key, "auto_merge", band.auto_merge, change.auto_merge, "would apply it by itself");
  }

  template <class T, class V>
  void take(const std::string& key, T& now, const V& wanted) {
    if (now == wanted) return;
    now = wanted;
    set_origin(key);
  }

  /// A workspace may switch a person on and auto-merge off.
  void merge_flag(const std::string& key, const std::string& name, bool& now, std::optional<bool> wanted,
                  string_view why) {
    if (!wanted) return;
    const bool strict = name == "human_review";
    if (tighten_ && *wanted != now && *wanted != strict) return refuse(key + "." + name, why);
    take(key, now, *wanted);
  }

  void merge_actions(const std::string& key, std::vector<std::string>& now, const std::vector<std::string>& wanted) {
    if (!tighten_) return take(key, now, wanted);
    for (const std::string& action : now) {
      if (std::find(wanted.begin(), wanted.end(), action) == wanted.end())
        refuse(key + ".actions", "would leave out " + action);
    }
    append(key, now, wanted);
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
      if (tighten_ && name == "secrets_scan" && !wanted.run.empty()) {
        refuse(key, "would replace the scan for secrets");
        continue;
      }
      if (tighten_ && now != policy_.checks.end()) {
        if (!now->second.run.empty() && now->second.run != wanted.run) {
          refuse(key, "would replace the command of a check that the person set");
          continue;
        }
        if (now->second.required && !wanted.required) refuse(key, "would make a required check optional");
        value.required = wanted.required || now->second.required;
        if (now->second.timeout_ms < wanted.timeout_ms && !now->second.run.empty())
          refuse(key + ".timeout", "is longer than the one in force");
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
        refuse("rules." + rule.id, rule.origin.line, "rule allows something");
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
      const std::string key = (name.starts_with("pool.") ? "sandbox." : "sandbox.limits.") + name;
      const auto now = policy_.limits.find(name);
      if (tighten_ && now != policy_.limits.end()) {
        const std::optional<double> have = limit_value(name, now->second), want = limit_value(name, text);
        if (!have || !want || *want > *have) {
          refuse(key, "limit is wider than the one in force, or cannot be read");
          continue;
        }
        if (*want == *have) continue;
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

Policy strict_policy(const std::vector<PolicyLayer>& readable) {
  PolicyLayer strict;
  strict.kind = LayerKind::system;
  strict.mode = Mode::enforce;
  strict.autonomy = Autonomy::low;
  for (const char* kind : {"shell", "exec", "file", "network", "mcp", "other"}) {
    PolicyRule rule;
    rule.id = kBrokenPolicyRule;
    rule.effect = RuleEffect::prompt;
    rule.tool = kind;
    strict.rules.push_back(std::move(rule));
  }
  std::vector<PolicyLayer> layers = readable;
  for (PolicyLayer& layer : layers) layer.allow_policy_only_runner.reset();
  layers.push_back(std::move(strict));
  Policy policy = merge_layers(layers);
  std::erase_if(policy.notes, [](const std::string& note) { return note.starts_with("rule policy.broken is named"); });
  policy.network_allow.clear();
  policy.version = version_of(policy);
  return policy;
}

}  // namespace escrow::engine
