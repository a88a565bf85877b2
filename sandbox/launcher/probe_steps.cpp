#include "sandbox/launcher/probe_steps.h"

namespace escrow::sandbox {

int print_probe_steps(const char*, const char*) { return 1; }

}  // namespace escrow::sandbox
