#pragma once

#include "engine/level.h"

namespace escrow::engine {

/// The lane of a score: 0–30 low, 31–70 medium, 71–100 high.
Lane lane_of(int score);

/// The last score that still belongs to the lane.
int highest_score(Lane lane);

/// The least a change scores that could not be read.
inline constexpr int kUnreadableScore = 71;

}  // namespace escrow::engine
