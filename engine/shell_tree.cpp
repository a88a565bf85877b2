#include <tree_sitter/api.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "engine/inner_command.h"
#include "engine/shell_builder.h"

extern "C" const TSLanguage* tree_sitter_bash(void);

// Structure comes from tree-sitter's node types and byte ranges only: its field names depend on the runtime's version,
// and its word nodes are cut differently from bash's words, so words are resolved from the source text again.

namespace escrow::engine {
namespace {

constexpr int kMaxTreeDepth = 160;

/// The tree-sitter of Debian 12 (0.20) corrupts its heap on a node of more than 65,535 children, which takes as many
/// bytes.
constexpr std::size_t kMaxTreeText = 32 * 1024;

enum class Kind : unsigned char {
  container,
  command,
  declaration,
  pipeline,
  list,
  redirected,
  subshell,
  conditional,
  loop,
  for_loop,
  function,
  test,
  assignment,
  assignments,
  substitution,
  process_substitution,
  file_redirect,
  here_doc,
  here_string,
  descriptor,
  here_start,
  here_body,
  here_end,
  command_name,
  comment,
  array,
  error,
  other
};

constexpr std::pair<const char*, Kind> kKinds[] = {
    {"program", Kind::container},
    {"compound_statement", Kind::container},
    {"do_group", Kind::container},
    {"negated_command", Kind::container},
    {"command", Kind::command},
    {"declaration_command", Kind::declaration},
    {"unset_command", Kind::declaration},
    {"pipeline", Kind::pipeline},
    {"list", Kind::list},
    {"redirected_statement", Kind::redirected},
    {"subshell", Kind::subshell},
    {"if_statement", Kind::conditional},
    {"elif_clause", Kind::conditional},
    {"else_clause", Kind::conditional},
    {"case_statement", Kind::conditional},
    {"case_item", Kind::conditional},
    {"while_statement", Kind::loop},
    {"c_style_for_statement", Kind::loop},
    {"for_statement", Kind::for_loop},
    {"function_definition", Kind::function},
    {"test_command", Kind::test},
    {"variable_assignment", Kind::assignment},
    {"variable_assignments", Kind::assignments},
    {"command_substitution", Kind::substitution},
    {"process_substitution", Kind::process_substitution},
    {"file_redirect", Kind::file_redirect},
    {"heredoc_redirect", Kind::here_doc},
    {"herestring_redirect", Kind::here_string},
    {"file_descriptor", Kind::descriptor},
    {"heredoc_start", Kind::here_start},
    {"heredoc_body", Kind::here_body},
    {"heredoc_end", Kind::here_end},
    {"command_name", Kind::command_name},
    {"comment", Kind::comment},
    {"array", Kind::array},
    {"ERROR", Kind::error},
};

Kind kind_of_name(std::string_view name) {
  for (const auto& [text, kind] : kKinds) {
    if (name == text) return kind;
  }
  return Kind::other;
}

/// Node kind by symbol, looked up once: comparing names for each node would cost more than the parse.
const std::vector<Kind>& symbol_kinds() {
  static const std::vector<Kind> kinds = [] {
    const TSLanguage* language = tree_sitter_bash();
    std::vector<Kind> out(ts_language_symbol_count(language), Kind::other);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto symbol = static_cast<TSSymbol>(i);
      if (ts_language_symbol_type(language, symbol) == TSSymbolTypeRegular) {
        out[i] = kind_of_name(ts_language_symbol_name(language, symbol));
      }
    }
    return out;
  }();
  return kinds;
}

Kind kind_of(TSNode node) {
  const TSSymbol symbol = ts_node_symbol(node);
  const auto& kinds = symbol_kinds();
  return symbol < kinds.size() ? kinds[symbol] : Kind::error;  // the error symbol lies past the end
}

TSParser* parser() {
  struct Delete {
    void operator()(TSParser* p) const { ts_parser_delete(p); }
  };
  thread_local const std::unique_ptr<TSParser, Delete> instance = [] {
    std::unique_ptr<TSParser, Delete> made(ts_parser_new());
    ts_parser_set_language(made.get(), tree_sitter_bash());
    return made;
  }();
  return instance.get();
}

struct TreeDelete {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using Tree = std::unique_ptr<TSTree, TreeDelete>;

/// A stretch of source that is one word.
struct Piece {
  std::size_t begin, end;
  bool array = false;  ///< `a=(x y)` behind `declare`
};

/// What a simple command's nodes are gathered into before it is resolved.
struct Draft {
  std::vector<Piece> words;
  std::vector<TSNode> assignments;
  std::vector<Redirect> redirects;
  std::vector<TSNode> nested;               // substitutions, in source order
  std::vector<TSNode> after;                // what follows a here-document's start: `| sh`, `&& next`
  std::vector<std::size_t> after_operator;  // 1 if the node is fed by the command
  std::size_t begin = 0, end = 0;
  bool has_span = false;
  /// Where the word read last ends for bash. The grammar cuts words at a line continuation and at some quotes; what it
  /// takes for the next word is then the rest of this one.
  std::size_t consumed = 0;
};

/// True if bash would not end a word anywhere in it. The grammar takes `[ }` for one.
bool is_one_word(std::string_view text) {
  return skip_word(text, 0) == text.size();
}

class TreeReader {
 public:
  TreeReader(const ShellText& text, ShellBuilder& builder) : text_(text), builder_(builder) {}

