#pragma once

#include "engine/command_category.h"
#include "engine/level.h"

namespace escrow::engine {

/// The verdict before any rule or grant: by level, by where it would run, by how far the agent may go unasked.
/// At high autonomy a medium action in the cage still asks if it needs egress or a path outside.
Verdict decide(Level level, CategorySet categories, Venue venue, Autonomy autonomy);

/// The score of a command by its level: 0, 15, 50, 80, 95.
int command_score(Level level);

}  // namespace escrow::engine
