#pragma once

#include "server/cli/command.h"

namespace escrow::server::cli {

using Register = void (*)(CommandTree& tree);

/// Parses with the commands that `add_commands` describes, and runs the one that was given.
int run_command_line(int argc, char** argv, Register add_commands);

}  // namespace escrow::server::cli
