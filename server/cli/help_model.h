#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

/// The command tree as plain values, read back from its CLI11 definitions: what the man page and the completions are
/// printed from, so that neither can say what the parser does not.
namespace escrow::server::cli {

struct OptionModel {
  std::vector<std::string> names;  ///< `-h`, `--help`; the bare name of a positional
  std::string placeholder;         ///< FILE, DIR, DURATION, …; empty for a flag
  std::vector<std::string> choices;
  std::string description;
  bool positional = false;
  bool repeatable = false;
  bool is_flag() const { return !positional && placeholder.empty(); }
};

struct CommandModel {
  std::vector<std::string> path;  ///< {"policy", "show"}; empty for the root
  std::string description;
  std::vector<OptionModel> options;
  std::vector<CommandModel> commands;
};

/// Hidden subcommands (those in no help group) are left out.
CommandModel model_of(const CLI::App& app, const std::vector<std::string>& path = {});

/// "policy show"; empty for the root.
std::string name_of(const CommandModel& command);

/// `visit` for the command and everything below it, parents first.
template <class Visit>
void for_each_command(const CommandModel& command, Visit visit) {
  visit(command);
  for (const auto& child : command.commands) for_each_command(child, visit);
}

}  // namespace escrow::server::cli
