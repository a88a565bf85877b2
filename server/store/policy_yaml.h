#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/policy.h"

/// Policy files: YAML text to `engine::PolicyLayer`. Pure.
///
/// Strict on purpose: a key that is not known is a problem, never ignored, because a misspelt protection is no
/// protection. Every problem of a file is found in one reading.
namespace escrow::server {

/// What is wrong, where, and what is allowed there. Lines and columns are 1-based.
struct PolicyProblem {
  int line = 0;
  int column = 0;
  std::string message;
  bool operator==(const PolicyProblem&) const = default;
};

struct ParsedPolicy {
  engine::PolicyLayer layer;
  std::vector<PolicyProblem> problems;  ///< in file order; if any, the layer must not be used
};

/// `file` is only named in origins and messages.
ParsedPolicy parse_policy(std::string_view text, const std::string& file, engine::LayerKind kind);

/// `file:line:column: message`.
std::string to_text(const PolicyProblem& problem, const std::string& file);

}  // namespace escrow::server
