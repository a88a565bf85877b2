#pragma once

#include <string>

#include "sandbox/profile.h"
#include "server/error.h"

namespace escrow::server::cli {

/// Sets what `--limit NAME=VALUE` says: wall, cpu (times), memory, file-size, output (sizes), pids (a count).
/// `invalid_params` names the option and what is allowed.
Result<void> set_limit(sandbox::Limits& limits, const std::string& option);

}  // namespace escrow::server::cli
