#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/diff.h"

namespace escrow::engine {

/// What the header lines of one file say, before it is settled what they mean together.
struct HeaderFacts {
  std::optional<std::string> git_old, git_new;  ///< from `diff --git`, prefixes still on
  std::optional<std::string> from, to;          ///< from `rename`/`copy`: never prefixed
  std::optional<std::string> minus, plus;       ///< from `---` and `+++`, prefixes still on; "/dev/null" as written
  std::optional<std::uint32_t> old_mode, new_mode;
  bool is_new = false, is_deleted = false, is_rename = false, is_copy = false;
  bool contents_differ = false;  ///< `index a..b` with a ≠ b
  bool malformed = false;        ///< a line of this header could not be read
};

/// Reads the names of a `diff --git` (two names), `diff --cc` or `diff --combined` (one) line.
void read_diff_line(std::string_view line, HeaderFacts& facts);

/// Reads one extended header line (`old mode`, `rename from`, `index` …); false if it is none.
bool read_extended_line(std::string_view line, HeaderFacts& facts);

/// The name on a `---` or `+++` line: unquoted, without a timestamp.
std::optional<std::string> read_name_line(std::string_view line);

/// Sets paths, status and modes of `file`. The text says what is wrong; empty if nothing is.
std::string settle_header(const HeaderFacts& facts, FilePatch& file);

}  // namespace escrow::engine
