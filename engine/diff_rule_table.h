#pragma once

#include <span>
#include <string_view>

#include "engine/level.h"

namespace escrow::engine {

/// One rule of the diff vocabulary: its base weight, what it is graded, and its weakness class.
struct DiffRule {
  std::string_view id;
  int weight = 0;                ///< 0..99, before modifiers
  Level severity = Level::none;  ///< at the base weight
  std::string_view cwe;          ///< identifiers divided by blanks; empty if none fits
  std::string_view message;      ///< what a finding says if it has nothing more exact to say
  bool is_context = false;       ///< amplifies, never decides
};

/// All rules, by id.
std::span<const DiffRule> diff_rules();

/// Nullptr for an unknown id.
const DiffRule* find_diff_rule(std::string_view id);

/// How a finding of this effective weight is graded: modifiers may lower a rule's severity, and raise it up to high, or
/// to critical from 90 points on.
Level severity_of(const DiffRule& rule, int weight);

}  // namespace escrow::engine
