#pragma once

#include "engine/action.h"
#include "engine/command_signals.h"
#include "engine/shell.h"

/// An Action as the commands it is and how bad it would be.
namespace escrow::engine {

struct ActionJudgement {
  ShellScript script;    ///< empty unless the action is a command
  ScriptJudgement risk;  ///< for any action; `commands` parallel to `script.commands`
};

ActionJudgement judge_action(const Action& action, const CommandScene& scene);

/// The commands of a shell or exec action; an empty script for any other.
ShellScript script_of(const Action& action);

}  // namespace escrow::engine