  /// False if some word of the tree is not a word: the text must then be read another way.
  bool is_whole() const { return whole_; }

  void visit(TSNode node, const ShellFrame& frame) {
    if (++depth_ > kMaxTreeDepth) {
      builder_.raise(ParseState::partial);
    } else {
      visit_kind(node, frame);
    }
    --depth_;
  }

 private:
  std::string_view source(TSNode node) const { return text_.text.substr(ts_node_start_byte(node), length(node)); }
  static std::size_t length(TSNode node) { return ts_node_end_byte(node) - ts_node_start_byte(node); }

  template <class F>
  static void each_child(TSNode node, F&& use) {
    const std::uint32_t count = ts_node_child_count(node);
    if (count == 0) return;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      do use(ts_tree_cursor_current_node(&cursor));
      while (ts_tree_cursor_goto_next_sibling(&cursor));
    }
    ts_tree_cursor_delete(&cursor);
  }

  void visit_children(TSNode node, const ShellFrame& frame) {
    each_child(node, [&](TSNode child) {
      if (ts_node_is_named(child)) visit(child, frame);
    });
  }

  static ShellFrame within(ShellFrame frame, CommandContext context) {
    if (frame.context == CommandContext::top || context == CommandContext::function) frame.context = context;
    frame.conditional = true;
    return frame;
  }

  void visit_kind(TSNode node, const ShellFrame& frame) {
    switch (kind_of(node)) {
      case Kind::command:
      case Kind::declaration:
      case Kind::test:
      case Kind::assignment:
      case Kind::assignments:
        return visit_command(node, {}, frame);
      case Kind::redirected:
        return visit_redirected(node, frame);
      case Kind::pipeline:
        return visit_pipeline(node, frame);
      case Kind::list:
        return visit_list(node, frame);
      case Kind::subshell:
        return visit_children(node, within(frame, CommandContext::subshell));
      case Kind::conditional:
        return visit_children(node, within(frame, CommandContext::condition));
      case Kind::loop:
        return visit_children(node, within(frame, CommandContext::loop));
      case Kind::for_loop:
        return visit_for(node, frame);
      case Kind::function:
        return visit_function(node, frame);
      case Kind::substitution:
      case Kind::process_substitution: {
        // A word inside ends with the substitution at the latest: a backquote closes it.
        const std::size_t outer = std::exchange(limit_, ts_node_end_byte(node) - 1);
        visit_children(node, frame);
        limit_ = outer;
        return;
      }
      case Kind::container:
      case Kind::error:
        return visit_children(node, frame);
      case Kind::file_redirect:
      case Kind::here_doc:
      case Kind::here_string:
        return visit_command(node, {}, frame);
      case Kind::descriptor:
      case Kind::here_start:
      case Kind::here_body:
      case Kind::here_end:
      case Kind::comment:
        return;
      case Kind::command_name:
      case Kind::array:
      case Kind::other:
        return visit_loose_words(node, frame);
    }
  }

