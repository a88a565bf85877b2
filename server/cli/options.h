#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/cli/style.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// Options that several subcommands share, and the one way to declare a closed set of values.
namespace escrow::server::cli {

/// How the answer is printed.
struct OutputOptions {
  std::string format = "text";
  bool json = false;
  bool no_color = false;

  bool as_json() const { return json || format == "json"; }
  /// Colours, if stdout is a terminal and neither NO_COLOR nor --no-color asks otherwise.
  Style style() const;
};

/// `--format` (one of `formats`), `--json`, `--no-color`.
void add_output_options(CLI::App& app, OutputOptions& options,
                        const std::vector<std::string>& formats = {"text", "json"});

/// An option with a closed set of values: checked, shown in the help, completed by the shells.
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value,
                        const std::vector<std::string>& choices, const std::string& description);

/// An option that takes a whole number from 1 to `most`.
CLI::Option* add_count(CLI::App& app, const std::string& name, std::size_t& value, std::size_t most,
                       const std::string& description);

/// An option with free text; `placeholder` (FILE, DIR, DURATION, …) is shown in the help and tells completion.
CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& value, const std::string& placeholder,
                      const std::string& description);

/// The same, but it may be given again and again.
CLI::Option* add_texts(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                       const std::string& placeholder, const std::string& description);

}  // namespace escrow::server::cli
