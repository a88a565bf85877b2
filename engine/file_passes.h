#pragma once

#include "engine/findings.h"

namespace escrow::engine {

/// Runs every rule that looks at one file at a time over all files of the change.
///
/// A large change is shared among a few threads, which end before this returns; what is found, and its order, is the
/// same however many there are.
void find_in_files(const ChangeView& change, Findings& findings);

}  // namespace escrow::engine