  /// Words outside a command (a `case` subject, an arithmetic text): only what they substitute runs.
  void visit_loose_words(TSNode node, const ShellFrame& frame) {
    Draft draft;
    collect_nested(node, draft.nested);
    for (const TSNode inner : draft.nested) visit_nested(inner, frame, SimpleCommand::npos);
  }

  void visit_list(TSNode node, const ShellFrame& frame) {
    bool first = true;
    each_child(node, [&](TSNode child) {
      if (!ts_node_is_named(child)) return;
      ShellFrame part = frame;
      if (!first) part.conditional = true;
      // `a && b`: whatever runs at all runs in order; only what b assigns is uncertain.
      visit(child, part);
      first = false;
    });
  }

  /// Commands appended since `from` that stand directly in `frame` are the stage that feeds the next one.
  void feed_from(std::size_t from, const ShellFrame& frame, ShellFrame& next) const {
    const auto& commands = builder_.script().commands;
    next.piped_from = SimpleCommand::npos;
    next.piped_from_first = SimpleCommand::npos;
    for (std::size_t i = from; i < commands.size(); ++i) {
      if (commands[i].parent != frame.parent) continue;
      if (next.piped_from_first == SimpleCommand::npos) next.piped_from_first = i;
      next.piped_from = i;
    }
  }

  void visit_pipeline(TSNode node, const ShellFrame& frame) {
    ShellFrame stage = within(frame, CommandContext::pipe);
    each_child(node, [&](TSNode child) {
      if (!ts_node_is_named(child) || kind_of(child) == Kind::comment) return;
      const std::size_t from = builder_.script().commands.size();
      visit(child, stage);
      feed_from(from, frame, stage);
    });
  }

  void visit_for(TSNode node, const ShellFrame& frame) {
    std::string name;
    std::vector<Word> values;
    const ShellFrame body = within(frame, CommandContext::loop);
    std::vector<TSNode> groups, nested;
    SimpleCommand assignment;
    std::size_t consumed = 0;
    each_child(node, [&](TSNode child) {
      if (!ts_node_is_named(child)) return;
      if (kind_of(child) == Kind::container) return groups.push_back(child);
      if (name.empty()) {
        name = source(child);
        return;
      }
      collect_nested(child, nested);
      if (kind_of(child) == Kind::substitution || !nested.empty()) {
        assignment.assignments = {{name, target_of(child)}};
        assignment.span = text_.span(ts_node_start_byte(child), ts_node_end_byte(child));
      }
      const std::size_t begin = ts_node_start_byte(child);
      if (begin < consumed) return;
      consumed = end_of_word(child);
      for (Word& word : builder_.expand(text_.text.substr(begin, consumed - begin), begin)) {
        values.push_back(std::move(word));
      }
    });
    // `for x in $(cmd)`: the variable carries what the command prints.
    if (!nested.empty()) {
      const std::size_t owner = builder_.add_command(std::move(assignment), body);
      for (const TSNode inner : nested) visit_nested(inner, frame, owner);
    }
    builder_.set_loop_variable(name, values);
    for (const TSNode group : groups) visit(group, body);
  }

  void visit_function(TSNode node, const ShellFrame& frame) {
    std::string_view name;
    const ShellFrame body = within(frame, CommandContext::function);
    each_child(node, [&](TSNode child) {
      if (!ts_node_is_named(child)) return;
      if (name.empty()) {
        name = source(child);
      } else {
        builder_.add_function(std::string(name), source(child));
        visit(child, body);
      }
    });
  }

  void visit_redirected(TSNode node, const ShellFrame& frame) {
    TSNode body{};
    bool has_body = false;
    std::vector<TSNode> redirects;
    each_child(node, [&](TSNode child) {
      const Kind kind = kind_of(child);
      if (kind == Kind::file_redirect || kind == Kind::here_doc || kind == Kind::here_string) {
        redirects.push_back(child);
      } else if (ts_node_is_named(child) && kind != Kind::comment) {
        body = child;
        has_body = true;
      }
    });
    const Kind kind = has_body ? kind_of(body) : Kind::command;
    const bool simple = kind == Kind::command || kind == Kind::declaration || kind == Kind::test ||
                        kind == Kind::assignment || kind == Kind::assignments;
    if (!has_body || simple)
      return visit_command(has_body ? body : node, has_body ? redirects : std::vector<TSNode>(), frame);
    visit_redirected_compound(body, redirects, frame);
  }

