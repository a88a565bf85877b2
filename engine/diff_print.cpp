#include <string>

#include "engine/diff.h"
#include "engine/quoted_path.h"

// Printing gives back what was read: header lines and hunk headers are kept as they stood, and only a patch made in
// memory gets canonical ones.

namespace escrow::engine {
namespace {

void put_line(std::string& out, std::string_view text) {
  out += text;
  out += '\n';
}

std::string octal(std::uint32_t mode) {
  std::string digits;
  for (int shift = 15; shift >= 0; shift -= 3) digits += static_cast<char>('0' + ((mode >> shift) & 7));
  return digits;
}

std::string side(char prefix, const std::string& path) {
  return path.empty() ? "/dev/null" : quote_path(std::string{prefix, '/'} + path);
}

void print_modes(std::string& out, const FilePatch& file) {
  if (file.status == FileStatus::added) {
    put_line(out, "new file mode " + octal(file.new_mode.value_or(0100644)));
  } else if (file.status == FileStatus::deleted) {
    put_line(out, "deleted file mode " + octal(file.old_mode.value_or(0100644)));
  } else if (file.old_mode && file.new_mode && *file.old_mode != *file.new_mode) {
    put_line(out, "old mode " + octal(*file.old_mode));
    put_line(out, "new mode " + octal(*file.new_mode));
  }
}

void print_canonical_header(std::string& out, const FilePatch& file) {
  const std::string& old_name = file.old_path.empty() ? file.new_path : file.old_path;
  put_line(out, "diff --git " + side('a', old_name) + " " + side('b', file.path()));
  print_modes(out, file);
  if (file.status == FileStatus::renamed || file.status == FileStatus::copied) {
    const std::string verb = file.status == FileStatus::renamed ? "rename" : "copy";
    put_line(out, verb + " from " + quote_path(file.old_path));
    put_line(out, verb + " to " + quote_path(file.new_path));
  }
  if (file.hunks.empty()) return;
  // A name with a blank needs the tab that `patch` looks for.
  const auto name = [](const std::string& text) { return text.find(' ') == std::string::npos ? text : text + '\t'; };
  put_line(out, "--- " + name(file.status == FileStatus::added ? "/dev/null" : side('a', file.old_path)));
  put_line(out, "+++ " + name(file.status == FileStatus::deleted ? "/dev/null" : side('b', file.new_path)));
}

std::string range(char mark, std::uint32_t start, std::uint32_t count) {
  std::string out = mark + std::to_string(start);
  return count == 1 ? out : out + ',' + std::to_string(count);
}

std::string hunk_header(const Hunk& hunk) {
  if (!hunk.raw.empty()) return hunk.raw;
  std::string out =
      "@@ " + range('-', hunk.old_start, hunk.old_count) + ' ' + range('+', hunk.new_start, hunk.new_count) + " @@";
  return hunk.section.empty() ? out : out + ' ' + hunk.section;
}

char mark_of(LineKind kind) {
  switch (kind) {
    case LineKind::context:
      return ' ';
    case LineKind::added:
      return '+';
    case LineKind::removed:
      return '-';
  }
  return ' ';
}

void print_hunk(std::string& out, const Hunk& hunk) {
  put_line(out, hunk_header(hunk));
  const std::size_t columns = hunk.lines.empty() ? 0 : hunk.marks.size() / hunk.lines.size();
  for (std::size_t i = 0; i < hunk.lines.size(); ++i) {
    const DiffLine& line = hunk.lines[i];
    if (!line.bare) {
      if (columns > 0) {
        out += std::string_view(hunk.marks).substr(i * columns, columns);
      } else {
        out += mark_of(line.kind);
      }
    }
    put_line(out, line.text);
    if (line.no_newline) put_line(out, hunk.eof_note.empty() ? kNoNewline : std::string_view(hunk.eof_note));
  }
}

void print_file(std::string& out, const FilePatch& file) {
  // A plain `Binary files … differ` line is all there was of its file.
  if (file.raw_header.empty() && file.raw_binary.empty()) {
    print_canonical_header(out, file);
  } else {
    for (const std::string& line : file.raw_header) put_line(out, line);
  }
  out += file.raw_binary;
  for (const Hunk& hunk : file.hunks) print_hunk(out, hunk);
}

}  // namespace

std::string print_file_patch(const FilePatch& file) {
  std::string out;
  print_file(out, file);
  return out;
}

std::string print_diff(const Patch& patch) {
  std::string out;
  for (const std::string& line : patch.preamble) put_line(out, line);
  for (const FilePatch& file : patch.files) print_file(out, file);
  for (const std::string& line : patch.trailer) put_line(out, line);
  if (patch.unterminated && !out.empty()) out.pop_back();
  return out;
}

char letter_of(FileStatus status) {
  switch (status) {
    case FileStatus::added:
    case FileStatus::copied:
      return 'A';
    case FileStatus::modified:
      return 'M';
    case FileStatus::deleted:
      return 'D';
    case FileStatus::renamed:
      return 'R';
    case FileStatus::type_changed:
      return 'T';
  }
  return 'M';
}

LineCounts count_lines(const FilePatch& file) {
  LineCounts counts;
  for (const Hunk& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines) {
      counts.added += line.kind == LineKind::added;
      counts.removed += line.kind == LineKind::removed;
    }
  }
  return counts;
}

}  // namespace escrow::engine
