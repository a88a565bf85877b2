#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/seatbelt_profile.h"

/// Reads a profile of sandbox-exec and says what it would decide: as much of the language as our profiles use, so that
/// they can be judged where there is no macOS. Anything it does not know fails the test (`std::runtime_error`).
///
/// Rules are tried in order and the last one that matches decides. Several filters of a rule are alternatives; a rule
/// without any matches always. An operation `a*` in a rule stands for all that begin with `a`.
namespace escrow::sandbox::testing {

struct SeatbeltRequest {
  std::string operation;
  std::string subject = {};  ///< a path, a name, or host:port, as the operation takes it
  bool own = false;          ///< the target is in the same sandbox; the terminal is its own
  bool device = false;       ///< the path is a character device
};

class SeatbeltEvaluator {
 public:
  explicit SeatbeltEvaluator(const SeatbeltProfile& profile);
  ~SeatbeltEvaluator();
  SeatbeltEvaluator(const SeatbeltEvaluator&) = delete;
  SeatbeltEvaluator& operator=(const SeatbeltEvaluator&) = delete;

  bool allows(const SeatbeltRequest& request) const;

 private:
  struct Node;
  class Parser;
  static bool matches(const Node& filter, const SeatbeltRequest& request);

  std::vector<Node> rules_;
};

}  // namespace escrow::sandbox::testing
