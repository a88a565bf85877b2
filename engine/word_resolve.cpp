#include "engine/word_resolve.h"

#include <algorithm>
#include <cctype>
#include <charconv>

// A word is read into cells, one a resulting character, each remembering how it came to be. Brace expansion and
// splitting then work on cells, so that a quoted `{` or blank is never taken for syntax. An expansion that cannot be
// resolved becomes cells that carry its source text.

namespace escrow::engine {
namespace {

constexpr std::size_t kMaxWordsOfExpansion = 512;
constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxBraceCells = 1024;

enum class Mark : unsigned char { plain, quoted, opaque, separator };

struct Cell {
  char c;
  Mark mark;
};
using Cells = std::vector<Cell>;

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
    out.push_back(static_cast<char>(text[at + 1] & 0x1F));
    at += 2;
    return;
  }
  out.push_back('\\');
  out.push_back(c);
  ++at;
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
    put(source_.substr(at_ + 1, end - at_ - 1), Mark::quoted);
    const std::size_t next = std::min(source_.size(), end + 1);
    note_quotes(at_, next);
    at_ = next;
  }

  void read_double() {
    const std::size_t begin = at_++;
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
    put(out, Mark::quoted);
    at_ = std::min(source_.size(), stop + 1);
  }

  void read_raw() {
    const std::size_t end = skip_expansion(source_, at_);
    put(source_.substr(at_, end - at_), Mark::opaque);
    reading_.opaque = true;
    at_ = end;
  }

  void read_dollar(bool in_quotes) {
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
    const bool simple = std::all_of(name.begin(), name.end(), is_word_char);
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

  void put_value(std::string_view value, bool in_quotes) {
    reading_.expanded = true;
    for (const char c : value) {
      // A value taken from another variable that stays unknown (`$HOME/bin`) is unknown here too.
      if (c == '$' || c == '`') reading_.opaque = true;
      const bool blank = c == ' ' || c == '\t' || c == '\n';
      put(c, in_quotes ? Mark::quoted : blank ? Mark::separator : Mark::opaque);
    }
  }

  std::string_view source_;
  const KnownVariables& variables_;
  std::size_t at_ = 0;
  Reading reading_;
};

/// The cells of `{…}` at `open`: the end (index of `}`) and the commas at its own depth; npos if it is not a group.
std::size_t find_group(const Cells& cells, std::size_t open, std::vector<std::size_t>& commas) {
  int depth = 0;
  for (std::size_t i = open; i < cells.size(); ++i) {
    if (cells[i].mark != Mark::plain) continue;
    if (cells[i].c == '{') ++depth;
    if (cells[i].c == ',' && depth == 1) commas.push_back(i);
    if (cells[i].c == '}' && --depth == 0) return i;
  }
  return std::string::npos;
}

/// `{a..c}` and `{1..9}` (bash manual, "Brace Expansion").
bool expand_range(const Cells& cells, std::size_t open, std::size_t close, std::vector<Cells>& parts) {
  std::string body;
  for (std::size_t i = open + 1; i < close; ++i) {
    if (cells[i].mark != Mark::plain) return false;
    body.push_back(cells[i].c);
  }
  const std::size_t dots = body.find("..");
  if (dots == std::string::npos || dots == 0 || dots + 2 >= body.size()) return false;
  const std::string from = body.substr(0, dots), to = body.substr(dots + 2);
  int a = 0, b = 0;
  const bool letters = from.size() == 1 && to.size() == 1 && std::isalpha(static_cast<unsigned char>(from[0])) != 0 &&
                       std::isalpha(static_cast<unsigned char>(to[0])) != 0;
  if (letters) {
    a = static_cast<unsigned char>(from[0]);
    b = static_cast<unsigned char>(to[0]);
  } else {
    const auto read = [](const std::string& text, int& value) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      return error == std::errc() && end == text.data() + text.size();
    };
    if (!read(from, a) || !read(to, b) || std::abs(static_cast<long>(a) - b) > static_cast<long>(kMaxWordsOfExpansion))
      return false;
  }
  const int step = a <= b ? 1 : -1;
  for (int i = a;; i += step) {
    Cells part;
    const std::string text = letters ? std::string(1, static_cast<char>(i)) : std::to_string(i);
    for (const char c : text) part.push_back({c, Mark::plain});
    parts.push_back(std::move(part));
    if (i == b) return true;
  }
}

