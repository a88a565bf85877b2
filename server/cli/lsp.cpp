#include <CLI/CLI.hpp>

#include "server/cli/command.h"
#include "server/lsp/run.h"

namespace escrow::server::cli {

void add_lsp(CommandTree& tree) {
  auto* app = tree.root.add_subcommand("lsp", "Language server on standard input and output");
  app->add_flag("--stdio",
                "Speak on standard input and output (there is no other way; accepted for editors that say it)");
  tree.commands.push_back(
      {.name = "lsp", .app = app, .run = [] { return lsp::run(ESCROW_VERSION); }, .takes_words = false});
}

}  // namespace escrow::server::cli
