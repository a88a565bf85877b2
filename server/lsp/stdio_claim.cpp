#include "server/lsp/stdio_claim.h"

#include <fcntl.h>
#include <unistd.h>

namespace escrow::server::lsp {
namespace {

constexpr int kAboveStandard = 3;

int move_away(int fd) {
  return ::fcntl(fd, F_DUPFD_CLOEXEC, kAboveStandard);
}

}  // namespace

int claim_stdout() {
  const int own = move_away(STDOUT_FILENO);
  if (own >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) ::close(STDOUT_FILENO);
  return own;
}

int claim_stdin() {
  const int own = move_away(STDIN_FILENO);
  if (own < 0) return own;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0) ::close(STDIN_FILENO);
  if (nothing > STDIN_FILENO) ::close(nothing);
  return own;
}

}  // namespace escrow::server::lsp
