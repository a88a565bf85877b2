#include "server/cli/cli.h"
#include "server/cli/command_line.h"

namespace escrow::server::cli {
namespace {

void add_all(CommandTree& tree) {
  add_lsp(tree);
  add_exec(tree);
  add_score(tree);
  add_classify(tree);
  add_evaluate(tree);
  add_rules(tree);
  add_review(tree);
  add_grants(tree);
  add_policy(tree);
  add_audit(tree);
  add_doctor(tree);
  add_completion(tree);
  add_manual(tree);
}

}  // namespace

int run(int argc, char** argv) {
  return run_command_line(argc, argv, add_all);
}

}  // namespace escrow::server::cli
