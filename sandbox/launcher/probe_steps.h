#pragma once

namespace escrow::sandbox {

/// `escrow-launcher --probe BWRAP RUNNER`: tries the steps of a real sandbox, in memory only, and prints `step<TAB>ok`
/// or `step<TAB>what went wrong`, one a line, the first failure last. Zero if a sandbox ran.
int print_probe_steps(const char* bwrap, const char* runner);

}  // namespace escrow::sandbox
