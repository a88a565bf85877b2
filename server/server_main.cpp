#include "server/cli/cli.h"

// libexec/escrow/escrow-server: all of Escrow. People and editors call bin/escrow, which becomes this.
int main(int argc, char** argv) {
  return escrow::server::cli::run(argc, argv);
}
