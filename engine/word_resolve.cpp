#include "engine/word_resolve.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "engine/brace_expand.h"
#include "engine/inner_command.h"

// A word is read into cells, one a resulting character, each remembering how it came to be. Brace expansion and
// splitting then work on cells, so that a quoted `{` or blank is never taken for syntax. An expansion that cannot be
// resolved becomes cells that carry its source text.

namespace escrow::engine {
namespace {

constexpr std::size_t kMaxBraceCells = 1024;

struct Reading {
  Cells cells;
  bool quoted = false, disguised = false, expanded = false, opaque = false;
  const std::vector<std::string>* many = nullptr;  // the whole word is one variable of several words
};

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | ((code >> 18) & 0x07));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

/// Reads up to `most` digits of `base` at `at`, moving it; nullopt-like: false if there is none.
bool read_code(std::string_view text, std::size_t& at, std::size_t most, int base, std::uint32_t& code) {
  const auto* first = text.data() + at;
  const auto* last = first + std::min(most, text.size() - at);
  const auto [end, error] = std::from_chars(first, last, code, base);
  if (error != std::errc() || end == first) return false;
  at += static_cast<std::size_t>(end - first);
  return true;
}

/// The digits of `\x{…}`, of which the last byte counts; the bracket need not be closed.
void read_braced_code(std::string_view text, std::size_t& at, std::string& out) {
  std::uint32_t code = 0, digit = 0;
  for (std::size_t next = at; next < text.size() && read_code(text, next, 1, 16, digit); at = next) {
    code = (code << 4 | digit) & 0xFF;
  }
  if (at < text.size() && text[at] == '}') ++at;
  out.push_back(static_cast<char>(code));
}

/// One escape of `$'…'` (bash manual, "ANSI-C Quoting"); `at` stands after the backslash.
void read_ansi_escape(std::string_view text, std::size_t& at, std::string& out, bool& encoded) {
  static constexpr std::string_view kNames = "abeEfnrtv\\'\"?", kValues = "\a\b\x1b\x1b\f\n\r\t\v\\'\"?";
  const char c = text[at];
  if (const auto i = kNames.find(c); i != std::string_view::npos) {
    out.push_back(kValues[i]);
    ++at;
    return;
  }
  std::uint32_t code = 0;
  if (c >= '0' && c <= '7') {
    read_code(text, at, 3, 8, code);
    encoded = true;
    out.push_back(static_cast<char>(code & 0xFF));
    return;
  }
  if (c == 'x' && at + 1 < text.size() && text[at + 1] == '{') {
    at += 2;
    encoded = true;
    read_braced_code(text, at, out);
    return;
  }
  const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  std::size_t next = at + 1;
  if (digits != 0 && next < text.size() && read_code(text, next, digits, 16, code)) {
    encoded = true;
    at = next;
    if (c == 'x')
      out.push_back(static_cast<char>(code & 0xFF));
    else
      append_utf8(out, code);
    return;
  }
  if (c == 'c' && at + 1 < text.size()) {
    encoded = true;
    const char key = text[at + 1];
    out.push_back(key == '?' ? '\x7f' : static_cast<char>(std::toupper(static_cast<unsigned char>(key)) & 0x1F));
    at += 2;
    if (key == '\\' && at < text.size() && text[at] == '\\') ++at;
    return;
  }
  out.push_back('\\');
  out.push_back(c);
  ++at;
}

/// What `echo WORDS` or `printf [%s] WORD` prints, where its words are plain text; nothing for any other command.
std::optional<std::string> plain_output(std::string_view source) {
  constexpr std::size_t kLongest = 256;  // bytes
  if (source.size() > kLongest || source.find_first_of("$`;&|<>(){}*?[]\\\n!#") != std::string_view::npos)
    return std::nullopt;
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = source.find_first_not_of(" \t", at)) != std::string_view::npos) {
    std::string word;
    if (source.substr(at, 2) == "~/") {
      word = "$HOME";
      ++at;
    } else if (source[at] == '~') {
      return std::nullopt;
    }
    while (at < source.size() && source[at] != ' ' && source[at] != '\t') {
      const char c = source[at++];
      if (c != '\'' && c != '"') {
        word.push_back(c);
        continue;
      }
      const std::size_t close = source.find(c, at);
      if (close == std::string_view::npos) return std::nullopt;
      word += source.substr(at, close - at);
      at = close + 1;
    }
    words.push_back(std::move(word));
  }
  if (words.size() < 2 || (words[0] != "echo" && words[0] != "printf")) return std::nullopt;
  SimpleCommand command;
  for (std::string& word : words) command.argv.emplace_back().text = std::move(word);
  std::optional<std::string> out = printed_text(command);
  while (out && out->ends_with('\n')) out->pop_back();
  return out;
}

