#pragma once

#include <string>

#include "server/error.h"

/// Where the running program and the parts that came with it lie.
///
/// Nothing is compiled in: everything is found from the program's own place, so that an unpacked archive works
/// anywhere. The build tree has the same shape as an installed one (`bin/` beside `libexec/escrow/`).
namespace escrow::server {

struct InstallPaths {
  std::string program;      ///< absolute path of bin/escrow, whichever of the programs is running
  std::string libexec_dir;  ///< holds escrow-server, escrow-launcher and escrow-runner
  std::string rules_dir;    ///< holds the rule pages, one a file; may be missing where only the programs were moved
};

/// From /proc/self/exe. An `io` error where /proc is not mounted.
Result<InstallPaths> find_install_paths();

/// The same for a running program at `self`: `<prefix>/bin/escrow`, or one in `<prefix>/libexec/escrow`.
InstallPaths install_paths_of(const std::string& self);

}  // namespace escrow::server