  /// `while …; done < file`, `{ a; b; } > out`, and `a | b > out`, where only the last command is meant.
  void visit_redirected_compound(TSNode body, const std::vector<TSNode>& redirects, const ShellFrame& frame) {
    const std::size_t from = builder_.script().commands.size();
    visit(body, frame);
    Draft draft;
    for (const TSNode redirect : redirects) gather(redirect, draft);
    auto& commands = builder_.script().commands;
    const std::size_t to = commands.size();
    const bool last_only = kind_of(body) == Kind::pipeline || kind_of(body) == Kind::list;
    ShellFrame direct;
    feed_from(from, frame, direct);
    for (std::size_t i = from; i < to; ++i) {
      if (commands[i].parent != frame.parent || (last_only && i != direct.piped_from)) continue;
      commands[i].redirects.insert(commands[i].redirects.end(), draft.redirects.begin(), draft.redirects.end());
    }
    const std::size_t owner = direct.piped_from;
    if (owner != SimpleCommand::npos && last_only) append_words(owner, draft);
    for (const TSNode inner : draft.nested) visit_nested(inner, frame, owner);
    const bool here = std::any_of(draft.redirects.begin(), draft.redirects.end(), [](const Redirect& r) {
      return r.kind == RedirectKind::here_doc || r.kind == RedirectKind::here_string;
    });
    if (owner != SimpleCommand::npos && here && reads_program_from_stdin(commands[owner].argv))
      builder_.add_inner(owner);
    visit_after(draft, from, frame);
  }

  void append_words(std::size_t index, const Draft& draft) {
    for (const Piece& piece : draft.words) {
      for (Word& word : resolve(piece)) builder_.script().commands[index].argv.push_back(std::move(word));
    }
  }

  std::vector<Word> resolve(const Piece& piece) {
    if (piece.array) {
      Word word;
      word.text = text_.text.substr(piece.begin, piece.end - piece.begin);
      word.opaque = true;
      word.span = text_.span(piece.begin, piece.end);
      return {word};
    }
    if (!is_one_word(text_.text.substr(piece.begin, piece.end - piece.begin))) whole_ = false;
    auto words = builder_.expand(text_.text.substr(piece.begin, piece.end - piece.begin), piece.begin);
    for (Word& word : words) word.span = text_.span(piece.begin, piece.end);
    return words;
  }

  void visit_command(TSNode node, const std::vector<TSNode>& redirects, const ShellFrame& frame) {
    Draft draft;
    const Kind kind = kind_of(node);
    if (kind == Kind::test) {
      gather_test(node, draft);
    } else if (kind == Kind::assignment || kind == Kind::file_redirect || kind == Kind::here_doc ||
               kind == Kind::here_string) {
      gather(node, draft);
    } else {
      each_child(node, [&](TSNode child) { gather(child, draft); });
    }
    for (const TSNode redirect : redirects) {
      if (!ts_node_eq(redirect, node)) gather(redirect, draft);
    }
    finish(draft, frame);
  }

  void gather_test(TSNode node, Draft& draft) {
    const std::size_t begin = ts_node_start_byte(node);
    const std::size_t size =
        text_.text.substr(begin).starts_with("[[") || text_.text.substr(begin).starts_with("((") ? 2 : 1;
    draft.words.push_back({begin, begin + size});
    gather_operands(node, draft);
    cover(draft, node);
    collect_nested(node, draft.nested);
    each_child(node, [&](TSNode child) {
      if (kind_of(child) == Kind::redirected) {
        each_child(child, [&](TSNode part) {
          if (kind_of(part) == Kind::file_redirect) gather(part, draft);
        });
      }
    });
  }

  /// The quoted operands and the operators of a test: bash evaluates the former anew for some of the latter.
  static void gather_operands(TSNode node, Draft& draft) {
    each_child(node, [&](TSNode child) {
      const std::string_view type = ts_node_type(child);
      if (type == "raw_string" || type == "test_operator") {
        draft.words.push_back({ts_node_start_byte(child), ts_node_end_byte(child)});
      } else if (type != "command_substitution" && kind_of(child) != Kind::redirected) {
        gather_operands(child, draft);
      }
    });
  }

