#include "engine/inner_command.h"

#include <algorithm>
#include <array>

#include "engine/text.h"

namespace escrow::engine {
namespace {

using std::string_view;
using Words = std::vector<Word>;

bool is_assignment(string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == string_view::npos || equals == 0) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// A wrapper's own grammar where options alone do not tell where the command begins.
struct WrapperShape {
  string_view name;
  std::size_t skip;         ///< own positionals before the command
  bool assignments;         ///< NAME=value words before it
  string_view subcommands;  ///< it wraps only behind one of these
};

constexpr std::array<WrapperShape, 27> kShapes = {{
    {"timeout", 1, false, ""},    {"gtimeout", 1, false, ""},
    {"chrt", 1, false, ""},       {"taskset", 1, false, ""},
    {"flock", 1, false, ""},      {"chroot", 1, false, ""},
    {"sudo", 0, true, ""},        {"doas", 0, true, ""},
    {"env", 0, true, ""},         {"cross-env", 0, true, ""},
    {"direnv", 1, false, "exec"}, {"mise", 0, false, "exec x"},
    {"rbenv", 0, false, "exec"},  {"pyenv", 0, false, "exec"},
    {"nodenv", 0, false, "exec"}, {"perf", 0, false, "stat record trace"},
    {"bundle", 0, false, "exec"}, {"bundler", 0, false, "exec"},
    {"poetry", 0, false, "run"},  {"uv", 0, false, "run"},
    {"pipenv", 0, false, "run"},  {"pdm", 0, false, "run"},
    {"hatch", 0, false, "run"},   {"rye", 0, false, "run"},
    {"conda", 0, false, "run"},   {"dotenvx", 0, false, "run"},
    {"gosu", 1, false, ""},
}};

const WrapperShape* find_shape(string_view name) {
  for (const WrapperShape& shape : kShapes) {
    if (shape.name == name) return &shape;
  }
  return nullptr;
}

/// Index of the first word that is not an option (or an option's value).
std::size_t skip_options(const Words& argv, std::size_t at, string_view value_options) {
  while (at < argv.size()) {
    const string_view text = argv[at].text;
    if (text == "--") return at + 1;
    if (text.size() < 2 || text.front() != '-') return at;
    // `-n 5` takes the next word, `-n5` and `--n=5` do not; in a cluster the last letter may.
    bool takes = in_list(value_options, text);
    if (!takes && !text.starts_with("--") && text.size() > 2) {
      for (std::size_t i = 1; i < text.size(); ++i) {
        if (!in_list(value_options, std::string{'-', text[i]})) continue;
        takes = i + 1 == text.size();
        break;
      }
    }
    at += takes ? 2 : 1;
  }
  return at;
}

Span span_of(const SimpleCommand& command) {
  return command.span;
}

InnerCommand argv_from(const SimpleCommand& command, std::size_t from, std::size_t to) {
  InnerCommand inner;
  inner.span = span_of(command);
  for (std::size_t i = from; i < to; ++i) inner.argv.push_back(command.argv[i]);
  if (!inner.argv.empty() && inner.argv.front().span.begin < inner.argv.back().span.end &&
      inner.argv.front().span.begin >= command.span.begin) {
    inner.span = {inner.argv.front().span.begin, inner.argv.back().span.end};
  }
  return inner;
}

InnerCommand script_from(const Word& word) {
  InnerCommand inner;
  inner.script = word.text;
  inner.span = word.span;
  return inner;
}

void add_wrapped(const SimpleCommand& command, const WrapperShape* shape, const CommandProfile& profile,
                 std::vector<InnerCommand>& out) {
  const Words& argv = command.argv;
  std::size_t at = skip_options(argv, 1, profile.value_options);
  if (shape != nullptr && !shape->subcommands.empty()) {
    if (at >= argv.size() || !in_list(shape->subcommands, argv[at].text)) return;
    at = skip_options(argv, at + 1, profile.value_options);
  }
  std::vector<Assignment> assignments;
  if (shape != nullptr) {
    for (; shape->assignments && at < argv.size() && is_assignment(argv[at].text); ++at) {
      const std::size_t equals = argv[at].text.find('=');
      Word value = argv[at];
      value.text = argv[at].text.substr(equals + 1);
      assignments.push_back({argv[at].text.substr(0, equals), std::move(value)});
    }
    at += shape->skip;
  }
  if (at >= argv.size()) return;
  InnerCommand inner = argv_from(command, at, argv.size());
  inner.assignments = std::move(assignments);
  out.push_back(std::move(inner));
}

/// `watch`, `parallel`, `hyperfine`, …: words joined and given to a shell.
void add_joined(const SimpleCommand& command, std::size_t at, std::vector<InnerCommand>& out) {
  if (at >= command.argv.size()) return;
  if (command.argv.size() - at > 1) {
    out.push_back(argv_from(command, at, command.argv.size()));
  } else if (!command.argv[at].opaque || command.argv[at].text.find(' ') != std::string::npos) {
    out.push_back(script_from(command.argv[at]));
  }
}

void add_find_actions(const SimpleCommand& command, std::vector<InnerCommand>& out) {
  const Words& argv = command.argv;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const string_view text = argv[i].text;
    const bool long_form = text == "-exec" || text == "-execdir" || text == "-ok" || text == "-okdir";
    const bool fd_form = text == "-x" || text == "-X" || text == "--exec" || text == "--exec-batch";
    if (!long_form && !fd_form) continue;
    std::size_t end = i + 1;
    while (end < argv.size() && argv[end].text != ";" && argv[end].text != "+") ++end;
    if (end > i + 1) out.push_back(argv_from(command, i + 1, end));
    i = end;
  }
}

void add_option_scripts(const SimpleCommand& command, string_view names, string_view value_options,
                        std::vector<InnerCommand>& out) {
  for (const Option& option : read_arguments(command.argv, 1, value_options).options) {
    if (!in_list(names, option.name) || !option.value) continue;
    InnerCommand inner;
    inner.script = *option.value;
    inner.span = option.word != nullptr ? option.word->span : command.argv[option.index].span;
    out.push_back(std::move(inner));
  }
}

void add_git(const SimpleCommand& command, string_view value_options, std::vector<InnerCommand>& out) {
  const Words& argv = command.argv;
  const std::size_t at = skip_options(argv, 1, value_options);
  if (at >= argv.size()) return;
  const string_view sub = argv[at].text;
  if (sub == "submodule" && at + 2 < argv.size() && argv[at + 1].text == "foreach") {
    add_joined(command, skip_options(argv, at + 2, ""), out);
  } else if (sub == "bisect" && at + 2 < argv.size() && argv[at + 1].text == "run") {
    out.push_back(argv_from(command, at + 2, argv.size()));
  } else if (sub == "rebase") {
    add_option_scripts(command, "-x --exec", "-x --exec", out);
  }
}

void add_by_role(const SimpleCommand& command, const std::string& key, const CommandProfile& profile,
                 std::vector<InnerCommand>& out) {
  const Words& argv = command.argv;
  if (key == "command" && argv.size() > 1 && (argv[1].text == "-v" || argv[1].text == "-V")) return;
  if (key == "watch" || key == "parallel" || key == "entr" || key == "watchexec") {
    return add_joined(command, skip_options(argv, 1, profile.value_options), out);
  }
  if (key == "hyperfine" || key == "concurrently") {
    for (std::size_t i = skip_options(argv, 1, profile.value_options); i < argv.size(); ++i)
      out.push_back(script_from(argv[i]));
    return add_option_scripts(command, "-p --prepare -c --cleanup", profile.value_options, out);
  }
  if (key == "nodemon") return add_option_scripts(command, "-x --exec", profile.value_options, out);
  if (key == "script" || key == "su" || key == "runuser") {
    add_option_scripts(command, "-c --command --session-command", profile.value_options, out);
    return;
  }
  if (key == "flock") {
    add_option_scripts(command, "-c --command", profile.value_options, out);
    if (!out.empty()) return;
  }
  if (key == "gdb" || key == "lldb" || key == "cgdb") {
    for (std::size_t i = 1; i + 1 < argv.size(); ++i) {
      if (argv[i].text == "--args" || argv[i].text == "--")
        return out.push_back(argv_from(command, i + 1, argv.size()));
    }
    return;
  }
  if (key == "tmux" || key == "screen") {
    const std::size_t at = skip_options(argv, 1, profile.value_options);
    if (key == "screen") return add_joined(command, at, out);
    if (at < argv.size() && (argv[at].text.starts_with("new") || argv[at].text == "split-window" ||
                             argv[at].text == "run-shell" || argv[at].text == "neww")) {
      add_joined(command, skip_options(argv, at + 1, profile.value_options), out);
    }
    return;
  }
  if (key == "env" && argv.size() > 1) {
    add_option_scripts(command, "-S --split-string", profile.value_options, out);
    if (!out.empty()) return;
  }
  if (profile.role == Role::wrapper || profile.role == Role::privileged || key == "env" || find_shape(key) != nullptr) {
    add_wrapped(command, find_shape(key), profile, out);
  }
}

void add_evaluated(const SimpleCommand& command, const std::string& key, std::vector<InnerCommand>& out) {
  const Words& argv = command.argv;
  if (key == "trap" && argv.size() > 2 && argv[1].text != "-" && !argv[1].text.starts_with('-')) {
    InnerCommand inner = script_from(argv[1]);
    inner.same_shell = true;
    return out.push_back(std::move(inner));
  }
  if (key != "eval" || argv.size() < 2) return;
  InnerCommand inner;
  inner.script = "";
  inner.same_shell = true;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    // A substitution's text is not what eval runs; the judge sees that the word is opaque.
    if (argv[i].opaque && argv[i].text.find_first_of("(`") != std::string::npos) return;
    if (i > 1) *inner.script += ' ';
    *inner.script += argv[i].text;
  }
  inner.span = command.span;
  out.push_back(std::move(inner));
}