void expand_braces(const Cells& cells, std::vector<Cells>& out, int depth);

/// prefix × parts × (suffix expanded).
void combine(const Cells& cells, std::size_t open, std::size_t close, const std::vector<Cells>& parts,
             std::vector<Cells>& out, int depth) {
  std::vector<Cells> suffixes;
  expand_braces(Cells(cells.begin() + static_cast<std::ptrdiff_t>(close) + 1, cells.end()), suffixes, depth + 1);
  for (const Cells& part : parts) {
    std::vector<Cells> middles;
    expand_braces(part, middles, depth + 1);
    for (const Cells& middle : middles) {
      for (const Cells& suffix : suffixes) {
        if (out.size() >= kMaxWordsOfExpansion) return;
        Cells word(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(open));
        word.insert(word.end(), middle.begin(), middle.end());
        word.insert(word.end(), suffix.begin(), suffix.end());
        out.push_back(std::move(word));
      }
    }
  }
}

void expand_braces(const Cells& cells, std::vector<Cells>& out, int depth) {
  if (depth < kMaxDepth && cells.size() <= kMaxBraceCells) {
    for (std::size_t open = 0; open < cells.size(); ++open) {
      if (cells[open].mark != Mark::plain || cells[open].c != '{') continue;
      std::vector<std::size_t> commas;
      const std::size_t close = find_group(cells, open, commas);
      if (close == std::string::npos) break;
      std::vector<Cells> parts;
      if (commas.empty()) {
        if (!expand_range(cells, open, close, parts)) continue;
      } else {
        commas.push_back(close);
        std::size_t from = open + 1;
        for (const std::size_t comma : commas) {
          parts.emplace_back(cells.begin() + static_cast<std::ptrdiff_t>(from),
                             cells.begin() + static_cast<std::ptrdiff_t>(comma));
          from = comma + 1;
        }
      }
      return combine(cells, open, close, parts, out, depth);
    }
  }
  out.push_back(cells);
}

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

Word to_word(const Cells& cells, const Reading& reading, Span span) {
  Word word;
  word.text.reserve(cells.size());
  for (const Cell& cell : cells) {
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
    for (const std::string& value : *reading.many) {
      words.push_back(plain_word(value, span));
      words.back().expanded = true;
      words.back().opaque = value.find('$') != std::string::npos;
    }
    return words;
  }
  std::vector<Cells> alternatives;
  expand_braces(reading.cells, alternatives, 0);
  // Too long to expand: a brace group in it may stand for anything.
  const bool unexpanded = reading.cells.size() > kMaxBraceCells &&
                          std::any_of(reading.cells.begin(), reading.cells.end(),
                                      [](const Cell& cell) { return cell.mark == Mark::plain && cell.c == '{'; });
  for (const Cells& cells : alternatives) {
    for (const Cells& part : split_cells(cells)) words.push_back(to_word(part, reading, span));
  }
  if (unexpanded) words.front().opaque = true;
  if (alternatives.size() > 1 || words.size() > 1) {
    for (Word& word : words) word.disguised = true;
  }
  return words;
}

Word resolve_one(std::string_view source, std::size_t offset, const KnownVariables& variables) {
  const Span span{offset, offset + source.size()};
  if (is_plain_source(source)) return plain_word(source, span);
  const Reading reading = Reader(source, variables).read();
  return to_word(reading.cells, reading, span);
}

}  // namespace escrow::engine
