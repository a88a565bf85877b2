#pragma once

#include "engine/policy.h"
#include "sandbox/profile.h"

namespace escrow::server {

/// What policy gives an execution, as numbers; the defaults of sandbox::Limits where it says nothing. The policy reader
/// has refused what cannot be read.
sandbox::Limits execution_limits(const engine::Policy& policy);

}  // namespace escrow::server
