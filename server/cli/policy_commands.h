#pragma once

#include "server/cli/command.h"

namespace escrow::server::cli {

void add_policy_show(CommandTree& tree, CLI::App& group);
void add_policy_check(CommandTree& tree, CLI::App& group);
void add_policy_explain(CommandTree& tree, CLI::App& group);
void add_policy_accept(CommandTree& tree, CLI::App& group);
void add_policy_schema(CommandTree& tree, CLI::App& group);

}  // namespace escrow::server::cli
