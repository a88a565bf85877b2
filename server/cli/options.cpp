#include "server/cli/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
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
  const CLI::Validator known(
      [choices](std::string& given) {
        if (std::find(choices.begin(), choices.end(), given) != choices.end()) return std::string();
        std::string all;
        for (const auto& choice : choices) all += (all.empty() ? "" : ", ") + choice;
        return "`" + given + "` is not one of " + all;
      },
      "");
  return app.add_option(name, value, description)->check(known)->option_text(shown);
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::size_t& value, std::size_t most,
                       const std::string& description) {
  const CLI::Validator whole(
      [most](std::string& given) {
        std::size_t number = 0;
        const auto* end = given.data() + given.size();
        const auto [rest, error] = std::from_chars(given.data(), end, number);
        if (error == std::errc{} && rest == end && number >= 1 && number <= most) return std::string();
        return "`" + given + "` is not a whole number from 1 to " + std::to_string(most);
      },
      "");
  return app.add_option(name, value, description)->check(whole)->option_text("N");
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
