#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// What is measured with: made here from a seed, the same bytes on every machine.
namespace escrow::bench {

/// A git diff of about `lines` lines (36 bytes each on average) over files of several languages, in hunks with context,
/// additions and removals. Most of it is as harmless as most changes are; a few lines in a hundred are not.
std::string make_diff(std::size_t lines, std::uint64_t seed);

/// Commands as agents send them: git, package managers, text tools, pipelines, a little danger.
const std::vector<std::string>& typical_commands();

}  // namespace escrow::bench
