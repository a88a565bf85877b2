#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/shell.h"
#include "engine/word_resolve.h"

/// The state of one parse: where commands go, and what is known of variables. Internal to the shell parser.
namespace escrow::engine {

/// Where the commands that are read next belong.
struct ShellFrame {
  CommandContext context = CommandContext::top;
  std::size_t parent = SimpleCommand::npos;
  std::size_t piped_from = SimpleCommand::npos;
  std::size_t piped_from_first = SimpleCommand::npos;
  bool conditional = false;  ///< may not run, or runs in a process of its own: what it assigns is not certain after it
};

/// A text with the place its commands are reported at.
struct ShellText {
  std::string_view text;
  std::optional<Span> fixed;  ///< a nested script's commands all take this span
  Span span(std::size_t begin, std::size_t end) const { return fixed ? *fixed : Span{begin, end}; }
};

class ShellBuilder {
 public:
  explicit ShellBuilder(ShellScript& out) : out_(out) {}

  /// Parses `text` and appends its commands.
  void add_script(const ShellText& text, const ShellFrame& frame);

  /// Appends a finished command, and after it whatever it runs in turn. Returns its index.
  std::size_t add_command(SimpleCommand command, const ShellFrame& frame);

  /// Nested texts of a command: substitutions in its words. Called after add_command with its index.
  void add_inner(std::size_t index);

  /// A consumer that reads its program from the pipe, fed by `echo` or `printf` of plain text.
  void add_piped_script(std::size_t index);

  void assign(const std::string& name, const Word& value, const ShellFrame& frame);
  void set_loop_variable(const std::string& name, const std::vector<Word>& values);
  /// `body`: the compound command, as written; empty where it is not known.
  void add_function(std::string name, std::string_view body);
  void raise(ParseState state) { out_.state = std::max(out_.state, state); }

  /// The words of a stretch of source. Expansion stops, and the line counts as not fully read, where it would make more
  /// words than any honest line has.
  std::vector<Word> expand(std::string_view source, std::size_t offset);

  KnownVariables& variables() { return variables_; }
  ShellScript& script() { return out_; }

 private:
  std::vector<Word> listed_words(const SimpleCommand& command) const;
  void forget_assigned(const SimpleCommand& command);
  void add_called_function(std::size_t index);
  void set_parameters(const std::vector<Word>& argv);

  ShellScript& out_;
  KnownVariables variables_;
  std::map<std::string, std::string, std::less<>> bodies_;  // of the functions defined so far
  std::vector<std::string> calling_;                        // functions whose body is being read for a call
  int calls_ = 0;
  std::size_t called_text_ = 0;
  int depth_ = 0;
  std::size_t words_ = 0;
};

/// Walks the tree of `text`. False if the tree holds an error; what was appended is then to be dropped.
bool read_shell_tree(const ShellText& text, const ShellFrame& frame, ShellBuilder& builder);

/// Reads `text` as a flat sequence of commands: exact for lists and pipelines, cautious for anything else. Used where
/// the grammar gives up.
ParseState read_shell_flat(const ShellText& text, const ShellFrame& frame, ShellBuilder& builder);

}  // namespace escrow::engine
