#include <string_view>

#include "server/cli/cli.h"
#include "server/cli/command_line.h"

namespace escrow::server::cli {
namespace {

void add_quick(CommandTree& tree) {
  add_score(tree);
  add_classify(tree);
}

}  // namespace

bool is_quick(int argc, char** argv) {
  if (argc < 2) return false;
  const std::string_view command = argv[1];
  return command == "score" || command == "classify";
}

int run_quick(int argc, char** argv) {
  return run_command_line(argc, argv, add_quick);
}

}  // namespace escrow::server::cli
