#include <sys/resource.h>

#include "server/cli/cli.h"

namespace {

/// A change of many files, and many commands at once, take more descriptors than the usual 1024; what a command in the
/// sandbox may open is set there.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

// libexec/escrow/escrow-server: all of Escrow. People and editors call bin/escrow, which becomes this.
int main(int argc, char** argv) {
  raise_descriptor_limit();
  return escrow::server::cli::run(argc, argv);
}
