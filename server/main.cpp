#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "server/cli/cli.h"
#include "server/install_paths.h"

// bin/escrow. It answers `score` and `classify` itself and becomes libexec/escrow/escrow-server for everything else:
// the same process, the same arguments.

namespace {

/// A program started with a closed stdin, stdout or stderr would get its next file under that number, and write its
/// messages into it.
void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) std::abort();
  }
}

/// Returns only if that failed, with the exit code.
int become_server(char** argv) {
  constexpr int kFault = 3;
  const auto paths = escrow::server::find_install_paths();
  if (!paths) {
    std::fprintf(stderr, "escrow: %s\n", paths.error().message.c_str());
    return kFault;
  }
  const auto program = paths->libexec_dir + "/escrow-server";
  ::execv(program.c_str(), argv);
  std::fprintf(stderr, "escrow: %s: %s; install the whole tree: ./dev install --prefix DIR\n", program.c_str(),
               std::strerror(errno));
  return kFault;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  if (escrow::server::cli::is_quick(argc, argv)) {
    const int code = escrow::server::cli::run_quick(argc, argv);
    // Taking apart what was compiled for one answer would only take time.
    std::fflush(nullptr);
    std::_Exit(code);
  }
  return become_server(argv);
}
