#pragma once

#include <span>

#include "engine/command_profile.h"

/// The tables behind find_profile and find_effect, sorted by program.
namespace escrow::engine {

std::span<const CommandProfile> command_profiles();
std::span<const SubcommandEffect> subcommand_effects();

}  // namespace escrow::engine