class Reader {
 public:
  Reader(std::string_view source, const KnownVariables& variables) : source_(source), variables_(variables) {}

  Reading read() {
    while (at_ < source_.size()) read_next();
    return std::move(reading_);
  }

 private:
  void put(char c, Mark mark) { reading_.cells.push_back({c, mark}); }
  void put(std::string_view text, Mark mark) {
    for (const char c : text) put(c, mark);
  }

  void put_quoted(std::string_view text) {
    if (text.empty()) put('\0', Mark::nothing);
    put(text, Mark::quoted);
  }

  void read_next() {
    const char c = source_[at_];
    if (c == '\\') return read_escape();
    if (c == '\'') return read_single();
    if (c == '"') return read_double();
    if (c == '$' || c == '`') return read_dollar(false);
    if ((c == '<' || c == '>') && at_ + 1 < source_.size() && source_[at_ + 1] == '(') return read_raw();
    put(c, Mark::plain);
    ++at_;
  }

  void read_escape() {
    if (at_ + 1 >= source_.size()) {
      put('\\', Mark::quoted);
      ++at_;
      return;
    }
    const char next = source_[at_ + 1];
    if (next != '\n') {
      reading_.quoted = true;
      // `\rm` only skips an alias; a backslash further in hides the word from those who compare text.
      if (is_word_char(next) && at_ > 0) reading_.disguised = true;
      put(next, Mark::quoted);
    } else if (at_ > 0 && at_ + 2 < source_.size()) {
      reading_.disguised = true;
    }
    at_ += 2;
  }

  /// Quotes in the middle of a name (`w"h"o`, `r''m`) only hide it.
  void note_quotes(std::size_t begin, std::size_t end) {
    reading_.quoted = true;
    const bool before = begin > 0 && is_word_char(source_[begin - 1]);
    const bool after =
        end < source_.size() && (is_word_char(source_[end]) || source_[end] == '\'' || source_[end] == '"');
    const bool hidden_start = begin > 0 && (source_[begin - 1] == '\'' || source_[begin - 1] == '"');
    if (before || (after && (hidden_start || end - begin <= 3))) reading_.disguised = true;
  }

  void read_single() {
    const std::size_t close = source_.find('\'', at_ + 1);
    const std::size_t end = close == std::string_view::npos ? source_.size() : close;
    put_quoted(source_.substr(at_ + 1, end - at_ - 1));
    const std::size_t next = std::min(source_.size(), end + 1);
    note_quotes(at_, next);
    at_ = next;
  }

  void read_double() {
    const std::size_t begin = at_++;
    put('\0', Mark::nothing);
    while (at_ < source_.size() && source_[at_] != '"') {
      const char c = source_[at_];
      if (c == '\\' && at_ + 1 < source_.size()) {
        const char next = source_[at_ + 1];
        if (next == '\n') {
          at_ += 2;
          continue;
        }
        if (std::string_view("$`\"\\").find(next) == std::string_view::npos) put('\\', Mark::quoted);
        put(next, Mark::quoted);
        at_ += 2;
      } else if (c == '$' || c == '`') {
        read_dollar(true);
      } else {
        put(c, Mark::quoted);
        ++at_;
      }
    }
    at_ = std::min(source_.size(), at_ + 1);
    note_quotes(begin, at_);
  }

