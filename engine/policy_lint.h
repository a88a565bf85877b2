#pragma once

#include <string>
#include <vector>

#include "engine/policy.h"

namespace escrow::engine {

/// What a policy file says that its author can hardly mean. It is valid, and holds as it is written.
struct PolicyWarning {
  int line = 0;  ///< 1-based, in the layer's file; 0 if unknown
  std::string message;
  bool operator==(const PolicyWarning&) const = default;
};

/// In the order of the file: rules that allow nearly anything, rules that can never match, rules that another one of
/// this file always overrules, and keys that nothing reads.
std::vector<PolicyWarning> lint_layer(const PolicyLayer& layer);

/// Keys that are accepted and have no effect in this version.
const std::vector<std::string>& keys_without_effect();

}  // namespace escrow::engine
