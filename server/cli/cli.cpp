#include "server/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "engine/redact.h"
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

std::string names_of_commands(const CLI::App& app) {
  std::string names;
  for (const auto* sub : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    names += (names.empty() ? "" : ", ") + sub->get_name();
  return names;
}

/// `policy show` for the command as typed, `escrow` where none was reached.
std::string typed_name(const CLI::App& app) {
  const auto* parent = app.get_parent();
  if (parent == nullptr) return app.get_name();
  return parent->get_parent() == nullptr ? app.get_name() : typed_name(*parent) + " " + app.get_name();
}

std::string shown_value(const std::string& text) {
  return "`" + engine::one_line(text, 80) + "`";
}

/// How the help spells what an option takes: PATTERN, low|medium|high.
std::string placeholder_of(const CLI::App& app, const std::string& name) {
  const auto* option = app.get_option_no_throw(name);
  const std::string text = option == nullptr ? std::string() : option->get_option_text();
  return text.empty() ? "a value" : text;
}

/// What stands at the end of the message of CLI11 and was typed by the person.
std::string after_colon(const std::string& message) {
  const auto colon = message.find(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

/// By type: the name that CLI11 gives an error is at times that of the command.
template <class Kind>
bool is_a(const CLI::ParseError& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

/// CLI11 knows what is wrong; what it says is put into our words: what, where, what to do.
std::string complaint_about(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& args) {
  const std::string message = error.what();
  const bool has_commands = !app.get_subcommands([](const CLI::App*) { return true; }).empty();
  const auto stray = std::find_if(args.begin(), args.end(), [](const auto& arg) { return !arg.starts_with('-'); });
  if (is_a<CLI::RequiredError>(error) && has_commands) {
    const bool typed = app.get_parent() == nullptr && stray != args.end();
    return (typed ? "no command " + shown_value(*stray) : "needs a command") + "; one of " + names_of_commands(app);
  }
  const std::string name = message.substr(0, message.find_first_of(": "));
  if (is_a<CLI::RequiredError>(error)) return "needs " + placeholder_of(app, name);
  if (is_a<CLI::ArgumentMismatch>(error)) return name + " needs a value: " + placeholder_of(app, name);
  if (is_a<CLI::ExtrasError>(error)) {
    const std::string extra = after_colon(message).substr(0, after_colon(message).find(' '));
    if (extra.starts_with('-')) return "has no option " + shown_value(extra);
    return (has_commands ? "has no command " : "takes no further word, found ") + shown_value(extra);
  }
  if (is_a<CLI::ConversionError>(error)) return "cannot be read as " + shown_value(after_colon(message));
  return message;
}

/// Help and version are answers; everything else is one line that says what to do.
int answer_parse_error(const CLI::App& root, const CLI::ParseError& error, const std::vector<std::string>& args) {
  if (error.get_exit_code() == 0) {
    root.exit(error);
    return close_output(kOk);
  }
  const CLI::App& app = reached(root);
  return refuse_usage(typed_name(app) + ": " + engine::one_line(complaint_about(app, error, args), 400) + " (see " +
                      full_name(app) + " --help)");
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
  try {
    root.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // CLI11 takes a vector from its back
  } catch (const CLI::ParseError& error) {
    return answer_parse_error(root, error, args);
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