  void read_ansi() {
    const std::size_t end = skip_quoted(source_, at_);
    const std::size_t stop = end == std::string_view::npos ? source_.size() : end - 1;
    std::string out;
    bool encoded = false;
    std::size_t at = at_ + 2;
    const std::string_view body = source_.substr(0, stop);
    while (at < stop) {
      if (body[at] == '\\' && at + 1 < stop) {
        ++at;
        read_ansi_escape(body, at, out, encoded);
      } else {
        out.push_back(body[at++]);
      }
    }
    reading_.quoted = true;
    if (encoded) reading_.disguised = true;
    // A zero byte ends the text, as it would a C string.
    put_quoted(std::string_view(out).substr(0, out.find('\0')));
    at_ = std::min(source_.size(), stop + 1);
  }

  void read_raw() {
    const std::size_t end = skip_expansion(source_, at_);
    put(source_.substr(at_, end - at_), Mark::opaque);
    reading_.opaque = true;
    at_ = end;
  }

  /// `$(echo .env)`: what a plain `echo` or `printf` prints is certain.
  bool read_printed(bool in_quotes) {
    const std::size_t end = skip_expansion(source_, at_);
    const std::size_t open = source_[at_] == '`' ? 1 : 2;
    if (end < at_ + open + 1 || (source_[end - 1] != '`' && source_[end - 1] != ')')) return false;
    const auto text = plain_output(source_.substr(at_ + open, end - at_ - open - 1));
    if (!text) return false;
    at_ = end;
    put_value(*text, in_quotes);
    return true;
  }

  void read_dollar(bool in_quotes) {
    const bool substitutes = source_[at_] == '`' || source_.substr(at_).starts_with("$(");
    if (substitutes && read_printed(in_quotes)) return;
    if (source_[at_] == '`') return read_raw();
    const char next = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
    if (next == '\'' && !in_quotes) return read_ansi();
    if (next == '"' && !in_quotes) {
      ++at_;
      return read_double();
    }
    const std::size_t end = skip_expansion(source_, at_);
    if (end == at_ + 1) {
      put('$', Mark::quoted);
      ++at_;
      return;
    }
    const std::string_view raw = source_.substr(at_, end - at_);
    at_ = end;
    read_variable(raw, in_quotes);
  }

  void read_variable(std::string_view raw, bool in_quotes) {
    std::string_view name = raw.substr(1);
    if (name.size() > 2 && name.front() == '{' && name.back() == '}') name = name.substr(1, name.size() - 2);
    const bool simple = std::all_of(name.begin(), name.end(), is_word_char) || name == "@" || name == "*";
    if (simple && name == "IFS" && !variables_.contains(name)) {
      put(' ', in_quotes ? Mark::quoted : Mark::separator);
      reading_.disguised = true;
      return;
    }
    if (const auto known = simple ? variables_.find(name) : variables_.end(); known != variables_.end()) {
      if (known->second.size() == 1) return put_value(known->second.front(), in_quotes);
      if (known->second.size() > 1 && whole_word(raw)) {
        reading_.many = &known->second;
        reading_.expanded = true;
      }
    }
    reading_.opaque = true;
    if (simple) {
      put('$', Mark::opaque);
      put(name, Mark::opaque);
    } else {
      put(raw, Mark::opaque);
    }
  }

  bool whole_word(std::string_view raw) const {
    return raw.size() == source_.size() || (source_.size() == raw.size() + 2 && source_.front() == '"');
  }

  /// True for a character of `$IFS`, which the line may have set.
  bool splits(char c) {
    const auto set = variables_.find("IFS");
    if (set == variables_.end()) return c == ' ' || c == '\t' || c == '\n';
    if (set->second.size() == 1) return set->second.front().find(c) != std::string::npos;
    reading_.opaque = true;
    return false;
  }

  void put_value(std::string_view value, bool in_quotes) {
    reading_.expanded = true;
    // `$a$b`: a word put together from two variables hides what it is.
    if (value_end_ != 0 && value_end_ == reading_.cells.size()) reading_.disguised = true;
    for (const char c : value) {
      // A value taken from another variable that stays unknown (`$HOME/bin`) is unknown here too.
      if (c == '$' || c == '`') reading_.opaque = true;
      put(c, in_quotes ? Mark::quoted : splits(c) ? Mark::separator : Mark::opaque);
    }
    value_end_ = reading_.cells.size();
  }

