#pragma once

#include "engine/evaluate.h"
#include "engine/findings.h"

namespace escrow::engine {

/// Runs every rule that looks at one file at a time over all files of the change.
///
/// What is found in a large change, and its order, is the same however it is shared.
void find_in_files(const ChangeView& change, const Sharing& sharing, Findings& findings);

}  // namespace escrow::engine
