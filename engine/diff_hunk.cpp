#include "engine/diff_hunk.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace escrow::engine {
namespace {

struct Range {
  std::uint32_t start = 0, count = 1;
};

struct HunkHeader {
  std::vector<Range> olds;  // one a parent
  Range now;
  std::string_view section;
};

bool read_number(std::string_view& text, std::uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  // Half the range keeps every sum of start and count free of overflow.
  if (error != std::errc{} || out > 0x7fffffff) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::optional<Range> read_range(std::string_view& text, char mark) {
  if (!text.starts_with(mark)) return std::nullopt;
  text.remove_prefix(1);
  Range range;
  if (!read_number(text, range.start)) return std::nullopt;
  if (!text.starts_with(',')) return range;
  text.remove_prefix(1);
  if (!read_number(text, range.count)) return std::nullopt;
  return range;
}

std::size_t count_ats(std::string_view line) {
  return std::min(line.find_first_not_of('@'), line.size());
}

std::optional<HunkHeader> read_header(std::string_view line) {
  const std::size_t ats = count_ats(line);
  std::string_view rest = without_cr(line).substr(ats);
  HunkHeader header;
  for (std::size_t parent = 1; parent < ats; ++parent) {
    if (!rest.starts_with(' ')) return std::nullopt;
    rest.remove_prefix(1);
    const auto range = read_range(rest, '-');
    if (!range) return std::nullopt;
    header.olds.push_back(*range);
  }
  if (!rest.starts_with(' ')) return std::nullopt;
  rest.remove_prefix(1);
  const auto range = read_range(rest, '+');
  if (!range || !rest.starts_with(' ')) return std::nullopt;
  header.now = *range;
  rest.remove_prefix(1);
  if (count_ats(rest) != ats) return std::nullopt;
  rest.remove_prefix(ats);
  header.section = rest.starts_with(' ') ? rest.substr(1) : rest;
  return header;
}

/// Reads the body of one hunk, counting down what the header promised for each parent and for the result.
class BodyReader {
 public:
  BodyReader(const HunkHeader& header, Hunk& hunk, const IssueSink& report)
      : hunk_(hunk), report_(report), columns_(header.olds.size()) {
    for (const Range& range : header.olds) olds_left_.push_back(range.count);
    new_left_ = header.now.count;
    // A count of zero means "after line N".
    old_line_ = hunk.old_start + (hunk.old_count == 0 ? 1 : 0);
    new_line_ = hunk.new_start + (hunk.new_count == 0 ? 1 : 0);
  }

  void read(LineCursor& cursor) {
    hunk_.lines.reserve(std::min<std::size_t>(std::size_t{hunk_.old_count} + hunk_.new_count, 4096));
    while (!is_complete()) {
      if (cursor.at_end()) return report_(cursor.number(), "the diff ends in the middle of a hunk");
      if (!read_line(cursor)) return report_(cursor.number(), "this line does not belong in a hunk");
    }
    read_eof_notes(cursor);
    read_excess(cursor);
    anchor_trailing_removals();
  }

 private:
  bool is_complete() const {
    return new_left_ == 0 && std::all_of(olds_left_.begin(), olds_left_.end(), [](auto left) { return left == 0; });
  }

  bool read_line(LineCursor& cursor) {
    const std::string_view line = cursor.peek();
    if (line.starts_with('\\')) return read_eof_note(cursor);
    if (line.empty() || line == "\r") {
      cursor.next();
      add_line(std::string(columns_, ' '), line, cursor);
      hunk_.lines.back().bare = true;
      return true;
    }
    const std::string_view marks = line.substr(0, columns_);
    if (marks.size() < columns_ || marks.find_first_not_of(" +-") != std::string_view::npos) return false;
    cursor.next();
    add_line(marks, line.substr(columns_), cursor);
    return true;
  }

  void add_line(std::string_view marks, std::string_view text, const LineCursor& cursor) {
    const bool removed = marks.find('-') != std::string_view::npos;
    const bool added = !removed && marks.find('+') != std::string_view::npos;
    DiffLine line;
    line.kind = removed ? LineKind::removed : added ? LineKind::added : LineKind::context;
    line.text = text;
    const bool in_first_parent = marks[0] == '-' || (marks[0] == ' ' && !removed);
    line.old_line = in_first_parent ? old_line_++ : 0;
    line.new_line = removed ? new_line_ : new_line_++;
    count_down(marks, removed, cursor);
    if (columns_ > 1) hunk_.marks += marks;
    hunk_.lines.push_back(std::move(line));
  }

  /// A removed line belongs to the parents marked `-`; any other line to the result and the parents left blank.
  void count_down(std::string_view marks, bool removed, const LineCursor& cursor) {
    const char present = removed ? '-' : ' ';
    bool excess = !removed && new_left_ == 0;
    if (!removed && new_left_ > 0) --new_left_;
    for (std::size_t i = 0; i < columns_; ++i) {
      if (marks[i] != present) continue;
      if (olds_left_[i] == 0) {
        excess = true;
      } else {
        --olds_left_[i];
      }
    }
    if (excess && !excess_reported_) {
      report_(cursor.number() - 1, "the hunk has more lines than its header says");
      excess_reported_ = true;
    }
  }

  bool read_eof_note(LineCursor& cursor) {
    const std::string_view note = cursor.peek();
    if (hunk_.lines.empty() || hunk_.lines.back().no_newline || note.size() < 2) return false;
    const std::string stored = note == kNoNewline ? std::string() : std::string(note);
    if (noted_ && stored != hunk_.eof_note) return false;
    noted_ = true;
    hunk_.eof_note = stored;
    hunk_.lines.back().no_newline = true;
    cursor.next();
    return true;
  }

  void read_eof_notes(LineCursor& cursor) {
    if (cursor.at_end() || !cursor.peek().starts_with('\\')) return;
    if (!read_eof_note(cursor)) report_(cursor.number(), "a no-newline mark without a line before it");
  }

  /// Lines that still look like a hunk's though the header's counts are used up: kept, so that they are scored.
  void read_excess(LineCursor& cursor) {
    while (!cursor.at_end() && is_excess(cursor)) {
      if (!read_line(cursor)) return;
    }
  }

  bool is_excess(const LineCursor& cursor) const {
    const std::string_view line = cursor.peek();
    if (line.empty() || std::string_view(" +-").find(line[0]) == std::string_view::npos) return false;
    const std::string_view signature = without_cr(line);
    if (signature == "-- " || signature == "--") return false;  // what `git format-patch` ends a mail with
    return !(line.starts_with("--- ") && cursor.peek_second().starts_with("+++ "));
  }

  /// A removal at the end of the file stands at the last line that is left.
  void anchor_trailing_removals() {
    if (hunk_.new_count == 0) return;
    const std::uint32_t last = hunk_.new_start + hunk_.new_count - 1;
    for (auto line = hunk_.lines.rbegin(); line != hunk_.lines.rend() && line->kind == LineKind::removed; ++line) {
      line->new_line = std::min(line->new_line, last);
    }
  }

  Hunk& hunk_;
  const IssueSink& report_;
  std::size_t columns_;
  std::vector<std::uint32_t> olds_left_;
  std::uint32_t new_left_ = 0;
  std::uint32_t old_line_ = 0, new_line_ = 0;
  bool excess_reported_ = false;
  bool noted_ = false;
};

}  // namespace

bool opens_hunk(std::string_view line) {
  const std::size_t ats = count_ats(line);
  return ats >= 2 && line.substr(ats).starts_with(" -");
}

Hunk read_hunk(LineCursor& cursor, const IssueSink& report) {
  Hunk hunk;
  const std::size_t number = cursor.number();
  hunk.raw = cursor.next();
  const auto header = read_header(hunk.raw);
  if (!header) {
    report(number, "the hunk header cannot be read");
    return hunk;
  }
  hunk.old_start = header->olds[0].start;
  hunk.old_count = header->olds[0].count;
  hunk.new_start = header->now.start;
  hunk.new_count = header->now.count;
  hunk.section = header->section;
  BodyReader(*header, hunk, report).read(cursor);
  return hunk;
}

}  // namespace escrow::engine
