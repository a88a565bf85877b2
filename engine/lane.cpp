#include "engine/lane.h"

namespace escrow::engine {

Lane lane_of(int score) {
  if (score <= highest_score(Lane::low)) return Lane::low;
  return score <= highest_score(Lane::medium) ? Lane::medium : Lane::high;
}

int highest_score(Lane lane) {
  switch (lane) {
    case Lane::low:
      return 30;
    case Lane::medium:
      return 70;
    case Lane::high:
      return 100;
  }
  return 100;
}

}  // namespace escrow::engine
