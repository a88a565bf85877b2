#include "server/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace escrow::server::cli {

std::optional<sandbox::PtySize> terminal_size() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) return std::nullopt;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return sandbox::PtySize{};
  return sandbox::PtySize{size.ws_col, size.ws_row};
}

RawTerminal::RawTerminal() {
  termios now{};
  if (::tcgetattr(STDIN_FILENO, &now) != 0) return;
  before_ = now;
  ::cfmakeraw(&now);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
}

RawTerminal::~RawTerminal() {
  if (before_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

}  // namespace escrow::server::cli
