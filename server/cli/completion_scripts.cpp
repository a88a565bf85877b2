#include "server/cli/completion_scripts.h"

#include <string_view>

namespace escrow::server::cli {
namespace {

enum class ValueKind { files, directories, words, unknown };

ValueKind value_kind(const OptionModel& option) {
  if (!option.choices.empty()) return ValueKind::words;
  if (option.placeholder == "FILE") return ValueKind::files;
  if (option.placeholder == "DIR") return ValueKind::directories;
  return ValueKind::unknown;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string in_single_quotes(const std::string& text) {
  return "'" + replaced(text, "'", R"('\'')") + "'";
}

// ---- bash: one function that finds the subcommand, then answers from two case tables

std::string bash_values(const OptionModel& option) {
  switch (value_kind(option)) {
    case ValueKind::files:
      return "COMPREPLY=($(compgen -f -- \"$cur\"))";
    case ValueKind::directories:
      return "COMPREPLY=($(compgen -d -- \"$cur\"))";
    case ValueKind::words:
      return "COMPREPLY=($(compgen -W '" + joined(option.choices, " ") + "' -- \"$cur\"))";
    case ValueKind::unknown:
      return "COMPREPLY=()";
  }
  return {};
}

std::string bash_value_cases(const CommandModel& command) {
  std::string out;
  for (const auto& option : command.options) {
    if (option.positional || option.is_flag()) continue;
    std::vector<std::string> patterns;
    for (const auto& name : option.names) patterns.push_back("'" + name_of(command) + " " + name + "'");
    out += "    " + joined(patterns, " | ") + ") " + bash_values(option) + "; return ;;\n";
  }
  return out;
}

std::string bash_word_case(const CommandModel& command) {
  std::vector<std::string> words;
  bool files = false;
  for (const auto& child : command.commands) words.push_back(child.path.back());
  for (const auto& option : command.options) {
    if (!option.positional) words.insert(words.end(), option.names.begin(), option.names.end());
    files = files || (option.positional && value_kind(option) == ValueKind::files);
  }
  return "    '" + name_of(command) + "') words='" + joined(words, " ") + "'" + (files ? " files=yes" : "") + " ;;\n";
}

std::string bash_paths(const CommandModel& root) {
  std::vector<std::string> paths;
  for_each_command(root, [&](const CommandModel& command) {
    if (!command.path.empty()) paths.push_back("'" + name_of(command) + "'");
  });
  return joined(paths, " | ");
}

// ---- zsh: one function a command, so that nesting is a call

std::string zsh_function(const CommandModel& command) {
  return "_escrow" + (command.path.empty() ? "" : "_" + joined(command.path, "_"));
}

/// Inside an _arguments specification `:` and brackets are marks.
std::string zsh_escaped(const std::string& text) {
  return replaced(replaced(replaced(text, ":", "\\:"), "[", "\\["), "]", "\\]");
}

std::string zsh_action(const OptionModel& option) {
  switch (value_kind(option)) {
    case ValueKind::files:
      return "_files";
    case ValueKind::directories:
      return "_files -/";
    case ValueKind::words:
      return "(" + joined(option.choices, " ") + ")";
    case ValueKind::unknown:
      return " ";
  }
  return {};
}

std::string zsh_specification(const OptionModel& option, const std::string& name) {
  const auto value = ":" + zsh_escaped(option.placeholder) + ":" + zsh_action(option);
  if (option.positional) return in_single_quotes((option.repeatable ? "*" : "") + value);
  const auto flag = (option.repeatable ? "*" : "") + name + "[" + zsh_escaped(option.description) + "]";
  return in_single_quotes(flag + (option.is_flag() ? "" : value));
}

std::string zsh_specifications(const CommandModel& command) {
  std::string out;
  for (const auto& option : command.options) {
    for (const auto& name : option.names) out += " \\\n    " + zsh_specification(option, name);
  }
  return out;
}

std::string zsh_leaf(const CommandModel& command) {
  return zsh_function(command) + "() {\n  _arguments -s -S" + zsh_specifications(command) + "\n}\n";
}

std::string zsh_group(const CommandModel& command) {
  std::string list;
  std::string calls;
  for (const auto& child : command.commands) {
    list += "\n        " + in_single_quotes(zsh_escaped(child.path.back()) + ":" + child.description);
    calls += "        " + child.path.back() + ") " + zsh_function(child) + " ;;\n";
  }
  return zsh_function(command) + "() {\n  local line state\n  _arguments -C -s" + zsh_specifications(command) +
         " \\\n    '1: :->command' \\\n    '*:: :->rest'\n  case $state in\n    command)\n      local -a list=(" +
         list + "\n      )\n      _describe command list ;;\n    rest)\n      case $line[1] in\n" + calls +
         "      esac ;;\n  esac\n}\n";
}

// ---- fish: one line an option

std::string fish_condition(const CommandModel& command) {
  if (command.path.empty()) return "__fish_use_subcommand";
  std::string condition;
  for (const auto& word : command.path) {
    condition += (condition.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
  }
  std::vector<std::string> below;
  for (const auto& child : command.commands) below.push_back(child.path.back());
  return below.empty() ? condition : condition + "; and not __fish_seen_subcommand_from " + joined(below, " ");
}

std::string fish_names(const OptionModel& option) {
  std::string out;
  for (const auto& name : option.names) {
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return out;
}

std::string fish_values(const OptionModel& option) {
  if (option.is_flag()) return {};
  switch (value_kind(option)) {
    case ValueKind::files:
      return " -r -F";
    case ValueKind::directories:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::words:
      return " -x -a " + in_single_quotes(joined(option.choices, " "));
    case ValueKind::unknown:
      return " -x";
  }
  return {};
}

std::string fish_command(const CommandModel& command) {
  const auto head = "complete -c escrow -n " + in_single_quotes(fish_condition(command));
  std::string out;
  for (const auto& child : command.commands) {
    out += head + " -f -a " + child.path.back() + " -d " + in_single_quotes(child.description) + "\n";
  }
  for (const auto& option : command.options) {
    if (option.positional) continue;
    out += head + fish_names(option) + fish_values(option) + " -d " + in_single_quotes(option.description) + "\n";
  }
  return out;
}

}  // namespace

std::string bash_completion(const CommandModel& root) {
  std::string values;
  std::string words;
  for_each_command(root, [&](const CommandModel& command) {
    values += bash_value_cases(command);
    words += bash_word_case(command);
  });
  return R"(# bash completion for escrow, printed by `escrow completion bash`
_escrow() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} path='' words='' files='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -- ]] && { COMPREPLY=($(compgen -c -f -- "$cur")); return; }
    case "${path:+$path }${COMP_WORDS[i]}" in
      )" +
         bash_paths(root) + R"() path="${path:+$path }${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $prev" in
)" + values +
         R"(  esac
  case "$path" in
)" + words +
         R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ -n $files ]] && COMPREPLY+=($(compgen -f -- "$cur"))
}
complete -F _escrow escrow
)";
}

std::string zsh_completion(const CommandModel& root) {
  std::string out = "#compdef escrow\n# zsh completion for escrow, printed by `escrow completion zsh`\n\n";
  for_each_command(root, [&](const CommandModel& command) {
    out += (command.commands.empty() ? zsh_leaf(command) : zsh_group(command)) + "\n";
  });
  return out + "_escrow \"$@\"\n";
}

std::string fish_completion(const CommandModel& root) {
  std::string out = "# fish completion for escrow, printed by `escrow completion fish`\n";
  for_each_command(root, [&](const CommandModel& command) { out += fish_command(command); });
  return out;
}

}  // namespace escrow::server::cli
