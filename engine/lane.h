#pragma once

#include "engine/level.h"

namespace escrow::engine {

/// The last scores of the low and of the medium lane. A policy may set others.
struct LaneBounds {
  int low = 30;
  int medium = 70;
  bool operator==(const LaneBounds&) const = default;
};

/// The lane of a score: by default 0–30 low, 31–70 medium, 71–100 high.
Lane lane_of(int score, const LaneBounds& bounds = {});

/// The last score that still belongs to the lane.
int highest_score(Lane lane, const LaneBounds& bounds = {});

/// The least a change scores that could not be read.
inline constexpr int kUnreadableScore = 71;

}  // namespace escrow::engine
