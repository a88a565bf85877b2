#pragma once

#include <functional>
#include <string_view>

#include "engine/diff.h"
#include "engine/line_cursor.h"

namespace escrow::engine {

/// Told about trouble: 1-based line of the diff text, and what is wrong there.
using IssueSink = std::function<void(std::size_t line, std::string message)>;

/// True for a line that opens a hunk (`@@ -…`, or `@@@ -…` of a combined diff).
bool opens_hunk(std::string_view line);

/// Reads the hunk at the cursor, which stands on a line that opens one. Lines beyond what the header promises are
/// kept (they must be scored) and reported.
Hunk read_hunk(LineCursor& cursor, const IssueSink& report);

}  // namespace escrow::engine