  static void cover(Draft& draft, TSNode node) {
    const std::size_t begin = ts_node_start_byte(node), end = ts_node_end_byte(node);
    draft.begin = draft.has_span ? std::min(draft.begin, begin) : begin;
    draft.end = draft.has_span ? std::max(draft.end, end) : end;
    draft.has_span = true;
  }

  void gather(TSNode child, Draft& draft) {
    if (length(child) == 0) return;
    switch (kind_of(child)) {
      case Kind::assignment:
        cover(draft, child);
        if (draft.words.empty()) {
          draft.assignments.push_back(child);
          draft.consumed = end_of_assignment(child);
        } else if (is_array(child)) {
          draft.words.push_back({ts_node_start_byte(child), ts_node_end_byte(child), true});
          draft.consumed = ts_node_end_byte(child);
        } else {
          add_word(child, draft);
        }
        return collect_nested(child, draft.nested);
      case Kind::file_redirect:
        return gather_file_redirect(child, draft);
      case Kind::here_string:
        return gather_here_string(child, draft);
      case Kind::here_doc:
        return gather_here_doc(child, draft);
      case Kind::comment:
        return;
      default:
        cover(draft, child);
        add_word(child, draft);
        return collect_nested(child, draft.nested);
    }
  }

  /// The end of the word that begins with the node; never before the node's own.
  std::size_t end_of_word(TSNode node) const {
    const std::size_t own = ts_node_end_byte(node);
    const std::size_t end = skip_word(text_.text.substr(0, limit_), ts_node_start_byte(node));
    return end == std::string_view::npos ? own : std::max(own, end);
  }

  /// True for `a=(x y)`.
  bool is_array(TSNode assignment) const {
    const std::string_view text = source(assignment);
    const std::size_t equals = text.find('=');
    return equals != std::string_view::npos && text.substr(equals + 1).starts_with('(');
  }

  std::size_t end_of_assignment(TSNode node) const {
    return is_array(node) ? ts_node_end_byte(node) : end_of_word(node);
  }

  /// The grammar takes a line end before a continued line for a blank: what follows is another command then.
  void check_gap(const Draft& draft, std::size_t begin) {
    for (std::size_t i = draft.consumed; draft.consumed != 0 && i < begin; ++i) {
      if (text_.text[i] == '\\')
        ++i;
      else if (text_.text[i] == '\n')
        whole_ = false;
    }
  }

  /// Nodes that touch are one word.
  void add_word(TSNode node, Draft& draft) {
    const Piece piece{ts_node_start_byte(node), end_of_word(node)};
    if (piece.begin < draft.consumed) {
      if (piece.end > draft.consumed) whole_ = false;
      return;
    }
    check_gap(draft, piece.begin);
    if (!draft.words.empty() && draft.words.back().end == piece.begin)
      draft.words.back().end = piece.end;
    else
      draft.words.push_back(piece);
    draft.consumed = piece.end;
  }

  static void collect_nested(TSNode node, std::vector<TSNode>& out, int depth = 0) {
    const Kind kind = kind_of(node);
    if (kind == Kind::substitution || kind == Kind::process_substitution) return out.push_back(node);
    if (depth > kMaxTreeDepth) return;
    each_child(node, [&](TSNode child) {
      if (ts_node_child_count(child) > 0) collect_nested(child, out, depth + 1);
    });
  }

  static RedirectKind kind_of_operator(std::string_view op, const Word& target) {
    if (op.starts_with("<")) return op == "<&" ? RedirectKind::duplicate : RedirectKind::read;
    if (op.find(">>") != std::string_view::npos) return RedirectKind::append;
    const bool number = !target.text.empty() && target.text.find_first_not_of("0123456789-") == std::string::npos;
    if (op == ">&" && number) return RedirectKind::duplicate;
    return RedirectKind::write;
  }

