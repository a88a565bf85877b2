#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

/// The keys of a policy file as data: what each means and what may stand behind it.
///
/// The parser (policy_yaml) decides; this table tells about it: the schema for YAML language servers, hovers and
/// completion. A test holds the two to each other, key by key.
namespace escrow::server {

enum class KeyShape {
  mapping,   ///< of the keys below it
  named,     ///< a mapping whose keys are the author's own names
  list,      ///< of mappings with the keys below it
  choice,    ///< one of `choices`
  choices,   ///< a list of them
  flag,      ///< true or false
  score,     ///< 0 to 100
  weight,    ///< 1 to 100
  count,     ///< a whole number
  share,     ///< 0 to 1
  duration,  ///< 500ms, 30s, 5m, 24h
  size,      ///< 512K, 64M, 4G
  text,
  texts,
  host,
  hosts,
};

struct PolicyKey {
  std::string path;  ///< `sandbox.limits.wall`; `checks.*.run` below an author's name; `rules[].id` within a list
  KeyShape shape = KeyShape::text;
  std::string meaning;                    ///< a sentence or two, for people
  std::vector<std::string> choices = {};  ///< for choice and choices
};

/// All of them, a section before its keys.
const std::vector<PolicyKey>& policy_keys();

/// Nullptr for an unknown path.
const PolicyKey* find_policy_key(std::string_view path);

/// The names directly below a section; `path` empty for the top.
std::vector<const PolicyKey*> keys_below(std::string_view path);

/// The last part of its path: `run`.
std::string name_of_key(const PolicyKey& key);

/// JSON Schema (2020-12) of a policy file; ships as docs/policy.schema.json.
boost::json::object policy_schema();

}  // namespace escrow::server