  std::string_view source_;
  const KnownVariables& variables_;
  std::size_t at_ = 0;
  std::size_t value_end_ = 0;  // where the value of the last known variable ends in the cells
  Reading reading_;
};

/// Cells between unquoted separators.
std::vector<Cells> split_cells(const Cells& cells) {
  std::vector<Cells> out(1);
  for (const Cell& cell : cells) {
    if (cell.mark != Mark::separator) {
      out.back().push_back(cell);
    } else if (!out.back().empty()) {
      out.emplace_back();
    }
  }
  if (out.size() > 1 && out.back().empty()) out.pop_back();
  return out;
}

/// A word too long to expand may stand for anything if it holds a brace.
BraceExpansion expand_bounded(const Cells& cells) {
  if (cells.size() <= kMaxBraceCells) return expand_braces(cells);
  const bool braces = std::any_of(cells.begin(), cells.end(),
                                  [](const Cell& cell) { return cell.mark == Mark::plain && cell.c == '{'; });
  return {{cells}, !braces};
}

Word to_word(const Cells& cells, const Reading& reading, Span span) {
  Word word;
  word.text.reserve(cells.size());
  for (const Cell& cell : cells) {
    if (cell.mark == Mark::nothing) continue;
    word.text.push_back(cell.c);
    if (cell.mark == Mark::plain && (cell.c == '*' || cell.c == '?' || cell.c == '[')) word.glob = true;
  }
  word.tilde = !cells.empty() && cells.front().c == '~' && cells.front().mark == Mark::plain;
  word.opaque = reading.opaque;
  word.quoted = reading.quoted;
  word.disguised = reading.disguised;
  word.expanded = reading.expanded;
  word.span = span;
  return word;
}

bool is_plain_source(std::string_view source) {
  return std::none_of(source.begin(), source.end(), [](char c) {
    return c == '\\' || c == '\'' || c == '"' || c == '$' || c == '`' || c == '{' || c == '<' || c == '>';
  });
}

std::vector<std::string_view> blank_parts(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = text.find_first_not_of(" \t\n"); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
    out.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(" \t\n", end);
  }
  return out;
}

Word plain_word(std::string_view source, Span span) {
  Word word;
  word.text = source;
  word.glob = source.find_first_of("*?[") != std::string_view::npos;
  word.tilde = source.starts_with('~');
  word.span = span;
  return word;
}

constexpr int kMaxNesting = 48;

std::size_t skip_expansion_at(std::string_view text, std::size_t at, int depth);

std::size_t skip_quoted_at(std::string_view text, std::size_t at, int depth) {
  const bool ansi = text[at] == '$';
  const std::size_t open = ansi ? at + 1 : at;
  if (open >= text.size()) return std::string_view::npos;
  const char quote = text[open];
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (text[i] == quote) return i + 1;
    if (quote == '\'' && !ansi) continue;
    if (text[i] == '\\')
      ++i;
    else if (quote == '"' && (text[i] == '`' || text[i] == '$'))
      i = skip_expansion_at(text, i, depth) - 1;
  }
  return std::string_view::npos;
}

/// The index after the bracket that closes the one at `open`; quotes and nested expansions are stepped over.
std::size_t skip_brackets(std::string_view text, std::size_t open, char left, char right, int depth) {
  if (depth > kMaxNesting) return text.size();
  int level = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
    } else if (c == '\'' || c == '"') {
      const std::size_t end = skip_quoted_at(text, i, depth + 1);
      if (end == std::string_view::npos) return text.size();
      i = end - 1;
    } else if (c == '`' && i != open) {
      i = skip_expansion_at(text, i, depth + 1) - 1;
    } else if (c == left) {
      ++level;
    } else if (c == right && --level == 0) {
      return i + 1;
    }
  }
  return text.size();
}

std::size_t skip_backquoted(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '`')
      return i + 1;
  }
  return text.size();
}

