#include "server/policy_view.h"

#include <string_view>

#include "engine/shell.h"
#include "server/json_out.h"
#include "server/units.h"

namespace escrow::server {
namespace {

namespace json = boost::json;
using engine::Policy;
using engine::RiskBand;

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? "none" : text;
}

/// The origin of the key, or of the nearest key above it that has one.
std::string origin_of(const Policy& policy, std::string key) {
  while (true) {
    if (const auto found = policy.origins.find(key); found != policy.origins.end()) return origin_text(found->second);
    const auto dot = key.rfind('.');
    if (dot == std::string::npos) return origin_text({});
    key.resize(dot);
  }
}

std::string band_text(const RiskBand& band) {
  auto text = std::to_string(band.min_score.value_or(0)) + "-" + std::to_string(band.max_score.value_or(100)) + ": ";
  text += band.human_review ? "a person decides" : band.auto_merge ? "applies by itself" : "waits to be applied";
  return text + "; checks: " + listed(band.actions);
}

std::string check_text(const engine::CheckSetting& check) {
  auto text = check.run.empty() ? std::string("found from the project") : check.run;
  text += ", at most " + format_duration_ms(check.timeout_ms);
  return text + (check.required ? ", required" : "");
}

json::object json_band(const RiskBand& band) {
  json::object out;
  if (band.min_score) out["min_score"] = *band.min_score;
  if (band.max_score) out["max_score"] = *band.max_score;
  out["actions"] = json_texts(band.actions);
  out["human_review"] = band.human_review;
  out["auto_merge"] = band.auto_merge;
  return out;
}

json::object json_rule(const engine::PolicyRule& rule) {
  json::object out;
  out["id"] = json_text(rule.id);
  out["effect"] = engine::name_of(rule.effect);
  if (!rule.command.empty()) out["command"] = json_texts(rule.command);
  if (!rule.network.empty()) out["network"] = json_text(rule.network);
  if (!rule.path.empty()) out["path"] = json_text(rule.path);
  if (!rule.tool.empty()) out["tool"] = json_text(rule.tool);
  return out;
}

json::object json_own_rule(const engine::OwnRule& rule) {
  json::object out;
  out["id"] = json_text(rule.id);
  out["pattern"] = json_text(rule.pattern);
  if (!rule.paths.empty()) out["paths"] = json_texts(rule.paths);
  if (!rule.exclude.empty()) out["exclude"] = json_texts(rule.exclude);
  out["on"] = engine::name_of(rule.on);
  out["weight"] = rule.weight;
  out["severity"] = engine::name_of(rule.severity);
  out["message"] = json_text(rule.message);
  if (!rule.cwe.empty()) out["cwe"] = json_texts(rule.cwe);
  return out;
}

constexpr std::string_view kPool = "pool.";

bool is_of_pool(const std::string& name) {
  return name.starts_with(kPool);
}

json::object json_sandbox(const Policy& policy) {
  json::object limits, pool;
  for (const auto& [name, value] : policy.limits) {
    if (is_of_pool(name)) {
      pool[name.substr(kPool.size())] = json_text(value);
    } else {
      limits[name] = json_text(value);
    }
  }
  json::object out;
  out["limits"] = std::move(limits);
  if (!pool.empty()) out["pool"] = std::move(pool);
  out["env_allow"] = json_texts(policy.env_allow);
  out["mask"] = json_texts(policy.mask);
  out["read"] = json_texts(policy.read);
  out["write"] = json_texts(policy.write);
  return out;
}

json::object json_checks(const Policy& policy) {
  json::object out;
  for (const auto& [name, check] : policy.checks) {
    json::object one{{"timeout_ms", check.timeout_ms}, {"required", check.required}};
    if (!check.run.empty()) one["run"] = json_text(check.run);
    out[name] = std::move(one);
  }
  return out;
}

/// The order of the bands is their meaning; the map's is the alphabet's.
template <class Visit>
void for_each_band(const Policy& policy, Visit visit) {
  for (const auto* name : {"low", "medium", "high"}) {
    if (const auto band = policy.risk_bands.find(name); band != policy.risk_bands.end())
      visit(band->first, band->second);
  }
}

void restrict(json::array& out, std::string_view kind, const std::string& text) {
  out.emplace_back(json::object{{"kind", kind}, {"text", json_text(text)}});
}

}  // namespace

std::string origin_text(const engine::Origin& origin) {
  if (origin.file.empty()) return "built-in";
  return origin.line > 0 ? origin.file + ":" + std::to_string(origin.line) : origin.file;
}

std::string rule_text(const engine::PolicyRule& rule) {
  std::string text(engine::name_of(rule.effect));
  if (!rule.tool.empty()) text += " tool " + rule.tool;
  if (!rule.command.empty()) text += " command " + engine::quote_argv(rule.command);
  if (!rule.network.empty()) text += " network " + rule.network;
  if (!rule.path.empty()) text += " path " + rule.path;
  return text;
}

