#include "engine/lane.h"

namespace escrow::engine {

Lane lane_of(int score, const LaneBounds& bounds) {
  if (score <= bounds.low) return Lane::low;
  return score <= bounds.medium ? Lane::medium : Lane::high;
}

int highest_score(Lane lane, const LaneBounds& bounds) {
  switch (lane) {
    case Lane::low:
      return bounds.low;
    case Lane::medium:
      return bounds.medium;
    case Lane::high:
      return 100;
  }
  return 100;
}

}  // namespace escrow::engine
