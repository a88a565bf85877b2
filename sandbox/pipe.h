#pragma once

#include "sandbox/error.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {

struct Pipe {
  UniqueFd read, write;
};

/// Both ends close on exec.
Result<Pipe> make_pipe();

}  // namespace escrow::sandbox
