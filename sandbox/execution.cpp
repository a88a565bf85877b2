#include "sandbox/execution.h"

namespace escrow::sandbox {

std::string_view name_of(ExitReason reason) {
  switch (reason) {
    case ExitReason::exit:
      return "exit";
    case ExitReason::timeout:
      return "timeout";
    case ExitReason::limit:
      return "limit";
    case ExitReason::killed:
      return "killed";
    case ExitReason::policy:
      return "policy";
  }
  return "exit";
}

std::string_view name_of(ViolationKind kind) {
  switch (kind) {
    case ViolationKind::egress:
      return "egress";
    case ViolationKind::path:
      return "path";
    case ViolationKind::syscall:
      return "syscall";
    case ViolationKind::limit:
      return "limit";
    case ViolationKind::socket:
      return "socket";
    case ViolationKind::symlink:
      return "symlink";
    case ViolationKind::outside_workspace:
      return "outside-workspace";
  }
  return "egress";
}

}  // namespace escrow::sandbox