/// A here-document or here-string that a shell reads as its program.
void add_shell_input(const SimpleCommand& command, std::vector<InnerCommand>& out) {
  if (!reads_program_from_stdin(command.argv)) return;
  for (const Redirect& redirect : command.redirects) {
    const bool here = redirect.kind == RedirectKind::here_doc || redirect.kind == RedirectKind::here_string;
    if (!here || redirect.fd > 0) continue;
    InnerCommand inner = script_from(redirect.target);
    if (inner.span.begin == inner.span.end) inner.span = command.span;
    out.push_back(std::move(inner));
  }
}

}  // namespace

const Word* shell_text(const Words& argv) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const string_view text = argv[i].text;
    if (text == "--command" && i + 1 < argv.size()) return &argv[i + 1];
    if (text == "-o" || text == "-O" || text == "+o" || text == "+O" || text == "--rcfile" || text == "--init-file") {
      ++i;
      continue;
    }
    if (text.starts_with("--")) continue;
    // `-euo pipefail`: the last letter takes the next word.
    if (text.size() > 2 && text.front() == '-' && (text.back() == 'o' || text.back() == 'O') &&
        text.find('c') == string_view::npos) {
      ++i;
      continue;
    }
    if (text.size() < 2 || (text.front() != '-' && text.front() != '+')) return nullptr;
    if (text.front() == '-' && text.find('c') != string_view::npos) {
      for (std::size_t j = i + 1; j < argv.size(); ++j) {
        if (argv[j].text.size() < 2 || argv[j].text.front() != '-') return &argv[j];
      }
      return nullptr;
    }
  }
  return nullptr;
}

