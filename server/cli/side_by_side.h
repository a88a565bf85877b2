#pragma once

#include "engine/evaluate.h"

namespace escrow::server::cli {

/// Threads for one judgement, of which there are as many as processors, up to four; they end before the work returns.
/// Where no thread can be started, the caller's does it all.
engine::Sharing side_by_side();

}  // namespace escrow::server::cli
