#pragma once

#include <string>

#include "sandbox/error.h"

namespace escrow::sandbox {

/// A program to which the boundary is entrusted: looked for in PATH and the usual places, never inside `workspace`,
/// owned by root (or by us, for our own), neither it nor a directory above it writable by others. Errors are
/// `unavailable`; the message says what is wrong with the first candidate.
Result<std::string> find_bubblewrap(const std::string& workspace);

/// What a sandbox is made of.
struct Programs {
  std::string bwrap, launcher, runner;
  bool operator==(const Programs&) const = default;
};

/// bubblewrap, and our own two in `libexec_dir` under the same conditions.
Result<Programs> find_programs(const std::string& libexec_dir, const std::string& workspace);

}  // namespace escrow::sandbox
