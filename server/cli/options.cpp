#include "server/cli/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string_view>

namespace escrow::server::cli {
namespace {

bool set_and_not_empty(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool terminal_takes_colors() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb" &&
         !set_and_not_empty("NO_COLOR");
}

}  // namespace

Style OutputOptions::style() const {
  return Style(!no_color && terminal_takes_colors() ? Color::on : Color::off);
}

CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value,
                        const std::vector<std::string>& choices, const std::string& description) {
  std::string shown;
  for (const auto& choice : choices) shown += (shown.empty() ? "" : "|") + choice;
  return app.add_option(name, value, description)->check(CLI::IsMember(choices))->option_text(shown);
}

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& value, const std::string& placeholder,
                      const std::string& description) {
  return app.add_option(name, value, description)->option_text(placeholder);
}

CLI::Option* add_texts(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                       const std::string& placeholder, const std::string& description) {
  // Without this CLI11 takes the words that follow as further values, and `[a,b]` as a list.
  return app.add_option(name, values, description)->option_text(placeholder)->allow_extra_args(false);
}

void add_output_options(CLI::App& app, OutputOptions& options, const std::vector<std::string>& formats) {
  add_choice(app, "--format", options.format, formats, "how to print the answer (text)");
  app.add_flag("--json", options.json, "short for --format json");
  app.add_flag("--no-color", options.no_color, "no colours (also: NO_COLOR set)");
}

}  // namespace escrow::server::cli
