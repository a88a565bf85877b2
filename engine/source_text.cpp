#include "engine/source_text.h"

#include <algorithm>
#include <array>

namespace escrow::engine {
namespace {

constexpr LanguageMask kSlashes = Language::c | Language::java | Language::kotlin | Language::csharp |
                                  Language::javascript | Language::go | Language::rust | Language::php | Language::css |
                                  Language::swift | Language::json | Language::hcl;
constexpr LanguageMask kHashes = Language::python | Language::ruby | Language::perl | Language::shell |
                                 Language::powershell | Language::yaml | Language::ini | Language::dockerfile |
                                 Language::makefile | Language::elixir | Language::r | Language::php | Language::hcl;
constexpr LanguageMask kDashes = Language::sql | Language::lua;
constexpr LanguageMask kMarkup = Language::html | Language::xml;
constexpr LanguageMask kTriples = Language::python | Language::elixir | Language::kotlin | Language::swift;
constexpr LanguageMask kBackticks = Language::javascript | Language::go;
/// A quote in prose is an apostrophe, in YAML, INI and markup too often one.
constexpr LanguageMask kNoQuotes = Language::prose | Language::html | Language::xml | Language::other;
/// `'` is a lifetime or a character, and never holds a text worth telling apart.
constexpr LanguageMask kNoSingleQuotes = Language::rust | Language::yaml | Language::ini;

bool is_in(Language language, LanguageMask mask) {
  return (bit(language) & mask) != 0;
}

/// The next byte that can begin a string or a comment; most of a line is neither.
std::size_t next_mark(std::string_view line, std::size_t at) {
  static constexpr auto kMarks = [] {
    std::array<bool, 256> marks{};
    for (const char c : {'/', '#', '-', '<', '"', '\'', '`'}) marks[static_cast<unsigned char>(c)] = true;
    return marks;
  }();
  while (at < line.size() && !kMarks[static_cast<unsigned char>(line[at])]) ++at;
  return at;
}

void fill(KindMask& mask, std::size_t from, std::size_t to, TextKind kind) {
  std::fill(mask.begin() + static_cast<std::ptrdiff_t>(from), mask.begin() + static_cast<std::ptrdiff_t>(to),
            static_cast<char>(kind));
}

}  // namespace

SourceText::SourceText(Language language) : language_(language) {}

KindMask SourceText::classify(std::string_view line) {
  KindMask mask(line.size(), static_cast<char>(TextKind::code));
  std::size_t at = continue_block(line, mask);
  // The inside of a block comment whose opening the hunk does not show.
  const std::size_t first = line.find_first_not_of(" \t");
  if (at == 0 && first != std::string_view::npos && is_in(language_, kSlashes) && line[first] == '*' &&
      (first + 1 == line.size() || line[first + 1] == ' ' || line[first + 1] == '/')) {
    const std::size_t close = line.find("*/");
    at = close == std::string_view::npos ? line.size() : close + 2;
    fill(mask, 0, at, TextKind::comment);
  }
  while ((at = next_mark(line, at)) < line.size()) at = read_token(line, at, mask);
  return mask;
}

std::size_t SourceText::continue_block(std::string_view line, KindMask& mask) {
  if (open_close_.empty()) return 0;
  const std::size_t close = line.find(open_close_);
  const std::size_t end = close == std::string_view::npos ? line.size() : close + open_close_.size();
  fill(mask, 0, end, open_kind_);
  if (close != std::string_view::npos) open_close_ = {};
  return end;
}

std::size_t SourceText::open_block(std::string_view line, std::size_t at, std::string_view open, Block block,
                                   KindMask& mask) {
  const std::size_t close = line.find(block.close, at + open.size());
  const std::size_t end = close == std::string_view::npos ? line.size() : close + block.close.size();
  fill(mask, at, end, block.kind);
  if (close == std::string_view::npos) {
    open_close_ = block.close;
    open_kind_ = block.kind;
  }
  return end;
}

bool SourceText::starts_line_comment(std::string_view line, std::size_t at) const {
  const std::string_view rest = line.substr(at);
  // `http://` is no comment.
  if (is_in(language_, kSlashes) && rest.starts_with("//")) return at == 0 || line[at - 1] != ':';
  if (is_in(language_, kDashes) && rest.starts_with("--")) return true;
  if (!is_in(language_, kHashes) || rest[0] != '#') return false;
  // `$#`, `${x#y}`, `a#b` are no comments; a hash at the start or after a blank is one.
  return at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t' || line[at - 1] == ';';
}

std::size_t SourceText::read_token(std::string_view line, std::size_t at, KindMask& mask) {
  const std::string_view rest = line.substr(at);
  if (starts_line_comment(line, at)) {
    fill(mask, at, line.size(), TextKind::comment);
    return line.size();
  }
  if ((is_in(language_, kSlashes) || language_ == Language::sql) && rest.starts_with("/*")) {
    return open_block(line, at, "/*", {"*/", TextKind::comment}, mask);
  }
  if (is_in(language_, kMarkup) && rest.starts_with("<!--")) {
    return open_block(line, at, "<!--", {"-->", TextKind::comment}, mask);
  }
  for (const std::string_view triple : {"\"\"\"", "'''"}) {
    if (!is_in(language_, kTriples) || !rest.starts_with(triple)) continue;
    // A triple quote that starts a line is a docstring far more often than a value.
    const bool leads = line.find_first_not_of(" \t") == at;
    return open_block(line, at, triple, {triple, leads ? TextKind::comment : TextKind::string}, mask);
  }
  if (is_in(language_, kBackticks) && rest[0] == '`') return open_block(line, at, "`", {"`", TextKind::string}, mask);
  const bool quote = rest[0] == '"' || (rest[0] == '\'' && !is_in(language_, kNoSingleQuotes));
  if (quote && !is_in(language_, kNoQuotes)) return read_string(line, at, mask);
  return at + 1;
}

std::size_t SourceText::read_string(std::string_view line, std::size_t at, KindMask& mask) const {
  const char quote = line[at];
  std::size_t end = at + 1;
  while (end < line.size() && line[end] != quote) end += line[end] == '\\' ? 2 : 1;
  end = std::min(end + 1, line.size());
  fill(mask, at, end, TextKind::string);
  return end;
}

}  // namespace escrow::engine