  void gather_file_redirect(TSNode node, Draft& draft) {
    Redirect redirect;
    redirect.fd = std::exchange(next_descriptor_, -1);
    check_gap(draft, ts_node_start_byte(node));
    std::string_view op;
    bool has_target = false;
    each_child(node, [&](TSNode child) {
      const Kind kind = kind_of(child);
      if (kind == Kind::descriptor) {
        redirect.fd = parse_descriptor(source(child));
      } else if (op.empty()) {
        op = source(child);
      } else if (!has_target) {
        redirect.target = target_of(child);
        draft.consumed = end_of_word(child);
        has_target = true;
        collect_nested(child, draft.nested);
      } else if (is_next_descriptor(child)) {
        next_descriptor_ = parse_descriptor(source(child));
      } else {
        // The grammar lets a redirect swallow the words after its target: `cat > f x` still has the argument x.
        add_word(child, draft);
        collect_nested(child, draft.nested);
      }
    });
    if (op.starts_with("&")) redirect.fd = -2;
    redirect.kind = kind_of_operator(op, redirect.target);
    redirect.span = text_.span(ts_node_start_byte(node), ts_node_end_byte(node));
    cover(draft, node);
    draft.redirects.push_back(std::move(redirect));
  }

  static int parse_descriptor(std::string_view text) {
    int value = 0;
    for (const char c : text.substr(0, 4)) {
      if (c >= '0' && c <= '9') value = value * 10 + (c - '0');
    }
    return value;
  }

  /// `… 0>&1`: the digit belongs to the redirect after it.
  bool is_next_descriptor(TSNode node) const {
    const std::string_view text = source(node);
    const std::size_t end = ts_node_end_byte(node);
    return text.find_first_not_of("0123456789") == std::string_view::npos && end < text_.text.size() &&
           (text_.text[end] == '<' || text_.text[end] == '>');
  }

  Word target_of(TSNode node) const {
    const std::size_t begin = ts_node_start_byte(node), end = end_of_word(node);
    Word word = resolve_one(text_.text.substr(begin, end - begin), begin, builder_.variables());
    word.span = text_.span(begin, end);
    return word;
  }

  void gather_here_string(TSNode node, Draft& draft) {
    Redirect redirect;
    redirect.kind = RedirectKind::here_string;
    check_gap(draft, ts_node_start_byte(node));
    redirect.span = text_.span(ts_node_start_byte(node), ts_node_end_byte(node));
    each_child(node, [&](TSNode child) {
      if (kind_of(child) == Kind::descriptor) redirect.fd = parse_descriptor(source(child));
      if (source(child) == "<<<" || !ts_node_is_named(child) || kind_of(child) == Kind::descriptor) return;
      if (ts_node_start_byte(child) < draft.consumed) return;
      redirect.target = target_of(child);
      draft.consumed = end_of_word(child);
      collect_nested(child, draft.nested);
    });
    cover(draft, node);
    draft.redirects.push_back(std::move(redirect));
  }

  void gather_here_doc(TSNode node, Draft& draft) {
    Redirect redirect;
    redirect.kind = RedirectKind::here_doc;
    bool literal = false, strip_tabs = false, fed = false;
    check_gap(draft, ts_node_start_byte(node));
    std::size_t slot = draft.redirects.size();
    each_child(node, [&](TSNode child) {
      const std::string_view text = source(child);
      switch (kind_of(child)) {
        case Kind::descriptor:
          redirect.fd = parse_descriptor(text);
          return;
        case Kind::here_start:
          literal = text.find_first_of("'\"\\") != std::string_view::npos;
          redirect.target = here_body(child, literal, strip_tabs);
          redirect.span = text_.span(ts_node_start_byte(node), ts_node_end_byte(child));
          draft.end = std::max(draft.end, static_cast<std::size_t>(ts_node_end_byte(child)));
          return;
        case Kind::here_body:
          if (!literal) collect_nested(child, draft.nested);
          return;
        case Kind::here_end:
          if (ts_node_end_byte(child) <= here_end_ || ts_node_end_byte(child) > here_close_) whole_ = false;
          return;
        case Kind::file_redirect:
        case Kind::here_string:
        case Kind::here_doc:
          return gather(child, draft);
        case Kind::pipeline:
          draft.after.push_back(child);
          return draft.after_operator.push_back(1);
        default:
          if (text == "<<" || text == "<<-") {
            strip_tabs = text == "<<-";
          } else if (text == "|" || text == "|&" || text == "&&" || text == "||") {
            fed = text.size() == 1 || text == "|&";
          } else if (is_statement(child)) {
            draft.after.push_back(child);
            draft.after_operator.push_back(fed ? 1 : 0);
          } else if (ts_node_is_named(child)) {
            add_word(child, draft);
            collect_nested(child, draft.nested);
          }
      }
    });
    draft.redirects.insert(draft.redirects.begin() + static_cast<std::ptrdiff_t>(slot), std::move(redirect));
  }

