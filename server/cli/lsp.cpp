#include <CLI/CLI.hpp>
#include <memory>

#include "server/cli/command.h"
#include "server/lsp/run.h"

namespace escrow::server::cli {

void add_lsp(CommandTree& tree) {
  auto* app = tree.root.add_subcommand("lsp", "The language server, on stdin and stdout");
  auto stdio = std::make_shared<bool>(false);
  app->add_flag("--stdio", *stdio, "the default, and the only way; some editors pass it");
  tree.commands.push_back({"lsp", app, [stdio] { return lsp::run(ESCROW_VERSION); }});
}

}  // namespace escrow::server::cli
