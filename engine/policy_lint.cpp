#include "engine/policy_lint.h"

#include <algorithm>

#include "engine/grant.h"
#include "engine/rule_match.h"
#include "engine/shell.h"

namespace escrow::engine {
namespace {

/// The grant that would allow what the rule allows: what is too wide for the one is too wide for the other.
Grant as_grant(const PolicyRule& rule) {
  Grant grant;
  grant.effect = GrantEffect::allow;
  grant.scope = Scope::user;
  if (!rule.command.empty()) {
    grant.tool = "shell";
    grant.match = quote_argv(rule.command);
  } else if (!rule.network.empty()) {
    grant.tool = "network";
    grant.match = rule.network;
  } else if (!rule.path.empty()) {
    grant.tool = "file";
    grant.match = rule.path;
  } else {
    grant.tool = rule.tool;
  }
  return grant;
}

std::string why_too_wide(const PolicyRule& rule) {
  if (rule.effect != RuleEffect::allow) return {};
  const auto valid = validate_grant(as_grant(rule));
  if (valid) return {};
  static constexpr std::string_view kPrefix = "grant: ";
  const std::string& why = valid.error().message;
  return why.starts_with(kPrefix) ? why.substr(kPrefix.size()) : why;
}

/// A command is a list of words: `["git push"]` names a program with a blank in it.
std::string why_never_matches(const PolicyRule& rule) {
  if (rule.command.empty()) return {};
  const std::string& program = rule.command.front();
  if (program.find_first_of(" \t") == std::string::npos) return {};
  return "\"" + program + "\" is no program; a command is a list of words, as in [git, push]";
}

bool is_prefix(const std::vector<std::string>& words, const std::vector<std::string>& of) {
  return words.size() <= of.size() && std::equal(words.begin(), words.end(), of.begin());
}

bool host_covers(const std::string& wide, const std::string& narrow) {
  const std::size_t colon = narrow.rfind(':');
  if (wide == narrow || wide == narrow.substr(0, colon)) return true;
  if (narrow.starts_with('*')) return false;
  std::optional<int> port;
  if (colon != std::string::npos) port = std::stoi(narrow.substr(colon + 1));
  return host_matches(wide, narrow.substr(0, colon), port);
}

/// Whatever `narrow` matches, `wide` matches too. May miss some, never claims one that is not so.
bool covers_all_of(const PolicyRule& wide, const PolicyRule& narrow) {
  if (!wide.tool.empty() && wide.tool != narrow.tool) return false;
  const bool tool_alone = wide.command.empty() && wide.network.empty() && wide.path.empty();
  if (tool_alone) return !wide.tool.empty();
  if (!wide.command.empty()) return !narrow.command.empty() && is_prefix(wide.command, narrow.command);
  if (!wide.network.empty()) return !narrow.network.empty() && host_covers(wide.network, narrow.network);
  return !narrow.path.empty() && (wide.path == narrow.path || wide.path == "**");
}

const PolicyRule* overruled_by(const PolicyRule& rule, const std::vector<PolicyRule>& rules) {
  for (const PolicyRule& other : rules) {
    if (&other == &rule || !covers_all_of(other, rule)) continue;
    const bool twins = other.effect == rule.effect && covers_all_of(rule, other);
    if (other.effect > rule.effect || (other.effect == rule.effect && !(twins && &other > &rule))) return &other;
  }
  return nullptr;
}

void lint_rule(const PolicyRule& rule, const std::vector<PolicyRule>& rules, std::vector<PolicyWarning>& out) {
  const auto warn = [&](const std::string& text) {
    out.push_back({rule.origin.line, "rule \"" + rule.id + "\" " + text});
  };
  if (const auto why = why_never_matches(rule); !why.empty()) return warn("never matches: " + why);
  if (const auto why = why_too_wide(rule); !why.empty()) warn("allows too much: " + why);
  const PolicyRule* other = overruled_by(rule, rules);
  if (other == nullptr) return;
  if (other->effect == rule.effect) return warn("adds nothing: \"" + other->id + "\" says the same of more");
  warn("never decides: \"" + other->id + "\" matches all of it and is stricter");
}

int line_of(const PolicyLayer& layer, const std::string& key) {
  const auto found = layer.lines.find(key);
  return found == layer.lines.end() ? 0 : found->second;
}

}  // namespace

const std::vector<std::string>& keys_without_effect() {
  static const std::vector<std::string> kKeys = {"sandbox.pool.min", "sandbox.pool.max",   "sandbox.pool.handoff_slo",
                                                 "sandbox.write",    "review.sample_rate", "allow_policy_only_runner"};
  return kKeys;
}

std::vector<PolicyWarning> lint_layer(const PolicyLayer& layer) {
  std::vector<PolicyWarning> out;
  for (const PolicyRule& rule : layer.rules) lint_rule(rule, layer.rules, out);
  for (const std::string& key : keys_without_effect()) {
    if (const int line = line_of(layer, key); line > 0)
      out.push_back({line, key + " has no effect in this version of Escrow"});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  return out;
}

}  // namespace escrow::engine
