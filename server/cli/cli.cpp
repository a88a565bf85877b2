#include "server/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "server/cli/command.h"
#include "server/cli/output.h"

namespace escrow::server::cli {
namespace {

constexpr const char* kAbout =
    "Escrow holds what a coding agent wants to do until it is judged, and lets it happen where it can do no harm.";

std::vector<std::string> words_before(const std::vector<std::string>& args, std::size_t end) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < end; ++i) {
    if (!args[i].starts_with('-')) words.push_back(args[i]);
  }
  return words;
}

bool starts_with_name(const std::vector<std::string>& words, const std::string& name) {
  std::string typed;
  for (const auto& word : words) {
    typed += (typed.empty() ? "" : " ") + word;
    if (typed == name) return true;
  }
  return false;
}

/// Cuts the user's own command off behind `--`, for the subcommands that take one.
void take_trailing_words(CommandTree& tree, std::vector<std::string>& args) {
  const auto dashes = std::find(args.begin(), args.end(), "--");
  if (dashes == args.end()) return;
  const auto words = words_before(args, static_cast<std::size_t>(dashes - args.begin()));
  const bool taken = std::any_of(tree.commands.begin(), tree.commands.end(), [&](const Command& command) {
    return command.takes_words && starts_with_name(words, command.name);
  });
  if (!taken) return;
  tree.trailing = {true, {dashes + 1, args.end()}};
  args.erase(dashes, args.end());
}

/// The deepest subcommand that the words reached, for "see … --help".
const CLI::App& reached(const CLI::App& app) {
  for (const auto* sub : app.get_subcommands()) return reached(*sub);
  return app;
}

std::string full_name(const CLI::App& app) {
  const auto* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

/// Help and version are answers; everything else is one line that says what to do.
int answer_parse_error(const CLI::App& root, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    root.exit(error);
    return close_output(kOk);
  }
  std::string message = error.what();
  if (const auto end = message.find('\n'); end != std::string::npos) message.resize(end);
  return refuse_usage(message + " (see " + full_name(reached(root)) + " --help)");
}

void describe_root(CLI::App& root) {
  root.name("escrow");
  root.require_subcommand(1);
  root.set_version_flag("--version", std::string("escrow ") + ESCROW_VERSION, "print the version");
  root.set_help_flag("-h,--help", "print this help");
  root.get_formatter()->column_width(34);
  root.get_formatter()->label("OPTIONS", "options");
  root.get_formatter()->label("SUBCOMMAND", "COMMAND");
  root.footer("escrow COMMAND --help tells more. Documentation: man escrow.");
}

/// CLI11 heads the list with "Subcommands"; a command in no group is hidden and stays so.
void name_groups(CLI::App& app) {
  for (auto* sub : app.get_subcommands(nullptr)) {
    if (!sub->get_group().empty()) sub->group("Commands");
    name_groups(*sub);
  }
}

int dispatch(CommandTree& tree) {
  for (const auto& command : tree.commands) {
    if (command.app->parsed()) return close_output(command.run());
  }
  return refuse_usage("no command was given (see escrow --help)");
}

int parse_and_run(std::vector<std::string> args, Register add_commands) {
  CLI::App root{kAbout};
  describe_root(root);
  CommandTree tree{root, {}, {}};
  add_commands(tree);
  name_groups(root);
  take_trailing_words(tree, args);
  std::reverse(args.begin(), args.end());  // CLI11 takes a vector from its back
  try {
    root.parse(std::move(args));
  } catch (const CLI::ParseError& error) {
    return answer_parse_error(root, error);
  }
  return dispatch(tree);
}

}  // namespace

int run_command_line(int argc, char** argv, Register add_commands) {
  try {
    return parse_and_run({argv + std::min(argc, 1), argv + argc}, add_commands);
  } catch (const std::exception& error) {
    return fail(std::string("internal fault: ") + error.what());
  }
}

}  // namespace escrow::server::cli