std::string own_rule_text(const engine::OwnRule& rule) {
  auto text = std::string(engine::name_of(rule.on)) + " lines with /" + rule.pattern + "/";
  if (!rule.paths.empty()) text += " in " + listed(rule.paths);
  if (!rule.exclude.empty()) text += " but not in " + listed(rule.exclude);
  return text + ": " + rule.message + " (" + std::to_string(rule.weight) + " points, " +
         std::string(engine::name_of(rule.severity)) + ")";
}

std::vector<PolicyRow> policy_rows(const Policy& policy) {
  std::vector<PolicyRow> rows;
  const auto add = [&](const std::string& key, std::string value) {
    rows.push_back({key, std::move(value), origin_of(policy, key)});
  };
  add("mode", std::string(engine::name_of(policy.mode)));
  add("autonomy", std::string(engine::name_of(policy.autonomy)) + (policy.autonomy_capped ? ", never more" : ""));
  for_each_band(policy, [&](const auto& name, const auto& band) { add("risk_bands." + name, band_text(band)); });
  add("always_on", listed(policy.always_on));
  for (const auto& [name, check] : policy.checks) add("checks." + name, check_text(check));
  for (const auto& [name, value] : policy.limits)
    add((is_of_pool(name) ? "sandbox." : "sandbox.limits.") + name, value);
  if (!policy.env_allow.empty()) add("sandbox.env_allow", listed(policy.env_allow));
  if (!policy.mask.empty()) add("sandbox.mask", listed(policy.mask));
  if (!policy.read.empty()) add("sandbox.read", listed(policy.read));
  if (!policy.write.empty()) add("sandbox.write", listed(policy.write));
  add("network.allow", listed(policy.network_allow));
  add("review.expiry", format_duration_ms(policy.review_expiry_ms));
  if (policy.allow_policy_only_runner) add("allow_policy_only_runner", "true");
  for (const auto& rule : policy.rules) rows.push_back({"rule " + rule.id, rule_text(rule), origin_text(rule.origin)});
  for (const auto& rule : policy.own_rules.list())
    rows.push_back({"diff rule " + engine::signal_id(rule), own_rule_text(rule), origin_text(rule.origin)});
  return rows;
}

json::object json_policy(const Policy& policy) {
  json::object out;
  out["policyVersion"] = json_text(policy.version);
  out["mode"] = engine::name_of(policy.mode);
  out["autonomy"] = engine::name_of(policy.autonomy);
  json::object bands;
  for_each_band(policy, [&](const auto& name, const auto& band) { bands[name] = json_band(band); });
  out["risk_bands"] = std::move(bands);
  out["always_on"] = json_texts(policy.always_on);
  out["checks"] = json_checks(policy);
  json::array rules;
  for (const auto& rule : policy.rules) rules.emplace_back(json_rule(rule));
  out["rules"] = std::move(rules);
  json::array own;
  for (const auto& rule : policy.own_rules.list()) own.emplace_back(json_own_rule(rule));
  out["diff_rules"] = std::move(own);
  out["sandbox"] = json_sandbox(policy);
  out["network"] = json::object{{"allow", json_texts(policy.network_allow)}};
  out["review"] = json::object{{"sample_rate", policy.sample_rate}, {"expiry_ms", policy.review_expiry_ms}};
  out["allow_policy_only_runner"] = policy.allow_policy_only_runner;
  return out;
}

json::object json_origins(const Policy& policy) {
  json::object out;
  for (const auto& [key, origin] : policy.origins) {
    out[key] =
        json::object{{"layer", engine::name_of(origin.layer)}, {"file", json_text(origin.file)}, {"line", origin.line}};
  }
  return out;
}

json::array json_restrictions(const Policy& policy) {
  json::array out;
  restrict(out, "network",
           policy.network_allow.empty() ? "no network" : "network only to " + listed(policy.network_allow));
  restrict(out, "write", "commands write into a copy-on-write layer; a review decides what reaches the files");
  restrict(out, "mask", "secret files are hidden" + (policy.mask.empty() ? "" : ", and " + listed(policy.mask)));
  for (const auto& [name, value] : policy.limits)
    if (!is_of_pool(name)) restrict(out, "limit", name + " " + value);
  if (policy.autonomy_capped) {
    restrict(out, "autonomy", "at most " + std::string(engine::name_of(policy.autonomy)));
  }
  for (const auto& rule : policy.rules) {
    if (rule.effect != engine::RuleEffect::allow) restrict(out, "rule", rule.id + ": " + rule_text(rule));
  }
  return out;
}

}  // namespace escrow::server
