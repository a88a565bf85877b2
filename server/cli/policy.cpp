#include <CLI/CLI.hpp>

#include "server/cli/command.h"
#include "server/cli/policy_commands.h"

namespace escrow::server::cli {

void add_policy(CommandTree& tree) {
  auto* group =
      tree.root.add_subcommand("policy", "The policy: show it, check a file, explain a verdict, accept a weaker file");
  group->require_subcommand(1);
  add_policy_show(tree, *group);
  add_policy_check(tree, *group);
  add_policy_explain(tree, *group);
  add_policy_accept(tree, *group);
  add_policy_schema(tree, *group);
}

}  // namespace escrow::server::cli
