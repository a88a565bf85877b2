#include "server/cli/consent.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>

#include "server/store/atomic_file.h"
#include "server/store/places.h"

namespace escrow::server::cli {
namespace {

bool names_private_store() {
  const auto env = process_environment();
  for (const auto* name : {"ESCROW_GRANTS_PATH", "ESCROW_STATE_DIR"}) {
    if (const auto value = env(name); value && !value->empty()) return true;
  }
  return false;
}

Fd open_terminal() {
  return Fd(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
}

std::string read_line(int fd) {
  std::string line;
  char c = 0;
  while (line.size() < 64) {
    const auto got = ::read(fd, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || c == '\n') break;
    line += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return line;
}

Result<void> ask(int terminal, const std::string& question) {
  ::tcflush(terminal, TCIFLUSH);
  if (auto shown = write_all_bytes(terminal, question + " [y/N] ", "/dev/tty"); !shown) return shown;
  const auto answer = read_line(terminal);
  if (answer == "y" || answer == "yes") return {};
  return Error{ErrorKind::cancelled, "not confirmed; nothing was changed"};
}

}  // namespace

bool has_terminal() {
  return static_cast<bool>(open_terminal());
}

Result<void> confirm(const std::string& question, AnswerWith with) {
  if (with == AnswerWith::yes_flag) {
    if (names_private_store()) return {};
    return Error{ErrorKind::role_forbidden,
                 "--yes counts only with ESCROW_GRANTS_PATH or ESCROW_STATE_DIR set to a store of its own; without "
                 "--yes you are asked on the terminal"};
  }
  const auto terminal = open_terminal();
  if (!terminal) {
    return Error{ErrorKind::role_forbidden,
                 "this needs a person's yes, and there is no terminal to ask on; automation sets ESCROW_STATE_DIR to a "
                 "store of its own and gives --yes"};
  }
  return ask(terminal.get(), question);
}

}  // namespace escrow::server::cli
