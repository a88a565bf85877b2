#pragma once

#include <set>
#include <string>
#include <string_view>

#include "engine/diff.h"
#include "engine/error.h"

namespace escrow::engine {

/// The base text with the chosen hunks applied, byte for byte (CRLF, a missing final newline, and NUL included).
///
/// Context and removed lines must match `base` exactly at their stated place: no fuzz, no offset search, since a
/// change that needs either is not the change that was reviewed. `hunks` holds indices into `file.hunks`; the new
/// line positions of later hunks do not matter. `GIT binary patch` literals are not applied here (`unsupported`).
Result<std::string> apply_hunks(std::string_view base, const FilePatch& file, const std::set<std::size_t>& hunks);

/// The same with every hunk.
Result<std::string> apply_file_patch(std::string_view base, const FilePatch& file);

/// The patch with only the chosen hunks, new-side positions recomputed; what base + approved hunks is scored as.
FilePatch select_hunks(const FilePatch& file, const std::set<std::size_t>& hunks);

}  // namespace escrow::engine