std::size_t skip_expansion_at(std::string_view text, std::size_t at, int depth) {
  if (text[at] == '`') return skip_backquoted(text, at);
  if (at + 1 >= text.size()) return at + 1;
  const char next = text[at + 1];
  if (next == '(') return skip_brackets(text, at + 1, '(', ')', depth);
  if (next == '{') return skip_brackets(text, at + 1, '{', '}', depth);
  if (next == '[') return skip_brackets(text, at + 1, '[', ']', depth);
  if (std::isdigit(static_cast<unsigned char>(next)) != 0 ||
      std::string_view("@*#?-$!").find(next) != std::string_view::npos) {
    return at + 2;
  }
  std::size_t end = at + 1;
  while (end < text.size() && is_word_char(text[end])) ++end;
  return end;
}

}  // namespace

std::size_t skip_quoted(std::string_view text, std::size_t at) {
  return skip_quoted_at(text, at, 0);
}

std::size_t skip_expansion(std::string_view text, std::size_t at) {
  return skip_expansion_at(text, at, 0);
}

std::vector<Word> resolve_words(std::string_view source, std::size_t offset, const KnownVariables& variables) {
  const Span span{offset, offset + source.size()};
  if (is_plain_source(source)) return {plain_word(source, span)};
  const Reading reading = Reader(source, variables).read();
  std::vector<Word> words;
  if (reading.many != nullptr) {
    const bool quoted = source.front() == '"';
    for (const std::string& value : *reading.many) {
      for (const std::string_view part : quoted ? std::vector<std::string_view>{value} : blank_parts(value)) {
        words.push_back(plain_word(part, span));
        words.back().expanded = true;
        words.back().tilde = false;
        words.back().opaque = part.find_first_of("$`") != std::string_view::npos;
      }
    }
    return words;
  }
  const BraceExpansion alternatives = expand_bounded(reading.cells);
  for (const Cells& cells : alternatives.words) {
    for (const Cells& part : split_cells(cells)) {
      // Expansions that leave nothing leave no word.
      if (!part.empty()) words.push_back(to_word(part, reading, span));
    }
  }
  if (!alternatives.complete && !words.empty()) words.front().opaque = true;
  if (alternatives.words.size() > 1 || words.size() > 1) {
    for (Word& word : words) word.disguised = true;
  }
  return words;
}

std::size_t skip_word(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (c == '\\') {
      at = std::min(at + 2, text.size());
    } else if (c == '\'' || c == '"' || (c == '$' && next == '\'')) {
      at = skip_quoted(text, at);
      if (at == std::string_view::npos) return at;
    } else if (c == '$' || c == '`' || ((c == '<' || c == '>') && next == '(')) {
      at = skip_expansion(text, at);
    } else if (std::string_view(" \t\n;|&<>()").find(c) != std::string_view::npos) {
      return at;
    } else {
      ++at;
    }
  }
  return at;
}

Word resolve_here_document(std::string_view body, bool literal) {
  Word word;
  word.quoted = literal;
  if (literal) {
    word.text = body;
    return word;
  }
  for (std::size_t at = 0; at < body.size();) {
    const char c = body[at];
    const char next = at + 1 < body.size() ? body[at + 1] : '\0';
    if (c == '\\' && next == '\n') {
      at += 2;
    } else if (c == '\\' && next != '\0' && std::string_view("$`\\").find(next) != std::string_view::npos) {
      word.text.push_back(next);
      at += 2;
    } else if (c == '$' || c == '`') {
      const std::size_t end = skip_expansion(body, at);
      word.opaque = word.opaque || end > at + 1;
      word.text += body.substr(at, end - at);
      at = end;
    } else {
      word.text.push_back(c);
      ++at;
    }
  }
  return word;
}

Word resolve_one(std::string_view source, std::size_t offset, const KnownVariables& variables) {
  const Span span{offset, offset + source.size()};
  if (is_plain_source(source)) return plain_word(source, span);
  const Reading reading = Reader(source, variables).read();
  return to_word(reading.cells, reading, span);
}

}  // namespace escrow::engine
