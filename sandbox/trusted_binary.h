#pragma once

#include <string>

#include "sandbox/error.h"

namespace escrow::sandbox {

/// A program to which the boundary is entrusted: looked for in PATH and the usual places, never inside `workspace`,
/// owned by root (or by us, for our own), neither it nor a directory above it writable by others. Errors are
/// `unavailable`; the message says what is wrong with the first candidate.
Result<std::string> find_bubblewrap(const std::string& workspace);

/// The same conditions for a program of our own at a known place.
Result<std::string> check_own_program(const std::string& path, const std::string& workspace);

}  // namespace escrow::sandbox
