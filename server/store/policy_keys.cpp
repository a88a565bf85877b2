#include "server/store/policy_keys.h"

#include <algorithm>
#include <boost/json.hpp>

namespace escrow::server {
namespace {

namespace json = boost::json;

std::vector<PolicyKey> with_bands(std::vector<PolicyKey> keys) {
  for (const std::string band : {"low", "medium", "high"}) {
    const std::string at = "risk_bands." + band;
    keys.push_back({at, KeyShape::mapping, "What happens to a change of the " + band + " lane."});
    keys.push_back({at + ".min_score", KeyShape::score, "The lowest score of the lane: one above the lane below."});
    keys.push_back({at + ".max_score", KeyShape::score, "The highest score of the lane."});
    keys.push_back({at + ".actions", KeyShape::texts, "Checks that run before a change of this lane is applied."});
    keys.push_back({at + ".human_review", KeyShape::flag, "A person decides about each change of this lane."});
    keys.push_back({at + ".auto_merge", KeyShape::flag,
                    "A change of this lane is applied by itself once its required checks have passed."});
  }
  return keys;
}

std::vector<PolicyKey> make_keys() {
  using S = KeyShape;
  std::vector<PolicyKey> keys = with_bands({
      {"version", S::choice, "The version of this file's format.", {"1"}},
      {"mode",
       S::choice,
       "enforce stops what is judged so; observe records the same verdicts and stops nothing; disabled only records "
       "the risk. A workspace cannot set a weaker one.",
       {"enforce", "observe", "disabled"}},
      {"autonomy",
       S::choice,
       "How far agents may go unasked: at most this, whatever a request says. Without a file it is medium, and not a "
       "ceiling. The lowest of all files holds.",
       {"low", "medium", "high"}},
      {"risk_bands", S::mapping, "The lanes of the score, and what each takes to be applied."},
  });
  const std::vector<PolicyKey> rest = {
      {"always_on",
       S::choices,
       "Controls that no score, lane or workspace switches off. The list may be written down, and none left out.",
       {"sandbox_isolation", "egress_deny_by_default", "no_prod_credentials", "secrets_scan"}},
      {"checks", S::named, "How checks are run, by their name. unit_tests is found from the project otherwise."},
      {"checks.*.run", S::text, "The command of the check, run in the sandbox."},
      {"checks.*.timeout", S::duration, "It has failed when it takes longer."},
      {"checks.*.required", S::flag, "A change is not applied unless this check has passed."},
      {"rules", S::list,
       "What is allowed, asked about or denied, whatever its risk. Of the rules that match, the strictest decides; a "
       "critical action is never loosened; a workspace's own allow is ignored."},
      {"rules[].id", S::text, "The name that verdicts give as their clause."},
      {"rules[].effect", S::choice, "What happens to what matches.", {"allow", "prompt", "deny"}},
      {"rules[].command", S::texts,
       "A command's leading words, one each: [git, push]. Compared word by word, in every part of a line."},
      {"rules[].network", S::host, "A host, host:port, or *.host."},
      {"rules[].path", S::text, "A path of the workspace: * within a name, ** across directories."},
      {"rules[].tool", S::text, "shell, exec, file, network, mcp, or an agent's own tool, whole."},
      {"rules[].match", S::texts, "Commands that the rule must match; tried whenever the file is read."},
      {"rules[].not_match", S::texts, "Commands that the rule must not match; tried whenever the file is read."},
      {"diff_rules", S::list, "Signals of your own: lines that a change adds or removes."},
      {"diff_rules[].id", S::text, "The signal is called `own.` and this."},
      {"diff_rules[].pattern", S::text, "A regular expression (RE2), looked for anywhere in a line."},
      {"diff_rules[].paths", S::texts, "Only in these files: paths of the repository with * and **."},
      {"diff_rules[].exclude", S::texts, "Not in these files."},
      {"diff_rules[].on", S::choice, "Which lines of the change are looked at.", {"added", "removed"}},
      {"diff_rules[].weight", S::weight, "The points it brings: from 31 alone medium, from 71 high."},
      {"diff_rules[].severity",
       S::choice,
       "How it is shown; by the weight if absent.",
       {"low", "medium", "high", "critical"}},
      {"diff_rules[].message", S::text, "One line that says what is wrong."},
      {"diff_rules[].cwe", S::texts, "Weaknesses it is about, as in CWE-798."},
      {"diff_rules[].match", S::texts, "Lines that the pattern must find."},
      {"diff_rules[].not_match", S::texts, "Lines that the pattern must not find."},
      {"sandbox", S::mapping, "The cage that commands run in."},
      {"sandbox.pool", S::mapping, "Sandboxes started ahead of need. No effect in this version."},
      {"sandbox.pool.min", S::count, "Kept waiting at least. No effect in this version."},
      {"sandbox.pool.max", S::count, "Kept waiting at most. No effect in this version."},
      {"sandbox.pool.handoff_slo", S::duration, "The time a hand-over may take. No effect in this version."},
      {"sandbox.limits", S::mapping, "What one command may use. A caller may ask for less."},
      {"sandbox.limits.wall", S::duration, "It is ended, with all it started, after this time."},
      {"sandbox.limits.cpu", S::duration, "Processor time."},
      {"sandbox.limits.memory", S::size, "Memory, of all its processes."},
      {"sandbox.limits.output", S::size, "Output that is shown; more is kept, and said."},
      {"sandbox.limits.file-size", S::size, "The largest file it may write."},
      {"sandbox.limits.pids", S::count, "Processes at a time."},
      {"sandbox.env_allow", S::texts, "Environment variables that are passed on; no others are."},
      {"sandbox.mask", S::texts, "Files hidden from commands, beside secrets: globs within the workspace."},
      {"sandbox.read", S::texts, "Further paths of this machine that commands may read."},
      {"sandbox.write", S::texts, "Further paths that commands may write. No effect in this version."},
      {"network", S::mapping, "What commands may reach."},
      {"network.allow", S::hosts, "Hosts they may reach without being asked about; none by default."},
      {"review", S::mapping, "How changes are reviewed."},
      {"review.sample_rate", S::share,
       "The share of low changes shown to a person all the same. No effect in this version."},
      {"review.expiry", S::duration, "An approval or a waiting change is void after this time."},
      {"allow_policy_only_runner", S::flag,
       "Run commands without a sandbox where none can be had. No effect in this version: they are refused."},
  };
  keys.insert(keys.end(), rest.begin(), rest.end());
  return keys;
}

/// `checks.*` for `checks.*.run`; `rules[]` for `rules[].id`; empty at the top.
std::string_view parent_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

/// How the path of what stands below a key begins.
std::string below(const PolicyKey& key) {
  switch (key.shape) {
    case KeyShape::named:
      return key.path + ".*";
    case KeyShape::list:
      return key.path + "[]";
    default:
      return key.path;
  }
}

json::object members_schema(std::string_view path);

json::object list_of(json::object items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

json::object enum_of(const std::vector<std::string>& choices) {
  // The version is a number to YAML.
  if (choices == std::vector<std::string>{"1"}) return {{"const", 1}};
  return {{"enum", json::value_from(choices)}};
}

json::object number_of(const char* type, int low, std::optional<int> high) {
  json::object out{{"type", type}, {"minimum", low}};
  if (high) out["maximum"] = *high;
  return out;
}

json::object pattern_of(const char* pattern) {
  return {{"type", "string"}, {"pattern", pattern}};
}

json::object shape_schema(const PolicyKey& key) {
  static constexpr const char* kHost = R"(^(\*\.)?[a-z0-9.-]+(:[0-9]{1,5})?$)";
  switch (key.shape) {
    case KeyShape::mapping:
      return members_schema(below(key));
    case KeyShape::named:
      return {{"type", json::array{"object", "null"}}, {"additionalProperties", members_schema(below(key))}};
    case KeyShape::list:
      return list_of(members_schema(below(key)));
    case KeyShape::choice:
      return enum_of(key.choices);
    case KeyShape::choices:
      return list_of(enum_of(key.choices));
    case KeyShape::flag:
      return {{"type", "boolean"}};
    case KeyShape::score:
      return number_of("integer", 0, 100);
    case KeyShape::weight:
      return number_of("integer", 1, 100);
    case KeyShape::count:
      return number_of("integer", 0, std::nullopt);
    case KeyShape::share:
      return number_of("number", 0, 1);
    case KeyShape::duration:
      return pattern_of(R"(^[0-9]+(\.[0-9]+)?(ms|s|m|h|d)$)");
    case KeyShape::size:
      return {{"type", json::array{"string", "integer"}}, {"pattern", R"(^[0-9]+(\.[0-9]+)?[KMGT]?$)"}};
    case KeyShape::text:
      return {{"type", "string"}, {"minLength", 1}};
    case KeyShape::texts:
      return list_of({{"type", json::array{"string", "number", "boolean"}}});
    case KeyShape::host:
      return pattern_of(kHost);
    case KeyShape::hosts:
      return list_of(pattern_of(kHost));
  }
  return {};
}

json::object members_schema(std::string_view path) {
  json::object properties;
  for (const PolicyKey* key : keys_below(path)) {
    json::object one = shape_schema(*key);
    one["description"] = key->meaning;
    properties[name_of_key(*key)] = std::move(one);
  }
  return {
      {"type", json::array{"object", "null"}}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

}  // namespace

const std::vector<PolicyKey>& policy_keys() {
  static const std::vector<PolicyKey> kKeys = make_keys();
  return kKeys;
}

const PolicyKey* find_policy_key(std::string_view path) {
  const auto& keys = policy_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const PolicyKey& key) { return key.path == path; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<const PolicyKey*> keys_below(std::string_view path) {
  std::vector<const PolicyKey*> out;
  for (const PolicyKey& key : policy_keys())
    if (parent_of(key.path) == path) out.push_back(&key);
  return out;
}

std::string name_of_key(const PolicyKey& key) {
  return key.path.substr(key.path.rfind('.') + 1);
}

json::object policy_schema() {
  json::object out{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"title", "Escrow policy"},
                   {"description", "escrow policy check says more than a schema can: it tries the rules' examples."}};
  for (auto& [key, value] : members_schema({})) out[key] = std::move(value);
  return out;
}

}  // namespace escrow::server
