#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// The audit log as a labelled source: what people approved or denied, against what the score said of it.
namespace escrow::server::cli {

/// One thing that a person decided about, and the score it had then.
struct Answered {
  enum class Kind { command, change };
  Kind kind = Kind::command;
  std::int64_t time_ms = 0;
  std::string grade;  ///< level of a command, lane of a change
  int score = 0;
  bool approved = false;
};

/// In the order of the log. What a lane, a policy or a grant decided by itself is no label.
std::vector<Answered> answered_in(const std::vector<boost::json::object>& entries);

struct Agreement {
  std::size_t answers = 0, denied = 0;
  struct Tally {
    std::size_t approved = 0, denied = 0;
  };
  std::map<std::string, Tally> by_grade;
  /// Of all pairs of one approved and one denied, the share in which the denied one had the higher score (ties count
  /// half): 1 where people and score agree, 0.5 where the score tells nothing. Negative: nothing to compare.
  double agreement = -1;
};

Agreement agreement_of(const std::vector<Answered>& answers);

/// The older and the newer half: where the second agrees less, the score has drifted from what people want.
struct AgreementOverTime {
  Agreement all, older, newer;
};
AgreementOverTime agreement_over_time(const std::vector<Answered>& answers);

}  // namespace escrow::server::cli
