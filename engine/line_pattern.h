#pragma once

#include <array>
#include <deque>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/lazy_regex.h"
#include "engine/needle_index.h"
#include "engine/path_class.h"
#include "engine/source_text.h"

namespace escrow::engine {

/// Where in a line a match must begin to count.
enum class Where : std::uint8_t {
  code,    ///< not in a string, not in a comment
  text,    ///< not in a comment
  string,  ///< in a string only
  any,
};

enum PatternTrait : std::uint32_t {
  kPlain = 0,
  kUserInputRaises = 1u << 0,  ///< 25 points more if data from outside is in sight
  kUserInputNeeded = 1u << 1,  ///< no finding without it
  kLiteralIsFine = 1u << 2,    ///< no finding if all that follows is one literal argument
  kLiteralIsMild = 1u << 3,    ///< then a finding that stays in the low lane
};

/// A finding that one line can make.
struct LinePattern {
  std::string_view rule;
  /// Lower-case words without one of which the expression cannot match.
  std::array<std::string_view, 12> needles;
  const char* regex;
  Where where = Where::code;
  LanguageMask languages = kAnyLanguage;
  FileRoles roles = kSource;  ///< files that have one of these
  int weight = 0;             ///< 0: the rule's own
  std::uint32_t traits = kPlain;
  std::string_view message = {};  ///< empty: the rule's own
};

struct PatternHit {
  const LinePattern* pattern;
  std::size_t begin, end;
  bool in_string;
};

/// Matches lines against many patterns; see NeedleIndex. Thread-safe once built.
class LineMatcher {
 public:
  explicit LineMatcher(std::initializer_list<std::span<const LinePattern>> families);

  /// Hits of the patterns that apply to such a file; `kinds` is asked only if a needle was found.
  void match(const PathFacts& facts, std::string_view line, const std::function<const KindMask&()>& kinds,
             std::vector<PatternHit>& hits) const;

 private:
  bool find_first(std::size_t id, std::string_view line, const KindMask& kinds, PatternHit& hit) const;

  std::vector<const LinePattern*> patterns_;
  std::deque<LazyRegex> regexes_;
  NeedleIndex index_;
};

/// True if the argument list that begins at `open` holds literals only; options and callbacks after them do not count.
bool is_single_literal(std::string_view line, std::size_t open);

}  // namespace escrow::engine
