#pragma once

#include <span>
#include <vector>

#include "engine/lane.h"
#include "engine/signal.h"

namespace escrow::engine {

/// A score and how it adds up.
struct Score {
  int value = 0;                      ///< 0..100
  std::vector<Contribution> explain;  ///< heaviest rule first, context rules last; sums up to `value`
};

/// round(100 · (1 − Π(1 − w/100))) over the distinct rules, each at its largest weight; a rule that is seen again adds
/// 0.15 of its weight once, and no effective weight exceeds 99.
///
/// Rules of context (sensitive-path, large-change, low-confidence) amplify and never decide: they do not move a change
/// into a higher lane. Independent of the order of the signals.
Score score_signals(std::span<const Signal> signals, const LaneBounds& bounds = {});

}  // namespace escrow::engine
