#include "engine/line_pattern.h"

#include <algorithm>

namespace escrow::engine {
namespace {

/// A line may hold a word often where it does not count (in strings, say): enough tries for real lines, few enough
/// that a hostile one costs little.
constexpr int kMaxTries = 64;

bool counts(Where where, char kind) {
  switch (where) {
    case Where::code:
      return kind == static_cast<char>(TextKind::code);
    case Where::text:
      return kind != static_cast<char>(TextKind::comment);
    case Where::string:
      return kind == static_cast<char>(TextKind::string);
    case Where::any:
      return true;
  }
  return true;
}

}  // namespace

LineMatcher::LineMatcher(std::initializer_list<std::span<const LinePattern>> families) {
  for (const auto family : families) {
    for (const LinePattern& pattern : family) {
      const auto id = static_cast<NeedleIndex::Id>(patterns_.size());
      for (const std::string_view needle : pattern.needles) {
        if (!needle.empty()) index_.add(needle, id);
      }
      patterns_.push_back(&pattern);
      regexes_.emplace_back(pattern.regex);
    }
  }
  index_.build();
}

void LineMatcher::match(const PathFacts& facts, std::string_view line, const std::function<const KindMask&()>& kinds,
                        std::vector<PatternHit>& hits) const {
  hits.clear();
  constexpr std::size_t kMaxCandidates = 64;
  std::array<NeedleIndex::Id, kMaxCandidates> candidates;
  std::size_t count = 0;
  index_.scan(line, [&](NeedleIndex::Id id) {
    const LinePattern& pattern = *patterns_[id];
    if ((pattern.languages & bit(facts.language)) == 0 || !facts.has(pattern.roles)) return;
    const auto last = candidates.begin() + static_cast<std::ptrdiff_t>(count);
    if (count < kMaxCandidates && std::find(candidates.begin(), last, id) == last) candidates[count++] = id;
  });
  std::sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    PatternHit hit{patterns_[candidates[i]], 0, 0, false};
    if (find_first(candidates[i], line, kinds(), hit)) hits.push_back(hit);
  }
}

bool LineMatcher::find_first(std::size_t id, std::string_view line, const KindMask& kinds, PatternHit& hit) const {
  std::size_t from = 0;
  for (int tries = 0; tries < kMaxTries && regexes_[id].find(line, from, hit.begin, hit.end); ++tries) {
    // A leading context character of the expression must not decide: the match's body does.
    const std::size_t probe = std::min(hit.begin + 1 < hit.end ? hit.begin + 1 : hit.begin, line.size());
    const char kind = probe < kinds.size() ? kinds[probe] : static_cast<char>(TextKind::code);
    hit.in_string = kind == static_cast<char>(TextKind::string);
    if (counts(hit.pattern->where, kind)) return true;
    from = std::max(hit.end, hit.begin + 1);
  }
  return false;
}

bool is_single_literal(std::string_view line, std::size_t open) {
  static const LazyRegex harmless_rest(
      R"re(^\s*(?:$|[)\]};]|,\s*(?:$|\w+\s*=[^=]|[{(]|function\b|async\b|(?:err|error|cb|callback|done|next)\b)))re");
  std::size_t at = line.find_first_not_of(" \t([", open);
  while (at != std::string_view::npos) {
    const char quote = line[at];
    if (quote != '"' && quote != '\'' && quote != '`') return false;
    for (++at; at < line.size() && line[at] != quote; ++at) {
      if (line[at] == '\\') ++at;
      // Interpolation: `${x}`, `#{x}`, and in shells and Perl `$x`.
      if (at < line.size() && line[at] == '$') return false;
      if (at + 1 < line.size() && line[at] == '#' && line[at + 1] == '{') return false;
    }
    const std::string_view rest = line.substr(std::min(at + 1, line.size()));
    if (harmless_rest.matches(rest)) return true;
    // Another literal argument, or something that is worked out.
    const std::size_t comma = rest.find_first_not_of(" \t");
    if (comma == std::string_view::npos || rest[comma] != ',') return false;
    at = line.find_first_not_of(" \t", at + 1 + comma + 1);
  }
  return false;
}

}  // namespace escrow::engine