  static bool is_statement(TSNode node) {
    switch (kind_of(node)) {
      case Kind::command:
      case Kind::declaration:
      case Kind::list:
      case Kind::redirected:
      case Kind::subshell:
      case Kind::conditional:
      case Kind::loop:
      case Kind::for_loop:
      case Kind::test:
      case Kind::container:
      case Kind::assignment:
      case Kind::assignments:
      case Kind::function:
        return true;
      default:
        return false;
    }
  }

  /// The body that belongs to the delimiter at `start`. It is read from the text: the grammar drops blanks before the
  /// first line and ends at `EOF ` too.
  Word here_body(TSNode start, bool literal, bool strip_tabs) {
    const std::string end = resolve_one(source(start), 0, {}).text;
    const std::size_t line_end = std::min(text_.text.find('\n', ts_node_end_byte(start)), text_.text.size());
    std::size_t at = here_line_ == line_end ? here_close_ : std::min(line_end + 1, text_.text.size());
    here_line_ = line_end;
    const std::size_t begin = at;
    std::string body;
    bool closed = false;
    while (at < text_.text.size() && !closed) {
      const std::size_t stop = std::min(text_.text.find('\n', at), text_.text.size());
      std::string_view line = text_.text.substr(at, stop - at);
      while (strip_tabs && line.starts_with('\t')) line.remove_prefix(1);
      closed = line == end;
      here_end_ = at;
      at = std::min(stop + 1, text_.text.size());
      if (!closed) body.append(line).push_back('\n');
    }
    here_close_ = at;
    if (!closed) whole_ = false;
    Word word = resolve_here_document(body, literal);
    word.span = text_.span(begin, std::max(begin, here_end_));
    return word;
  }

  Assignment assignment_of(TSNode node) const {
    const std::string_view text =
        text_.text.substr(ts_node_start_byte(node), end_of_assignment(node) - ts_node_start_byte(node));
    const std::size_t equals = text.find('=');
    Assignment out;
    std::size_t end = equals == std::string_view::npos ? text.size() : equals;
    const std::size_t value = end == text.size() ? end : end + 1;
    if (end > 0 && text[end - 1] == '+') --end;
    out.name = text.substr(0, std::min(end, text.find('[')));
    const std::string_view rest = text.substr(value);
    const std::size_t offset = ts_node_start_byte(node) + value;
    if (rest.starts_with('(') || value - end > 1) {
      out.value.text = rest;  // an array, or `+=`: the result is not known
      out.value.opaque = true;
    } else {
      out.value = resolve_one(rest, offset, builder_.variables());
    }
    out.value.span = text_.span(offset, offset + rest.size());
    return out;
  }

  void finish(const Draft& draft, const ShellFrame& frame) {
    // A command that begins inside the word before it: the grammar took a quoted line end for a real one.
    if (draft.has_span && draft.begin < words_end_) whole_ = false;
    words_end_ = std::max(words_end_, draft.consumed);
    SimpleCommand command;
    for (const TSNode node : draft.assignments) command.assignments.push_back(assignment_of(node));
    for (const Piece& piece : draft.words) {
      for (Word& word : resolve(piece)) command.argv.push_back(std::move(word));
    }
    // The grammar takes `coproc` for a program.
    if (!command.argv.empty() && command.argv.front().text == "coproc") whole_ = false;
    command.redirects = draft.redirects;
    command.span = text_.span(draft.begin, draft.end);
    const std::size_t from = builder_.script().commands.size();
    const std::size_t index = builder_.add_command(std::move(command), frame);
    for (const TSNode inner : draft.nested) visit_nested(inner, frame, index);
    builder_.add_inner(index);
    visit_after(draft, from, frame);
  }

