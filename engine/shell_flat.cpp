#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "engine/shell_builder.h"

// The grammar gives up on some text that bash accepts (`{rm,-rf,/}`, two here-documents on a line) and on text that
// nobody accepts. Here it is read once more as commands between operators. Every operator only separates, so nothing
// that could run is overlooked; what is lost is which part depends on which.

namespace escrow::engine {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_meta(char c) {
  return std::string_view(" \t\r\n;|&<>()").find(c) != std::string_view::npos;
}

constexpr std::array<std::string_view, 16> kKeywords = {
    "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "esac", "time", "coproc", "in"};

struct PendingHereDoc {
  std::string end;
  bool literal, strip_tabs;
  std::size_t command, redirect;
};

class FlatReader {
 public:
  FlatReader(const ShellText& text, const ShellFrame& frame, ShellBuilder& builder)
      : text_(text), source_(text.text), frame_(frame), stage_(frame), builder_(builder) {}

  ParseState read() {
    while (at_ < source_.size()) step();
    flush();
    if (!pending_.empty()) state_ = ParseState::error;
    return state_;
  }

 private:
  void step() {
    const char c = source_[at_];
    if (is_blank(c)) {
      ++at_;
    } else if (c == '\\' && at_ + 1 < source_.size() && source_[at_ + 1] == '\n') {
      at_ += 2;
    } else if (c == '#') {
      at_ = std::min(source_.find('\n', at_), source_.size());
    } else if (c == '\n') {
      flush();
      end_pipeline();
      ++at_;
      read_here_docs();
    } else if (c == ';') {
      ++at_;
      flush();
      end_pipeline();
    } else if (c == '&' || c == '|') {
      read_operator();
    } else if (is_redirect()) {
      read_redirect();
    } else if (c == '(' || c == ')') {
      ++at_;
      state_ = std::max(state_, ParseState::partial);
      flush();
      end_pipeline();
    } else {
      read_word();
    }
  }

  void read_operator() {
    const std::string_view rest = source_.substr(at_);
    if (rest.starts_with("&>")) return read_redirect();
    if (rest.starts_with("&&") || rest.starts_with("||")) {
      at_ += 2;
      flush();
      end_pipeline();
    } else if (rest.front() == '|') {
      at_ += rest.starts_with("|&") ? 2 : 1;
      const std::size_t from = flush();
      stage_.context = CommandContext::pipe;
      stage_.piped_from = stage_.piped_from_first = from;
    } else {
      ++at_;
      flush();
      end_pipeline();
    }
  }

  void end_pipeline() { stage_ = frame_; }

  bool is_redirect() const {
    std::size_t i = at_;
    while (i < source_.size() && std::isdigit(static_cast<unsigned char>(source_[i])) != 0) ++i;
    if (i >= source_.size() || (source_[i] != '<' && source_[i] != '>')) return false;
    return i + 1 >= source_.size() || source_[i + 1] != '(' || i != at_;
  }

  void read_redirect() {
    const std::size_t begin = at_;
    Redirect redirect;
    int fd = 0;
    bool has_fd = false;
    while (at_ < source_.size() && std::isdigit(static_cast<unsigned char>(source_[at_])) != 0) {
      fd = std::min(fd * 10 + (source_[at_++] - '0'), 100'000);
      has_fd = true;
    }
    if (has_fd) redirect.fd = fd;
    static constexpr std::array<std::string_view, 13> kOperators = {"&>>", "<<<", "<<-", "&>", ">>", ">&", ">|",
                                                                    "<<",  "<&",  "<>",  ">",  "<",  "&"};
    std::string_view op;
    for (const std::string_view candidate : kOperators) {
      if (source_.substr(at_).starts_with(candidate)) {
        op = candidate;
        break;
      }
    }
    at_ += op.size();
    while (at_ < source_.size() && is_blank(source_[at_])) ++at_;
    const std::size_t word_begin = at_;
    skip_word();
    const std::string_view raw = source_.substr(word_begin, at_ - word_begin);
    if (raw.empty()) state_ = ParseState::error;
    redirect.target = resolve_one(raw, word_begin, builder_.variables());
    redirect.target.span = text_.span(word_begin, at_);
    redirect.span = text_.span(begin, at_);
    note_span(begin, at_);
    find_substitutions(raw, word_begin);
    set_kind(redirect, op, raw);
    redirects_.push_back(std::move(redirect));
  }

  void set_kind(Redirect& redirect, std::string_view op, std::string_view raw) {
    if (op == "<<<") {
      redirect.kind = RedirectKind::here_string;
    } else if (op == "<<" || op == "<<-") {
      redirect.kind = RedirectKind::here_doc;
      new_here_docs_.push_back({redirect.target.text, raw.find_first_of("'\"\\") != std::string_view::npos, op == "<<-",
                                0, redirects_.size()});
      redirect.target = Word{};
    } else if (op.starts_with('<')) {
      redirect.kind = op == "<&" ? RedirectKind::duplicate : RedirectKind::read;
    } else if (op == ">&" && !raw.empty() && raw.find_first_not_of("0123456789-") == std::string_view::npos) {
      redirect.kind = RedirectKind::duplicate;
    } else {
      redirect.kind = op.find(">>") != std::string_view::npos ? RedirectKind::append : RedirectKind::write;
      if (op.starts_with('&')) redirect.fd = -2;
    }
  }

  /// Moves past one word; an unclosed quote runs to the end and is an error.
  void skip_word() {
    while (at_ < source_.size() && !is_meta(source_[at_])) skip_part();
  }

  void skip_part() {
    const char c = source_[at_];
    if (c == '\\') {
      at_ = std::min(at_ + 2, source_.size());
    } else if (c == '\'' || c == '"' || (c == '$' && at_ + 1 < source_.size() && source_[at_ + 1] == '\'')) {
      const std::size_t end = skip_quoted(source_, at_);
      if (end == std::string_view::npos) state_ = ParseState::error;
      at_ = std::min(end, source_.size());
    } else if (c == '$' || c == '`') {
      const std::size_t end = skip_expansion(source_, at_);
      const bool bracketed =
          c == '`' || (at_ + 1 < source_.size() && (source_[at_ + 1] == '(' || source_[at_ + 1] == '{'));
      if (bracketed && (end == at_ + 1 || std::string_view(")}`").find(source_[end - 1]) == std::string_view::npos)) {
        state_ = ParseState::error;
      }
      at_ = end;
    } else {
      ++at_;
    }
  }

  void read_word() {
    const std::size_t begin = at_;
    if (source_[at_] == '<' || source_[at_] == '>')
      at_ = skip_expansion(source_, at_);
    else
      skip_word();
    const std::string_view raw = source_.substr(begin, at_ - begin);
    if (words_.empty() && is_keyword(raw)) {
      after_coproc_ = raw == "coproc";
      if (raw != "!" && raw != "time" && raw != "coproc") state_ = std::max(state_, ParseState::partial);
      return;
    }
    // `coproc NAME { …; }`: the name is no command.
    if (words_.empty() && after_coproc_ && names_coprocess(raw)) {
      after_coproc_ = false;
      return;
    }
    after_coproc_ = false;
    const bool opens = raw == "case" || raw == "for" || raw == "select" || raw == "function";
    if (words_.empty() && opens) state_ = std::max(state_, ParseState::partial);
    note_span(begin, at_);
    find_substitutions(raw, begin);
    if (words_.empty() && read_assignment(raw, begin)) return;
    for (Word& word : builder_.expand(raw, begin)) {
      word.span = text_.span(begin, at_);
      words_.push_back(std::move(word));
    }
  }

  bool names_coprocess(std::string_view raw) const {
    const std::size_t next = source_.find_first_not_of(" \t", at_);
    const bool opens = next != std::string_view::npos && (source_[next] == '{' || source_[next] == '(');
    return opens && std::all_of(raw.begin(), raw.end(),
                                [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  }

  static bool is_keyword(std::string_view raw) {
    return std::find(kKeywords.begin(), kKeywords.end(), raw) != kKeywords.end();
  }

  bool read_assignment(std::string_view raw, std::size_t begin) {
    const std::size_t equals = raw.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    const std::string_view name = raw.substr(0, equals);
    const bool valid = std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                       std::all_of(name.begin(), name.end(),
                                   [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
    if (!valid) return false;
    Assignment assignment;
    assignment.name = name;
    assignment.value = resolve_one(raw.substr(equals + 1), begin + equals + 1, builder_.variables());
    assignment.value.span = text_.span(begin + equals + 1, at_);
    assignments_.push_back(std::move(assignment));
    return true;
  }

  void find_substitutions(std::string_view raw, std::size_t begin) {
    bool single = false, twice = false;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const char c = raw[i];
      if (c == '\\' && !single) {
        ++i;
      } else if (c == '\'' && !twice) {
        single = !single;
      } else if (c == '"' && !single) {
        twice = !twice;
      } else if (!single &&
                 (c == '`' || ((c == '$' || c == '<' || c == '>') && i + 1 < raw.size() && raw[i + 1] == '('))) {
        const std::size_t end = skip_expansion(raw, i);
        const std::size_t open = c == '`' ? i + 1 : i + 2;
        if (raw.substr(i).starts_with("$((")) {
          i += 2;  // arithmetic; what it substitutes still runs
          continue;
        }
        if (end > open) nested_.push_back({begin + open, begin + end - 1, c == '<' || c == '>'});
        i = end - 1;
      }
    }
  }

  void note_span(std::size_t begin, std::size_t end) {
    if (words_.empty() && redirects_.empty() && assignments_.empty()) begin_ = begin;
    end_ = end;
  }

  std::size_t flush() {
    if (words_.empty() && redirects_.empty() && assignments_.empty()) return SimpleCommand::npos;
    SimpleCommand command;
    command.argv = std::exchange(words_, {});
    command.redirects = std::exchange(redirects_, {});
    command.assignments = std::exchange(assignments_, {});
    command.span = text_.span(begin_, end_);
    const std::size_t index = builder_.add_command(std::move(command), stage_);
    for (const Nested& nested : std::exchange(nested_, {})) {
      ShellFrame inner;
      inner.parent = index;
      inner.conditional = true;
      inner.context = nested.process ? CommandContext::process_substitution : CommandContext::substitution;
      const Span span = text_.span(nested.begin, nested.end);
      builder_.add_script({source_.substr(nested.begin, nested.end - nested.begin), span}, inner);
    }
    if (new_here_docs_.empty()) builder_.add_inner(index);
    for (PendingHereDoc& here : new_here_docs_) {
      here.command = index;
      pending_.push_back(std::move(here));
    }
    new_here_docs_.clear();
    return index;
  }

  void read_here_docs() {
    for (const PendingHereDoc& here : std::exchange(pending_, {})) {
      std::string raw;
      bool closed = false;
      while (at_ < source_.size() && !closed) {
        const std::size_t end = std::min(source_.find('\n', at_), source_.size());
        std::string_view line = source_.substr(at_, end - at_);
        at_ = std::min(end + 1, source_.size());
        while (here.strip_tabs && line.starts_with('\t')) line.remove_prefix(1);
        closed = line == here.end;
        if (!closed) raw.append(line).push_back('\n');
      }
      if (!closed) state_ = std::max(state_, ParseState::partial);
      Word body = resolve_here_document(raw, here.literal);
      // Substitutions in an unquoted body run.
      if (body.opaque) add_body_substitutions(raw, here.command);
      builder_.script().commands[here.command].redirects[here.redirect].target = std::move(body);
      builder_.add_inner(here.command);
    }
  }

  void add_body_substitutions(std::string_view body, std::size_t owner) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[i] == '\\') {
        ++i;
      } else if (body.substr(i).starts_with("$((")) {
        i += 2;
      } else if (body[i] == '`' || body.substr(i).starts_with("$(")) {
        const std::size_t end = skip_expansion(body, i);
        const std::size_t open = body[i] == '`' ? i + 1 : i + 2;
        ShellFrame inner;
        inner.parent = owner;
        inner.conditional = true;
        inner.context = CommandContext::substitution;
        const Span span = builder_.script().commands[owner].span;
        if (end > open) builder_.add_script({body.substr(open, end - 1 - open), span}, inner);
        i = end - 1;
      }
    }
  }

  struct Nested {
    std::size_t begin, end;
    bool process;
  };

  ShellText text_;
  std::string_view source_;
  ShellFrame frame_, stage_;
  ShellBuilder& builder_;
  std::size_t at_ = 0, begin_ = 0, end_ = 0;
  std::vector<Word> words_;
  std::vector<Redirect> redirects_;
  std::vector<Assignment> assignments_;
  std::vector<Nested> nested_;
  std::vector<PendingHereDoc> pending_, new_here_docs_;
  bool after_coproc_ = false;
  ParseState state_ = ParseState::ok;
};

}  // namespace

ParseState read_shell_flat(const ShellText& text, const ShellFrame& frame, ShellBuilder& builder) {
  return FlatReader(text, frame, builder).read();
}

}  // namespace escrow::engine
