#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/evaluate.h"
#include "server/cli/labelled_set.h"

/// How right the judge is on a labelled set. Pure: counts what others judged.
namespace escrow::server::cli {

enum class Better { higher, lower };

/// One rate.
struct Metric {
  std::string_view key;    ///< as in the JSON report
  std::string_view title;  ///< as in the table
  Better better = Better::higher;
  std::size_t hits = 0, of = 0;
  /// 0..1; none where the set has no such case.
  std::optional<double> rate() const;
};

/// Of one rule or category: found and expected, found and not expected, expected and not found.
struct Tally {
  std::size_t right = 0, wrong = 0, missed = 0;
  std::size_t on_line = 0;  ///< of `right`: those that meet the expected lines (diffs)
};

/// A case that was judged otherwise than labelled.
struct Mistake {
  std::string id;
  std::string_view kind;  ///< `over-prompt`, `under-block`, `critical not denied`, `wrong lane`, `unstable`, …
  std::string detail;
};

/// The figures of commands or of diffs.
struct Report {
  std::size_t cases = 0;
  std::size_t failures = 0;  ///< answers that contradict themselves
  std::vector<Metric> metrics;
  std::map<std::string, Tally> tallies;  ///< by category or rule
  std::vector<Mistake> mistakes;
};

/// `answers`: one each, in the same order.
Report measure(const std::vector<LabelledCommand>& cases, const std::vector<engine::Evaluation>& answers);

/// Signals of one rule in one file within five lines of each other are one finding. A finding counts as found if one of
/// the same rule and file lies within two lines, as located if they overlap. Context rules never count as wrong.
Report measure(const std::vector<LabelledDiff>& cases, const std::vector<engine::PatchEvaluation>& answers);

}  // namespace escrow::server::cli
