#include "engine/shell.h"

#include <algorithm>
#include <utility>

#include "engine/inner_command.h"
#include "engine/shell_builder.h"

namespace escrow::engine {
namespace {

constexpr std::size_t kMaxText = 256 * 1024;
constexpr std::size_t kMaxCommands = 20'000;
constexpr int kMaxScriptDepth = 12;
constexpr std::size_t kMaxListed = 64;
constexpr std::size_t kMaxWordsOfScript = 60'000;
constexpr std::size_t kMaxValue = 256;
// Called functions of the line are read anew at each call.
constexpr int kMaxCalls = 64;
constexpr std::size_t kMaxCalledText = 64 * 1024;
constexpr std::size_t kMaxLoopWords = 16;

/// Text too long or too deeply nested to read: one command that nobody can judge.
void add_unread(const ShellText& text, const ShellFrame& frame, ShellScript& out) {
  SimpleCommand command;
  Word word;
  word.text = text.text.substr(0, 200);
  word.opaque = true;
  word.span = text.span(0, text.text.size());
  command.argv.push_back(std::move(word));
  command.span = text.span(0, text.text.size());
  command.context = frame.context;
  command.parent = frame.parent;
  out.commands.push_back(std::move(command));
  out.state = ParseState::error;
}

std::string_view name_of_program(const SimpleCommand& command) {
  return command.argv.empty() ? std::string_view() : base_name(command.argv.front().text);
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

void ShellBuilder::add_script(const ShellText& text, const ShellFrame& frame) {
  if (text.text.size() > kMaxText || depth_ >= kMaxScriptDepth || out_.commands.size() > kMaxCommands) {
    return add_unread(text, frame, out_);
  }
  ++depth_;
  const std::size_t commands = out_.commands.size(), functions = out_.functions.size();
  const ParseState state = out_.state;
  const KnownVariables variables = variables_;
  if (!read_shell_tree(text, frame, *this)) {
    out_.commands.resize(commands);
    out_.functions.resize(functions);
    out_.state = state;
    variables_ = variables;
    raise(read_shell_flat(text, frame, *this));
  }
  --depth_;
}

std::size_t ShellBuilder::add_command(SimpleCommand command, const ShellFrame& frame) {
  command.context = frame.context;
  command.parent = frame.parent;
  command.piped_from = frame.piped_from;
  command.piped_from_first = frame.piped_from_first;
  const std::string_view program = name_of_program(command);
  if (command.argv.empty() || program == "export" || program == "declare" || program == "local" ||
      program == "readonly" || program == "typeset") {
    for (const Assignment& assignment : command.assignments) assign(assignment.name, assignment.value, frame);
    for (const Word& word : command.argv) {
      const std::size_t equals = word.text.find('=');
      if (equals == std::string::npos || !is_name(std::string_view(word.text).substr(0, equals))) continue;
      Word value = word;
      value.text = word.text.substr(equals + 1);
      value.tilde = !word.quoted && value.text.starts_with('~');
      assign(word.text.substr(0, equals), value, frame);
    }
  }
  forget_assigned(command);
  out_.commands.push_back(std::move(command));
  return out_.commands.size() - 1;
}

void ShellBuilder::forget_assigned(const SimpleCommand& command) {
  const std::string_view program = name_of_program(command);
  if (program == "eval" || program == "source" || program == ".") {
    for (auto& [name, value] : variables_) value.clear();
  }
  if (program != "read" && program != "mapfile" && program != "readarray" && program != "unset" &&
      program != "printf" && program != "getopts") {
    return;
  }
  for (const Word& word : command.argv) {
    if (const auto known = variables_.find(word.text); known != variables_.end()) known->second.clear();
  }
}

void ShellBuilder::assign(const std::string& name, const Word& value, const ShellFrame& frame) {
  if (name.empty()) return;
  const bool pure = !value.opaque || value.text.find_first_of("(`") == std::string::npos;
  const auto known = variables_.find(name);
  std::vector<std::string> values;
  std::string text = value.text;
  // `D=~/x`: the tilde is expanded here, and not where `$D` is used.
  if (value.tilde) text.replace(0, std::min(text.find('/'), text.size()), "$HOME");
  if (pure && text.size() <= kMaxValue) values.push_back(std::move(text));
  if (known == variables_.end())
    variables_.emplace(name, std::move(values));
  else if (!frame.conditional)
    known->second = std::move(values);
  else if (known->second != values)
    known->second.clear();
}

void ShellBuilder::set_loop_variable(const std::string& name, const std::vector<Word>& values) {
  if (name.empty()) return;
  std::vector<std::string> texts;
  for (const Word& word : values) {
    if ((word.opaque && word.text.find_first_of("(`") != std::string::npos) || values.size() > kMaxLoopWords ||
        word.text.size() > kMaxValue) {
      texts.clear();
      break;
    }
    std::string text = word.text;
    if (word.tilde) text.replace(0, std::min(text.find('/'), text.size()), "$HOME");
    texts.push_back(std::move(text));
  }
  variables_[name] = std::move(texts);
}

std::vector<Word> ShellBuilder::expand(std::string_view source, std::size_t offset) {
  static const KnownVariables kNone;
  std::vector<Word> words;
  if (words_ < kMaxWordsOfScript) {
    words = resolve_words(source, offset, variables_);
    words_ += words.size();
  } else {
    words.push_back(resolve_one(source, offset, kNone));
    words.front().opaque = true;
    raise(ParseState::partial);
  }
  return words;
}

void ShellBuilder::add_function(std::string name, std::string_view body) {
  if (!body.empty()) bodies_.insert_or_assign(name, std::string(body));
  out_.functions.push_back(std::move(name));
}

/// `$1`, `$2`, …, `$@` as the body of a called function sees them.
void ShellBuilder::set_parameters(const std::vector<Word>& argv) {
  static constexpr std::size_t kNamed = 9;
  std::vector<Word> arguments(argv.begin() + 1, argv.end());
  for (std::size_t i = 0; i < kNamed; ++i) {
    variables_.erase(std::to_string(i + 1));
    if (i < arguments.size()) set_loop_variable(std::to_string(i + 1), {arguments[i]});
  }
  set_loop_variable("@", arguments);
  set_loop_variable("*", arguments);
}

/// The body of a function of this very line, with what it is called with; its definition tells only half.
void ShellBuilder::add_called_function(std::size_t index) {
  const SimpleCommand call = out_.commands[index];
  if (call.argv.empty() || (call.argv.front().opaque && !call.argv.front().expanded)) return;
  const auto body = bodies_.find(call.argv.front().text);
  if (body == bodies_.end()) return;
  // A function that calls itself is read once; the judge knows what starts itself without end.
  if (std::find(calling_.begin(), calling_.end(), body->first) != calling_.end()) return;
  called_text_ += body->second.size();
  if (++calls_ > kMaxCalls || called_text_ > kMaxCalledText) return raise(ParseState::partial);
  calling_.push_back(body->first);
  ShellFrame frame;
  frame.context = CommandContext::wrapped;
  frame.parent = index;
  frame.piped_from = call.piped_from;
  frame.piped_from_first = call.piped_from_first;
  const KnownVariables outer = variables_;
  set_parameters(call.argv);
  const std::string text = body->second;
  add_script({text, call.span}, frame);
  for (const std::string_view name : {"1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"}) {
    variables_.erase(std::string(name));
    if (const auto before = outer.find(name); before != outer.end()) variables_.insert(*before);
  }
  calling_.pop_back();
}

/// The words that `xargs` hands on, where its input is plain text of the line itself.
std::vector<Word> ShellBuilder::listed_words(const SimpleCommand& command) const {
  std::optional<std::string> text;
  if (command.piped_from != SimpleCommand::npos && command.piped_from == command.piped_from_first) {
    text = printed_text(out_.commands[command.piped_from]);
  }
  for (const Redirect& redirect : command.redirects) {
    const bool here = redirect.kind == RedirectKind::here_doc || redirect.kind == RedirectKind::here_string;
    if (here && !redirect.target.opaque) text = redirect.target.text;
  }
  std::vector<Word> words;
  std::size_t at = 0;
  while (text && at < text->size() && words.size() < kMaxListed) {
    const std::size_t begin = text->find_first_not_of(" \t\n", at);
    if (begin == std::string::npos) break;
    at = std::min(text->find_first_of(" \t\n", begin), text->size());
    Word word;
    word.text = text->substr(begin, at - begin);
    word.span = command.span;
    words.push_back(std::move(word));
  }
  return words;
}

void ShellBuilder::add_inner(std::size_t index) {
  if (depth_ >= kMaxScriptDepth || out_.commands.size() > kMaxCommands) return raise(ParseState::partial);
  const SimpleCommand owner = out_.commands[index];
  ++depth_;
  for (InnerCommand& inner : inner_commands(owner)) {
    ShellFrame frame;
    frame.parent = index;
    frame.conditional = true;
    if (inner.script) {
      frame.context = CommandContext::nested_shell;
      const KnownVariables outer = variables_;
      if (!inner.same_shell) variables_.clear();
      add_script({*inner.script, inner.span}, frame);
      if (!inner.same_shell) variables_ = outer;
      continue;
    }
    frame.context = CommandContext::wrapped;
    frame.piped_from = owner.piped_from;
    frame.piped_from_first = owner.piped_from_first;
    SimpleCommand command;
    command.argv = std::move(inner.argv);
    const std::string_view wrapper = name_of_program(owner);
    if (wrapper == "xargs" || wrapper == "parallel") {
      for (Word& word : listed_words(owner)) command.argv.push_back(std::move(word));
    }
    command.assignments = std::move(inner.assignments);
    command.span = inner.span;
    for (const Redirect& redirect : owner.redirects) {
      // A wrapper hands its standard input on; what it writes is judged once, at the wrapper.
      if (redirect.kind == RedirectKind::read || redirect.kind == RedirectKind::here_doc ||
          redirect.kind == RedirectKind::here_string) {
        command.redirects.push_back(redirect);
      }
    }
    add_inner(add_command(std::move(command), frame));
  }
  add_called_function(index);
  add_piped_script(index);
  --depth_;
}

void ShellBuilder::add_piped_script(std::size_t index) {
  const SimpleCommand& reader = out_.commands[index];
  if (reader.piped_from == SimpleCommand::npos || reader.piped_from != reader.piped_from_first) return;
  if (!reads_program_from_stdin(reader.argv)) return;
  const std::optional<std::string> text = printed_text(out_.commands[reader.piped_from]);
  if (!text) return;
  ShellFrame frame;
  frame.context = CommandContext::nested_shell;
  frame.parent = index;
  frame.conditional = true;
  const KnownVariables outer = std::exchange(variables_, {});
  const Span span = reader.span;
  add_script({*text, span}, frame);
  variables_ = outer;
}

ShellScript parse_shell(std::string_view text) {
  ShellScript script;
  ShellBuilder(script).add_script({text, std::nullopt}, {});
  return script;
}

}  // namespace escrow::engine
