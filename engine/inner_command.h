#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/command_profile.h"
#include "engine/shell.h"

/// Commands that a command runs: the program behind `timeout`, the script of `bash -c`, the action of `find -exec`.
namespace escrow::engine {

struct InnerCommand {
  std::vector<Word> argv;  ///< empty if it is a script
  std::vector<Assignment> assignments;
  std::optional<std::string> script;
  bool same_shell = false;  ///< `eval`: sees this shell's variables
  Span span;
};

/// Empty for a program that runs nothing else, or whose inner text is not known.
std::vector<InnerCommand> inner_commands(const SimpleCommand& command);

/// True for `sh`, `bash -s`, `sh -c` behind xargs, `source /dev/stdin`, …: what arrives on its input is run by a shell.
bool reads_program_from_stdin(const std::vector<Word>& argv);

/// What `echo` or `printf` would print, if that is certain.
std::optional<std::string> printed_text(const SimpleCommand& command);

/// What `<(echo …)` hands on, if that is certain.
std::optional<std::string> substituted_text(const Word& word);

/// The text of `sh -c TEXT` in this argv; nullptr if there is none.
const Word* shell_text(const std::vector<Word>& argv);

}  // namespace escrow::engine
