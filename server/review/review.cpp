#include "server/review/review.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

namespace escrow::server {
namespace {

using enum ReviewState;

/// Every legal move. `stale` and `failed` may come back: a re-base makes a new revision that is pending again.
constexpr std::array kMoves{
    std::pair{pending, checking},   std::pair{pending, approved},   std::pair{pending, rejected},
    std::pair{pending, stale},      std::pair{pending, expired},    std::pair{pending, withdrawn},
    std::pair{checking, pending},   std::pair{checking, approved},  std::pair{checking, rejected},
    std::pair{checking, stale},     std::pair{checking, expired},   std::pair{checking, withdrawn},
    std::pair{checking, failed},    std::pair{approved, pending},   std::pair{approved, rejected},
    std::pair{approved, applied},   std::pair{approved, stale},     std::pair{approved, expired},
    std::pair{approved, withdrawn}, std::pair{approved, failed},    std::pair{approved, unverified},
    std::pair{stale, pending},      std::pair{stale, rejected},     std::pair{stale, expired},
    std::pair{stale, withdrawn},    std::pair{failed, pending},     std::pair{failed, rejected},
    std::pair{failed, expired},     std::pair{failed, withdrawn},   std::pair{unverified, rejected},
    std::pair{unverified, pending}, std::pair{unverified, expired},
};

}  // namespace

bool may_move(ReviewState from, ReviewState to) {
  return std::find(kMoves.begin(), kMoves.end(), std::pair{from, to}) != kMoves.end();
}

bool is_final(ReviewState state) {
  switch (state) {
    case applied:
    case rejected:
    case expired:
    case withdrawn:
      return true;
    case pending:
    case checking:
    case approved:
    case stale:
    case failed:
    case unverified:
      return false;
  }
  return false;
}

std::string current_of(const Review& review) {
  return boost::json::serialize(
      boost::json::object{{"current", {{"revision", review.revision}, {"state", engine::name_of(review.state)}}}});
}

Error moved_on(const Review& review) {
  return {ErrorKind::stale,
          "review " + review.id + " is at revision " + std::to_string(review.revision) + ": look at it again",
          current_of(review)};
}

}  // namespace escrow::server
