#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/error.h"

namespace escrow::sandbox {

/// What the filter does for a guest that is to be debugged: ptrace and its kin are open there and nowhere else.
enum class Tracing { denied, allowed };

/// One line of the table of denied calls, with the reason for it.
struct DeniedCall {
  std::string_view name;
  int error;  ///< ENOSYS where a program has a fallback that it takes only then; EPERM otherwise
  std::string_view reason;
};

/// Calls denied whatever their arguments. Those denied by argument (clone flags, socket families, two ioctls) are in
/// the .cpp beside it.
const std::vector<DeniedCall>& denied_calls();

/// The compiled filter (an array of struct sock_filter, as bubblewrap's --seccomp reads it). Foreign architectures and
/// x32 kill the process. Compiled once a process for each kind and remembered. Any thread.
const Result<std::string>& seccomp_program(Tracing tracing);

}  // namespace escrow::sandbox
