#include <CLI/CLI.hpp>

#include "server/cli/command.h"
#include "server/cli/policy_commands.h"

namespace escrow::server::cli {

void add_policy(CommandTree& tree) {
  auto* group = tree.root.add_subcommand("policy", "The effective policy: show it, check a file, explain a verdict");
  group->require_subcommand(1);
  add_policy_show(tree, *group);
  add_policy_check(tree, *group);
  add_policy_explain(tree, *group);
}

}  // namespace escrow::server::cli
