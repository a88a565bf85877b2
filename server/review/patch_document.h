#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/diff.h"
#include "engine/signal.h"

namespace escrow::server {

/// The 1-based lines of the diff *text* that a signal is about: where it shows when the patch itself is open.
/// Parsing then printing gives the bytes back, so lines are counted on the parsed form.
std::vector<std::uint32_t> patch_text_lines(const engine::Patch& patch, const std::vector<engine::Signal>& signals);

}  // namespace escrow::server
