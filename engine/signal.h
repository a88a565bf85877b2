#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/level.h"

namespace escrow::engine {

/// One located finding.
struct Signal {
  std::string rule;  ///< stable kebab-case id, e.g. `secret-literal`
  std::string file;  ///< new path, '/'-separated, unquoted UTF-8; old path of a deleted file; empty for commands
  /// 1-based line of the *new* file; a deletion is anchored at the line now standing there; 0 is the whole file.
  std::uint32_t line = 0;
  std::uint32_t end_line = 0;  ///< inclusive, >= line
  Level severity = Level::none;
  int weight = 0;       ///< 0..99, points as in the vocabulary
  std::string message;  ///< plain words; never a whole secret
  std::vector<std::string> cwe;
  bool operator==(const Signal&) const = default;
};

/// How many points of the score one rule brought.
struct Contribution {
  std::string rule;
  int points = 0;
  bool operator==(const Contribution&) const = default;
};

/// The judgement of one Action or change.
struct Risk {
  Level level = Level::none;
  int score = 0;                        ///< 0..100
  std::vector<std::string> categories;  ///< command categories, or the distinct rules of a diff; sorted
  std::vector<Signal> signals;
  std::vector<Contribution> explain;  ///< sums up to the score
  bool operator==(const Risk&) const = default;
};

}  // namespace escrow::engine
