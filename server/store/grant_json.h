#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <variant>

#include "engine/grant.h"

namespace escrow::server {

/// A grant as it stands in grants.json: camelCase keys in one order, times in milliseconds, absent optionals left out.
boost::json::object to_json(const engine::Grant& grant);

/// What is wrong with a stored grant, at which of its members, and what is allowed there.
struct GrantFault {
  std::string member;  ///< empty: the entry as a whole
  std::string message;
};

/// Strict: an unknown member, effect, scope or autonomy is a fault, since a guess could allow.
std::variant<engine::Grant, GrantFault> grant_from_json(const boost::json::value& value);

}  // namespace escrow::server
