#include <CLI/CLI.hpp>
#include <memory>

#include "server/cli/command.h"
#include "server/cli/completion_scripts.h"
#include "server/cli/help_model.h"
#include "server/cli/output.h"

namespace escrow::server::cli {

void add_completion(CommandTree& tree) {
  auto shell = std::make_shared<std::string>();
  auto* app = tree.root.add_subcommand("completion", "Print the completion script of a shell")->group("");
  app->add_option("shell", *shell, "the shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  tree.commands.push_back({"completion", app, [shell, &tree] {
                             const auto model = model_of(tree.root);
                             put(*shell == "bash"  ? bash_completion(model)
                                 : *shell == "zsh" ? zsh_completion(model)
                                                   : fish_completion(model));
                             return kOk;
                           }});
}

}  // namespace escrow::server::cli
