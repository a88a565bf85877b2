#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/level.h"

/// Unified diffs as values. One shape for every edit, whoever made it.
///
/// Reads git's extended format (`git help diff-format`, "generating patch text with -p") and plain `diff -u`.
/// Pure and total: malformed input yields what was understood plus issues, never an error or an exception.
namespace escrow::engine {

/// What a diff says below a last line that no newline ends.
constexpr std::string_view kNoNewline = "\\ No newline at end of file";

enum class LineKind { context, added, removed };

struct DiffLine {
  LineKind kind = LineKind::context;
  std::string text;            ///< without the leading mark and without the final '\n'; a '\r' stays part of it
  std::uint32_t old_line = 0;  ///< 1-based; 0 for an added line
  std::uint32_t new_line = 0;  ///< 1-based; for a removed line the new-file line that now stands there
  bool no_newline = false;     ///< followed by `\ No newline at end of file`
  bool bare = false;           ///< a blank context line written without its mark, as some mailers leave it
  bool operator==(const DiffLine&) const = default;
};

struct Hunk {
  std::uint32_t old_start = 0, old_count = 0, new_start = 0, new_count = 0;
  std::string section;  ///< what follows the second `@@`
  std::vector<DiffLine> lines;
  std::string raw;       ///< header line as read; empty for a hunk made in memory
  std::string marks;     ///< combined diffs only: the mark columns of every line, one after the other
  std::string eof_note;  ///< the `\ …` line as read, where it is not git's English one
  bool operator==(const Hunk&) const = default;
};

enum class FileStatus { added, modified, deleted, renamed, copied, type_changed };
BOOST_DESCRIBE_ENUM(FileStatus, added, modified, deleted, renamed, copied, type_changed)

/// The single letter of `git status` and of the wire: A M D R (a copy is A) T.
char letter_of(FileStatus status);

struct FilePatch {
  std::string old_path;  ///< '/'-separated, C-quoting undone, without `a/`; empty for an added file
  std::string new_path;  ///< the same, without `b/`; empty for a deleted file
  FileStatus status = FileStatus::modified;
  std::optional<std::uint32_t> old_mode, new_mode;  ///< git modes: 0100644, 0100755, 0120000 link, 0160000 gitlink
  std::vector<Hunk> hunks;
  bool binary = false;
  bool combined = false;  ///< `--cc` / `--combined`: scored, never applied
  /// Header lines as read (with text that stood between the files), so that printing gives the bytes back.
  std::vector<std::string> raw_header;
  std::string raw_binary;  ///< `GIT binary patch` body or stub line as read
  bool operator==(const FilePatch&) const = default;

  /// The path to show and to score: the new one, the old one of a deleted file.
  const std::string& path() const { return new_path.empty() ? old_path : new_path; }
  bool is_symlink() const { return (new_mode ? *new_mode : old_mode.value_or(0)) == 0120000; }
};

struct Patch {
  std::vector<std::string> preamble;  ///< mail headers, commit messages: what stands before the first file
  std::vector<FilePatch> files;
  std::vector<std::string> trailer;  ///< what follows the last file: a mail signature, for one
  bool unterminated = false;         ///< the diff text itself ends without a newline
  bool operator==(const Patch&) const = default;
};

/// What could not be understood, and where. Any issue makes the change high risk (`parse-error`).
struct ParseIssue {
  std::size_t line = 0;  ///< 1-based line of the diff text
  std::string message;
  bool operator==(const ParseIssue&) const = default;
};

struct ParsedPatch {
  Patch patch;
  std::vector<ParseIssue> issues;
};

/// Linear in the size of `text`.
ParsedPatch parse_diff(std::string_view text);

/// The bytes that were parsed, or canonical git format for a patch made in memory (empty raw_header).
std::string print_diff(const Patch& patch);
std::string print_file_patch(const FilePatch& file);

/// Added and removed line counts.
struct LineCounts {
  std::size_t added = 0, removed = 0;
  bool operator==(const LineCounts&) const = default;
};
LineCounts count_lines(const FilePatch& file);

}  // namespace escrow::engine
