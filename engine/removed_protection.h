#pragma once

#include <optional>
#include <vector>

#include "engine/change_view.h"
#include "engine/findings.h"

/// What the finders of removed and of loosened protections share.
namespace escrow::engine {

/// Neighbouring removed and added lines of a hunk, by index.
struct ChangedBlock {
  std::vector<std::size_t> removed, added;
  mutable std::optional<std::size_t> first_definition = {};  ///< of the removed lines; npos if there is none
};

std::vector<ChangedBlock> blocks_of(const HunkView& hunk);

bool is_condition(std::string_view text);

/// The line, or one of the next two, refuses: returns early, throws, answers an error. `other_side`: lines to pass
/// over.
bool denies_soon(const HunkView& hunk, std::size_t index, LineKind other_side);

/// The path, the line or the function around it is about who may do what.
bool is_about_access(const FileView& file, const HunkView& hunk, std::size_t index);

/// Conditions, limits and patterns that are still there but let more through.
void find_loosened_conditions(const FileView& file, const HunkView& hunk, const ChangedBlock& block,
                              Findings& findings);

}  // namespace escrow::engine