bool reads_program_from_stdin(const Words& argv) {
  if (argv.empty()) return false;
  const std::string key = program_key(argv.front().text);
  if (key == "source" || key == ".") {
    return argv.size() > 1 &&
           (argv[1].text == "/dev/stdin" || argv[1].text == "/proc/self/fd/0" || argv[1].text == "/dev/fd/0");
  }
  const CommandProfile* profile = find_profile(key);
  if (profile == nullptr || profile->role != Role::shell) return false;
  if (shell_text(argv) != nullptr) return false;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const string_view text = argv[i].text;
    if (text == "-s" || text == "-" || text == "/dev/stdin" || text == "/dev/fd/0" || text == "/proc/self/fd/0")
      return true;
    if (text == "-c") return false;
    if (text == "-o" || text == "-O" || text == "--rcfile" || text == "--init-file") {
      ++i;
      continue;
    }
    if (text == "--") continue;
    if (!text.empty() && text.front() != '-' && text.front() != '+') return false;
    if (text.starts_with('-') && !text.starts_with("--") && text.find('s') != string_view::npos) return true;
    if (text == "--version" || text == "--help") return false;
  }
  return true;
}

namespace {

/// The body that `cat <<EOF` copies, if nothing in it expands.
std::optional<std::string> here_text_of(const SimpleCommand& command) {
  for (const Redirect& redirect : command.redirects) {
    const bool here = redirect.kind == RedirectKind::here_doc || redirect.kind == RedirectKind::here_string;
    if (here && !redirect.target.opaque) return redirect.target.text;
  }
  return std::nullopt;
}

}  // namespace

