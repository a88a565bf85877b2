#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/level.h"
#include "engine/policy_origin.h"

/// Rules that people write into policy files, about the lines of a change.
///
/// They only ever add signals: no rule takes another's away, so that a repository's own file cannot loosen with one.
/// Their ids lie in a namespace of their own (`own.`), so that none passes for a built-in one.
namespace escrow::engine {

struct ChangeView;
class Findings;

enum class LineSide { added, removed };
BOOST_DESCRIBE_ENUM(LineSide, added, removed)

struct OwnRule {
  std::string id;                  ///< as written; see signal_id
  std::string pattern;             ///< RE2, looked for anywhere in a line
  std::vector<std::string> paths;  ///< globs of path_matches; none: every file
  std::vector<std::string> exclude;
  LineSide on = LineSide::added;
  int weight = 0;  ///< 1..100; a signal counts 99 at most
  Level severity = Level::none;
  std::string message;  ///< one plain line
  std::vector<std::string> cwe;
  std::vector<std::string> match, not_match;  ///< the rule's own examples: lines without their mark
  Origin origin;
  bool operator==(const OwnRule&) const = default;
};

/// What one policy file may hold, so that hostile files cost little.
inline constexpr std::size_t kMaxOwnRules = 100;
inline constexpr std::size_t kMaxPatternBytes = 500;
inline constexpr std::size_t kMaxRuleGlobs = 16;
inline constexpr std::size_t kMaxGlobBytes = 200;

/// Signals of one rule in one change; the last says how many lines more there are.
inline constexpr std::size_t kMaxRuleSignals = 200;

/// `own.` and the rule's id: what signals, scores and logs call it.
std::string signal_id(const OwnRule& rule);

/// The severity of a weight, for a rule that names none.
Level severity_of_weight(int weight);

/// Why the pattern cannot be used, in words that follow its name; empty if it can.
std::optional<std::string> pattern_fault(const std::string& pattern);

/// The rules in force, compiled together when first needed: one pass over a line for all of them, in linear time.
///
/// A value, cheap to copy; safe on any thread. Patterns have passed pattern_fault; one that has not matches every line,
/// since what it meant to stop is unknown.
class OwnRules {
 public:
  OwnRules() = default;
  explicit OwnRules(std::vector<OwnRule> rules);

  const std::vector<OwnRule>& list() const;
  /// Indices into `list` of the rules about that side whose pattern is in the line; ascending.
  std::vector<std::size_t> matching(LineSide side, std::string_view line) const;

 private:
  class SidePatterns;
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

/// One signal a rule and line. An added line is of the file's new path, a removed one of its old path.
void find_own_rules(const ChangeView& change, const OwnRules& rules, Findings& findings);

}  // namespace escrow::engine
