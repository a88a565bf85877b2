#pragma once

#include <cstddef>
#include <string>

/// What a pattern of an own rule costs at worst. RE2 is linear in the text, but what a byte costs grows with the
/// program, and `(.{900}x)` is short to write and long to run: a hostile policy file could make judging crawl.
namespace escrow::engine {

/// Steps of a pattern's program; a few times its length for most, 1,200 for `\p{L}+`.
inline constexpr std::size_t kMaxPatternSteps = 2'000;
/// Of all patterns of one file: a change of 10,000 lines then takes seconds at the very worst.
inline constexpr std::size_t kMaxFileSteps = 10'000;

/// Zero for a pattern that cannot be read.
std::size_t pattern_steps(const std::string& pattern);

}  // namespace escrow::engine
