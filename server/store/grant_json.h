#pragma once

#include <boost/json/value.hpp>

#include "engine/grant.h"
#include "server/error.h"

namespace escrow::server {

/// A grant as it stands in grants.json, in `escrow grants list --json` and on the wire: camelCase keys, times in
/// milliseconds, absent optionals left out.
boost::json::object to_json(const engine::Grant& grant);

/// Strict: an unknown effect, scope or autonomy is an error, since a guess could allow.
Result<engine::Grant> grant_from_json(const boost::json::value& value);

}  // namespace escrow::server
