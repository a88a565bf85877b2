#include <algorithm>
#include <utility>

#include "engine/diff.h"
#include "engine/diff_header.h"
#include "engine/diff_hunk.h"
#include "engine/line_cursor.h"

// The file is read as a sequence of file sections with free text between them, as `git apply` does. A section starts at
// a `diff --git|--cc|--combined` line or at a `---`/`+++` pair; all else is kept as text, so that nothing is lost on
// printing, and is never mistaken for a change.

namespace escrow::engine {
namespace {

constexpr std::size_t kMaxIssues = 100;

bool is_git_header(std::string_view line) {
  return line.starts_with("diff --git ") || line.starts_with("diff --cc ") || line.starts_with("diff --combined ");
}

bool is_binary_stub(std::string_view line) {
  return line.starts_with("Binary files ") && without_cr(line).ends_with(" differ");
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// What `git log` and `git format-patch` put before a change, which may be empty.
bool opens_commit(std::string_view line) {
  for (const std::string_view word : {"commit ", "From "}) {
    if (!line.starts_with(word) || line.size() < word.size() + 40) continue;
    const std::string_view hash = line.substr(word.size(), 40);
    if (hash.find_first_not_of("0123456789abcdef") == std::string_view::npos) return true;
  }
  return false;
}

class DiffParser {
 public:
  explicit DiffParser(std::string_view text) : cursor_(text) {
    out_.patch.unterminated = !text.empty() && text.back() != '\n';
  }

  ParsedPatch parse() {
    while (!cursor_.at_end()) parse_section();
    keep_trailing_text();
    return std::move(out_);
  }

 private:
  void parse_section() {
    const std::string_view line = cursor_.peek();
    if (is_git_header(line)) return parse_git_file();
    if (opens_sides()) return parse_plain_file();
    if (is_binary_stub(line)) return parse_plain_binary();
    if (opens_hunk(line)) return parse_stray_hunk();
    if (line.starts_with("*** ") && cursor_.peek_second().starts_with("--- ")) {
      report(cursor_.number(), "context diffs are not read: make a unified one (`diff -u`)");
    }
    text_.emplace_back(cursor_.next());
  }

  bool opens_sides() const { return cursor_.peek().starts_with("--- ") && cursor_.peek_second().starts_with("+++ "); }

  /// The text read since the last file goes before this one.
  FilePatch start_file() {
    FilePatch file;
    (out_.patch.files.empty() ? out_.patch.preamble : file.raw_header) = std::exchange(text_, {});
    return file;
  }

  void parse_git_file() {
    const std::size_t number = cursor_.number();
    FilePatch file = start_file();
    HeaderFacts facts;
    file.combined = !cursor_.peek().starts_with("diff --git ");
    read_diff_line(keep_header_line(file), facts);
    while (!cursor_.at_end() && read_extended_line(cursor_.peek(), facts)) keep_header_line(file);
    if (opens_sides()) read_sides(file, facts);
    settle(number, file, facts);
    parse_body(file);
    const bool has_content = !file.hunks.empty() || file.binary;
    if (!has_content && is_content_missing(facts, file)) report(number, "the header promises a change that is missing");
    out_.patch.files.push_back(std::move(file));
  }

  /// A file that only appears, disappears, moves or changes its mode needs no hunk; different blobs do.
  static bool is_content_missing(const HeaderFacts& facts, const FilePatch& file) {
    if (facts.minus) return true;
    if (file.status == FileStatus::added || file.status == FileStatus::deleted) return false;  // an empty file
    return facts.contents_differ && !file.combined;
  }

  void parse_plain_file() {
    const std::size_t number = cursor_.number();
    FilePatch file = start_file();
    HeaderFacts facts;
    read_sides(file, facts);
    settle(number, file, facts);
    parse_body(file);
    if (file.hunks.empty()) report(number, "no hunk follows the `---` and `+++` lines");
    out_.patch.files.push_back(std::move(file));
  }

  /// `Binary files a/x and b/x differ` of a plain `diff -r`.
  void parse_plain_binary() {
    FilePatch file = start_file();
    std::string_view names = without_cr(cursor_.peek());
    names.remove_prefix(std::string_view("Binary files ").size());
    names.remove_suffix(std::string_view(" differ").size());
    HeaderFacts facts;
    const std::size_t gap = names.find(" and ");
    if (gap != std::string_view::npos) {
      facts.minus = names.substr(0, gap);
      facts.plus = names.substr(gap + 5);
    }
    settle(cursor_.number(), file, facts);
    read_stub(file);
    out_.patch.files.push_back(std::move(file));
  }

  void parse_stray_hunk() {
    report(cursor_.number(), "a hunk without the name of a file before it");
    FilePatch file = start_file();
    parse_body(file);
    out_.patch.files.push_back(std::move(file));
  }

  std::string_view keep_header_line(FilePatch& file) {
    const std::string_view line = cursor_.next();
    file.raw_header.emplace_back(line);
    return line;
  }

  void read_sides(FilePatch& file, HeaderFacts& facts) {
    facts.minus = read_name_line(keep_header_line(file));
    facts.plus = read_name_line(keep_header_line(file));
    if (!facts.minus || !facts.plus) facts.malformed = true;
  }

  void settle(std::size_t number, FilePatch& file, const HeaderFacts& facts) {
    std::string trouble = settle_header(facts, file);
    if (!trouble.empty()) report(number, std::move(trouble));
  }

  void parse_body(FilePatch& file) {
    const IssueSink sink = [this](std::size_t line, std::string message) { report(line, std::move(message)); };
    if (!cursor_.at_end() && is_binary_stub(cursor_.peek())) return read_stub(file);
    if (!cursor_.at_end() && without_cr(cursor_.peek()) == "GIT binary patch") return read_binary_patch(file);
    while (!cursor_.at_end() && opens_hunk(cursor_.peek())) file.hunks.push_back(read_hunk(cursor_, sink));
  }

  void read_stub(FilePatch& file) {
    file.binary = true;
    keep_binary_line(file);
  }

  void keep_binary_line(FilePatch& file) {
    file.raw_binary += cursor_.next();
    file.raw_binary += '\n';
  }

  /// One or two blocks (forward, reverse), each a `literal N` or `delta N` line, base-85 lines, an empty line.
  void read_binary_patch(FilePatch& file) {
    file.binary = true;
    keep_binary_line(file);
    if (!opens_binary_block()) return report(cursor_.number(), "`GIT binary patch` without `literal` or `delta`");
    for (int block = 0; block < 2 && opens_binary_block(); ++block) {
      keep_binary_line(file);
      while (!cursor_.at_end() && !is_blank(cursor_.peek()) && !is_git_header(cursor_.peek())) keep_binary_line(file);
      if (cursor_.at_end()) return;
      if (!is_blank(cursor_.peek())) return report(cursor_.number(), "a binary block does not end");
      keep_binary_line(file);
    }
  }

  bool opens_binary_block() const {
    const std::string_view line = cursor_.peek();
    return line.starts_with("literal ") || line.starts_with("delta ");
  }

  void keep_trailing_text() {
    const auto first = std::find_if_not(text_.begin(), text_.end(), [](const auto& line) { return is_blank(line); });
    if (out_.patch.files.empty() && first != text_.end() && !opens_commit(*first)) {
      report(1, "this is no unified diff: no file header was found");
    }
    (out_.patch.files.empty() ? out_.patch.preamble : out_.patch.trailer) = std::move(text_);
  }

  void report(std::size_t line, std::string message) {
    if (out_.issues.size() < kMaxIssues) out_.issues.push_back({line, std::move(message)});
  }

  LineCursor cursor_;
  ParsedPatch out_;
  std::vector<std::string> text_;  // free text since the last file
};

}  // namespace

ParsedPatch parse_diff(std::string_view text) {
  return DiffParser(text).parse();
}

}  // namespace escrow::engine
