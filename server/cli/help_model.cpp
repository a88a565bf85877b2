#include "server/cli/help_model.h"

#include <CLI/CLI.hpp>

namespace escrow::server::cli {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  if (!option.nonpositional()) return {option.get_name(true)};
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

OptionModel option_model(const CLI::Option& option) {
  OptionModel out;
  out.names = names_of(option);
  out.description = option.get_description();
  out.positional = option.get_positional();
  out.repeatable = option.get_expected_max() > 1;
  const auto& text = option.get_option_text();
  if (text.find('|') != std::string::npos) out.choices = split(text, '|');
  const bool takes_value = option.get_type_size_max() > 0 && option.get_expected_max() > 0;
  if (takes_value) out.placeholder = text.empty() ? "VALUE" : text;
  return out;
}

}  // namespace

CommandModel model_of(const CLI::App& app, const std::vector<std::string>& path) {
  CommandModel out{path, app.get_description(), {}, {}};
  for (const auto* option : app.get_options(nullptr)) out.options.push_back(option_model(*option));
  for (const auto* sub : app.get_subcommands(nullptr)) {
    if (sub->get_group().empty()) continue;
    auto below = path;
    below.push_back(sub->get_name());
    out.commands.push_back(model_of(*sub, below));
  }
  return out;
}

std::string name_of(const CommandModel& command) {
  std::string name;
  for (const auto& word : command.path) name += (name.empty() ? "" : " ") + word;
  return name;
}

}  // namespace escrow::server::cli