  void visit_nested(TSNode node, const ShellFrame& frame, std::size_t owner) {
    ShellFrame inner = frame;
    const std::size_t outer_end = std::exchange(words_end_, 0);
    const bool process = kind_of(node) == Kind::process_substitution;
    inner.context = process ? CommandContext::process_substitution : CommandContext::substitution;
    inner.parent = owner;
    inner.conditional = true;
    inner.piped_from = inner.piped_from_first = SimpleCommand::npos;
    if (process && source(node).starts_with('>')) inner.piped_from = inner.piped_from_first = owner;
    visit(node, inner);
    words_end_ = outer_end;
  }

  void visit_after(const Draft& draft, std::size_t from, const ShellFrame& frame) {
    for (std::size_t i = 0; i < draft.after.size(); ++i) {
      ShellFrame next = frame;
      if (draft.after_operator[i] != 0) {
        next = within(frame, CommandContext::pipe);
        feed_from(from, frame, next);
      } else {
        next.conditional = true;
      }
      if (draft.after_operator[i] != 0 && kind_of(draft.after[i]) == Kind::pipeline) {
        visit_stages(draft.after[i], next, frame);
      } else {
        visit(draft.after[i], next);
      }
    }
  }

  void visit_stages(TSNode pipeline, ShellFrame stage, const ShellFrame& frame) {
    each_child(pipeline, [&](TSNode child) {
      if (!ts_node_is_named(child) || kind_of(child) == Kind::comment) return;
      const std::size_t from = builder_.script().commands.size();
      visit(child, stage);
      feed_from(from, frame, stage);
    });
  }

  ShellText text_;
  ShellBuilder& builder_;
  bool whole_ = true;
  int depth_ = 0;
  std::size_t limit_ = std::string_view::npos;
  std::size_t words_end_ = 0;  // of the command before, in the same list
  // Of the here-document read last: the end of the line it was named on, and its closing line.
  std::size_t here_line_ = std::string_view::npos, here_end_ = 0, here_close_ = 0;
  int next_descriptor_ = -1;  // a digit that the grammar took for a word of the redirect before
};

/// The grammar sometimes drops a word without saying so (`make -f - <<X` loses the `-`). Every byte between two nodes
/// must therefore be blank, except inside quotes and expansions, which are read from the source anyway.
class GapCheck {
 public:
  explicit GapCheck(std::string_view text) : text_(text) {}

  bool is_complete(TSNode node, int depth = 0) const {
    const std::uint32_t count = ts_node_child_count(node);
    if (count == 0 || depth > kMaxTreeDepth) return true;
    const bool quoted = holds_text(ts_node_type(node));
    std::size_t at = ts_node_start_byte(node);
    bool complete = true;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      do {
        const TSNode child = ts_tree_cursor_current_node(&cursor);
        complete = (quoted || is_blank(at, ts_node_start_byte(child))) && is_complete(child, depth + 1);
        at = std::max(at, static_cast<std::size_t>(ts_node_end_byte(child)));
      } while (complete && ts_tree_cursor_goto_next_sibling(&cursor));
    }
    ts_tree_cursor_delete(&cursor);
    return complete && (quoted || is_blank(at, ts_node_end_byte(node)));
  }

 private:
  static bool holds_text(std::string_view type) {
    return type == "string" || type == "heredoc_body" || type == "expansion" || type == "arithmetic_expansion" ||
           type == "translated_string" || type == "concatenation";
  }

  bool is_blank(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end && i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\\' && i + 1 < end && text_[i + 1] == '\n')
        ++i;
      else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
        return false;
    }
    return true;
  }

  std::string_view text_;
};

}  // namespace

bool read_shell_tree(const ShellText& text, const ShellFrame& frame, ShellBuilder& builder) {
  if (text.text.size() > kMaxTreeText) return false;
  const Tree tree(
      ts_parser_parse_string(parser(), nullptr, text.text.data(), static_cast<std::uint32_t>(text.text.size())));
  if (!tree) return false;
  const TSNode root = ts_tree_root_node(tree.get());
  if (ts_node_has_error(root) || !GapCheck(text.text).is_complete(root)) return false;
  const std::string_view before = text.text.substr(0, ts_node_start_byte(root));
  if (before.find_first_not_of(" \t\r\n") != std::string_view::npos) return false;
  TreeReader reader(text, builder);
  reader.visit(root, frame);
  return reader.is_whole();
}

}  // namespace escrow::engine
