#include "engine/decision_table.h"

#include <array>

namespace escrow::engine {
namespace {

constexpr std::size_t index_of(Level level) {
  return static_cast<std::size_t>(level);
}

using Row = std::array<Verdict, 3>;  // autonomy low, medium, high

constexpr std::array<Row, 5> kCage = {{
    {Verdict::allow, Verdict::allow, Verdict::allow},     // none
    {Verdict::prompt, Verdict::allow, Verdict::allow},    // low
    {Verdict::prompt, Verdict::prompt, Verdict::allow},   // medium
    {Verdict::prompt, Verdict::prompt, Verdict::prompt},  // high
    {Verdict::deny, Verdict::deny, Verdict::deny},        // critical
}};

constexpr std::array<Verdict, 5> kHost = {Verdict::allow, Verdict::prompt, Verdict::prompt, Verdict::prompt,
                                          Verdict::deny};

constexpr CategorySet kNeedsOutside =
    Category::network | Category::package_install | Category::path_escape | Category::exfiltration;

}  // namespace

Verdict decide(Level level, CategorySet categories, Venue venue, Autonomy autonomy) {
  if (venue == Venue::host) return kHost[index_of(level)];
  const Verdict verdict = kCage[index_of(level)][static_cast<std::size_t>(autonomy)];
  const bool reaches_out = level == Level::medium && (categories & kNeedsOutside) != 0;
  return reaches_out ? Verdict::prompt : verdict;
}

int command_score(Level level) {
  static constexpr std::array<int, 5> kScores = {0, 15, 50, 80, 95};
  return kScores[index_of(level)];
}

}  // namespace escrow::engine
