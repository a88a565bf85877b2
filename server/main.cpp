#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "server/cli/cli.h"

/// A program started with a closed stdin, stdout or stderr would get its next file under that number, and write its
/// messages into it.
static void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) std::abort();
  }
}

int main(int argc, char** argv) {
  open_standard_descriptors();
  return escrow::server::cli::run(argc, argv);
}
