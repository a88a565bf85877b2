#pragma once

#include <vector>

#include "engine/action_signals.h"
#include "engine/grant.h"

/// Grants against an action that has been judged already. Internal: callers use `covers` and `evaluate`.
namespace escrow::engine {

/// In force here and now: scope, expiry, autonomy (autonomy binds an allow only).
bool is_in_force(const Grant& grant, const GrantContext& context);

/// Which commands of the judged line an allow grant covers. A command at `none` counts as covered.
std::vector<bool> covered_commands(const Grant& grant, const ActionJudgement& judged, const CommandScene& scene);

/// The same question for an action that is not a command, and for a deny grant.
bool covers_judged(const Grant& grant, const Action& action, const ActionJudgement& judged, const CommandScene& scene);

/// `suggest_matches` for an action that has been judged already.
std::vector<std::string> suggest_for(const Action& action, const ActionJudgement& judged, const CommandScene& scene);

/// The `tool` word of a grant for this action.
std::string grant_tool(const Action& action);

}  // namespace escrow::engine
