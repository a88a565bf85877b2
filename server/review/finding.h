#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/diff.h"
#include "engine/level.h"
#include "server/review/review.h"

namespace escrow::server {

/// A finding to be shown on a real file; the front turns it into a diagnostic.
struct Finding {
  std::string path = {};                 ///< absolute; empty: the pending-list document
  std::uint32_t line = 0, end_line = 0;  ///< 1-based lines of the file *as it is now*; 0: the first line
  engine::Level severity = engine::Level::low;
  std::string rule = {};
  std::string message = {};
  std::string review_id = {};
  int revision = 0;
  int signal = -1;                  ///< index into the review's risk.signals; -1 for the review as a whole
  std::string remedy_id = {};       ///< of an OpenRemedy; then review_id is empty
  std::uint32_t proposed_line = 0;  ///< the same place in the proposed text; 0 if there is none
};

/// The base lines that a line of the new file replaces: the removed lines beside it, the same line if it is context, or
/// the line before which it is inserted. 1-based, inclusive; {1, 1} for line 0 (the whole file).
std::pair<std::uint32_t, std::uint32_t> base_lines_of(const engine::FilePatch& patch, std::uint32_t new_line);

/// What a person should see of a review that still awaits something: one finding for the matter on the first touched
/// line of each file, and one for each signal. Settled reviews add nothing.
void append_findings(const Review& review, std::vector<Finding>& findings);

}  // namespace escrow::server
