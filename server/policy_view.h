#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "engine/policy.h"

/// The effective policy as lines and as JSON, in the spelling of the policy file.
namespace escrow::server {

/// One value, spelt as in the file, and where it came from.
struct PolicyRow {
  std::string key;
  std::string value;
  std::string origin;  ///< `built-in` or `file:line`
  bool operator==(const PolicyRow&) const = default;
};

std::vector<PolicyRow> policy_rows(const engine::Policy& policy);

/// The policy in the shape of its file.
boost::json::object json_policy(const engine::Policy& policy);
/// Key path → {"layer","file","line"}.
boost::json::object json_origins(const engine::Policy& policy);
/// What agents may not do, in plain words: [{"kind","text"}].
boost::json::array json_restrictions(const engine::Policy& policy);

/// `deny  terraform apply`, without the id.
std::string rule_text(const engine::PolicyRule& rule);
/// `added lines with /pattern/ in src/**: message (40 points, medium)`.
std::string own_rule_text(const engine::OwnRule& rule);
std::string origin_text(const engine::Origin& origin);

}  // namespace escrow::server