namespace {

/// `printf FORMAT ARGUMENT…` of texts, as often as there are arguments; nothing for conversions of numbers and widths.
std::optional<std::string> print_formatted(const Words& argv) {
  constexpr std::size_t kMostRounds = 256;
  const string_view format = argv[1].text;
  std::string out;
  std::size_t next = 2;
  for (std::size_t round = 0; round == 0 || next < argv.size(); ++round) {
    const std::size_t before = next;
    for (std::size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%') {
        out.push_back(format[i]);
        continue;
      }
      const char conversion = ++i < format.size() ? format[i] : ' ';
      if (conversion == '%') {
        out.push_back('%');
      } else if (conversion == 's') {
        if (next < argv.size()) out += argv[next++].text;
      } else {
        return std::nullopt;
      }
    }
    if (next == before) break;
    if (round > kMostRounds) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<std::string> substituted_text(const Word& word) {
  constexpr std::size_t kLongest = 1024;  // bytes; each level of nesting reads the text anew
  const string_view text = word.text;
  if (!text.starts_with("<(") || !text.ends_with(')') || text.size() > kLongest) return std::nullopt;
  const ShellScript inner = parse_shell(text.substr(2, text.size() - 3));
  if (inner.commands.size() != 1 || inner.state != ParseState::ok) return std::nullopt;
  return printed_text(inner.commands.front());
}

std::optional<std::string> printed_text(const SimpleCommand& command) {
  if (command.argv.empty()) return std::nullopt;
  const string_view name = base_name(command.argv.front().text);
  if (name == "cat" && command.argv.size() == 1) return here_text_of(command);
  if (name == "cat" && command.argv.size() == 2) return substituted_text(command.argv[1]);
  if (command.argv.size() < 2) return std::nullopt;
  if (name != "echo" && name != "printf") return std::nullopt;
  std::string out;
  std::size_t first = 1;
  bool escapes = name == "printf";
  while (name == "echo" && first < command.argv.size() && command.argv[first].text.size() > 1 &&
         command.argv[first].text.find_first_not_of("neE", 1) == std::string::npos &&
         command.argv[first].text.front() == '-') {
    escapes = escapes || command.argv[first].text.find('e') != std::string::npos;
    ++first;
  }
  for (std::size_t i = first; i < command.argv.size(); ++i) {
    if (command.argv[i].opaque) return std::nullopt;
    if (i > first) out.push_back(' ');
    out += command.argv[i].text;
  }
  if (name == "printf" && contains(command.argv[1].text, "%")) {
    const std::optional<std::string> formatted = print_formatted(command.argv);
    if (!formatted) return std::nullopt;
    out = *formatted;
  }
  if (!escapes) return out;
  std::string plain;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] != '\\' || i + 1 == out.size()) {
      plain.push_back(out[i]);
      continue;
    }
    const char next = out[++i];
    if (next == 'n')
      plain.push_back('\n');
    else if (next == 't')
      plain.push_back('\t');
    else if (next == '\\')
      plain.push_back('\\');
    else
      return std::nullopt;  // an encoded character: the judge calls that decoding
  }
  return plain;
}

namespace {

/// `bash <(echo …)`, `source <(printf …)`.
void add_substituted(const SimpleCommand& command, std::vector<InnerCommand>& out) {
  for (std::size_t i = 1; i < command.argv.size(); ++i) {
    const std::optional<std::string> text = substituted_text(command.argv[i]);
    if (!text) continue;
    Word script = command.argv[i];
    script.text = *text;
    return out.push_back(script_from(script));
  }
}

}  // namespace

std::vector<InnerCommand> inner_commands(const SimpleCommand& command) {
  std::vector<InnerCommand> out;
  if (command.argv.empty()) return out;
  const std::string key = program_key(command.argv.front().text);
  const CommandProfile* profile = find_profile(key);
  if (profile == nullptr) return out;
  if (profile->role == Role::shell) {
    const Word* text = shell_text(command.argv);
    // Text that is nothing but an expansion cannot be read here.
    if (text != nullptr && !(text->opaque && text->text.starts_with('$'))) out.push_back(script_from(*text));
    add_shell_input(command, out);
    add_substituted(command, out);
  } else if (profile->role == Role::evaluator) {
    add_evaluated(command, key, out);
    add_shell_input(command, out);
    add_substituted(command, out);
  } else if (profile->role == Role::finder) {
    add_find_actions(command, out);
  } else if (profile->role == Role::vcs) {
    add_git(command, profile->value_options, out);
  } else if (key == "busybox" || key == "toybox") {
    if (command.argv.size() > 1 && !command.argv[1].text.starts_with('-'))
      out.push_back(argv_from(command, 1, command.argv.size()));
  } else {
    add_by_role(command, key, *profile, out);
  }
  return out;
}

}  // namespace escrow::engine
