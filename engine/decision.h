#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/grant.h"
#include "engine/signal.h"

namespace escrow::engine {

/// A ready grant that would let the action through next time; shown as a code action.
struct Remedy {
  std::string title;
  Grant grant;
  bool operator==(const Remedy&) const = default;
};

/// The answer to one Action, with the clause that decided.
struct Decision {
  Verdict verdict = Verdict::deny;
  Risk risk;
  std::string
      clause;  ///< `command.<category>`, a policy rule's id, `grant.<id>`, or a fixed word such as `mode.disabled`
  std::string reason;     ///< one sentence for the person
  std::string for_agent;  ///< what the agent is told: what would be allowed instead
  std::string grant_id;   ///< the grant that decided, if one did
  std::vector<Remedy> remedies;
  bool operator==(const Decision&) const = default;
};

}  // namespace escrow::engine
