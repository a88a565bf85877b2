#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/enum_names.h"

/// A bash command line as every simple command it would run, in every nested context.
///
/// Built on tree-sitter-bash, which recovers from errors; words are then resolved as bash would (quotes, `$'…'`,
/// escapes, brace expansion, line continuation). What cannot be resolved is marked opaque, never guessed.
/// Pure; linear in practice; nesting is bounded.
namespace escrow::engine {

/// Half-open byte range of the command text that was parsed.
struct Span {
  std::size_t begin = 0, end = 0;
  bool operator==(const Span&) const = default;
};

struct Word {
  std::string text;        ///< resolved; what cannot be resolved stands in it as written (`$HOME` for `"${HOME}"`)
  bool opaque = false;     ///< holds `$VAR`, `$(…)`, a glob that decides the command word, …
  bool quoted = false;     ///< any part was quoted or escaped (`r\m`, `"rm"`)
  bool disguised = false;  ///< quoting, escapes or braces that only hide what the word is (`r\m`, `$'\x72m'`, `w'h'o`)
  bool expanded = false;   ///< holds the value of a variable set earlier in the line
  bool glob = false;       ///< holds an unquoted `*`, `?` or `[`
  bool tilde = false;      ///< begins with an unquoted `~`
  Span span;
  bool operator==(const Word&) const = default;
};

enum class RedirectKind { read, write, append, here_doc, here_string, duplicate };
BOOST_DESCRIBE_ENUM(RedirectKind, read, write, append, here_doc, here_string, duplicate)

struct Redirect {
  RedirectKind kind = RedirectKind::read;
  int fd = -1;  ///< -1 where the operator's default holds; -2 for `&>`
  Word target;  ///< file, descriptor, or the body of a here-document
  Span span;
  bool operator==(const Redirect&) const = default;
};

struct Assignment {
  std::string name;
  Word value;
  bool operator==(const Assignment&) const = default;
};

/// How a command came to be part of the line.
enum class CommandContext {
  top,
  pipe,
  subshell,
  substitution,
  process_substitution,
  loop,
  condition,
  function,
  nested_shell,  ///< text that a shell runs: `bash -c '…'`, `eval '…'`, a here-document read by `sh`
  wrapped        ///< run by another program: `timeout 5 ls`, `find -exec rm`, `sudo id`
};
BOOST_DESCRIBE_ENUM(CommandContext, top, pipe, subshell, substitution, process_substitution, loop, condition, function,
                    nested_shell, wrapped)

struct SimpleCommand {
  std::vector<Assignment> assignments;
  std::vector<Word> argv;  ///< brace expansion done; empty for a bare assignment or redirect
  std::vector<Redirect> redirects;
  CommandContext context = CommandContext::top;
  /// Index of the command whose stdout is this one's stdin, or npos.
  std::size_t piped_from = npos;
  /// First of the commands that feed it, where the stage before the pipe holds several (`(a; b) | c`).
  std::size_t piped_from_first = npos;
  /// The command that contains this one (`bash -c '…'`, `$(…)`), or npos.
  std::size_t parent = npos;
  Span span;  ///< in the outermost text; a nested script's commands take the span of the word that holds them
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  bool operator==(const SimpleCommand&) const = default;
};

enum class ParseState { ok, partial, error };
BOOST_DESCRIBE_ENUM(ParseState, ok, partial, error)

struct ShellScript {
  std::vector<SimpleCommand> commands;  ///< in source order; pipelines keep their order
  ParseState state = ParseState::ok;
  std::vector<std::string> functions;  ///< names defined in the text
  bool operator==(const ShellScript&) const = default;
};

ShellScript parse_shell(std::string_view text);

/// `argv` as one bash line that parses back to the same words.
std::string quote_argv(const std::vector<std::string>& argv);

}  // namespace escrow::engine
