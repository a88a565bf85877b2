#pragma once

/// All of Escrow's own methods. Include the part you need where that is enough.
#include "protocol/error_codes.h"          // IWYU pragma: export
#include "protocol/escrow_admin.h"         // IWYU pragma: export
#include "protocol/escrow_capabilities.h"  // IWYU pragma: export
#include "protocol/escrow_commands.h"      // IWYU pragma: export
#include "protocol/escrow_execute.h"       // IWYU pragma: export
#include "protocol/escrow_methods.h"       // IWYU pragma: export
#include "protocol/escrow_review.h"        // IWYU pragma: export
#include "protocol/escrow_tool_call.h"     // IWYU pragma: export
