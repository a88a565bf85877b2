#pragma once

#include <termios.h>

#include <optional>

#include "sandbox/command.h"

namespace escrow::server::cli {

/// The size of the terminal on stdin and stdout; empty if either is none.
std::optional<sandbox::PtySize> terminal_size();

/// Hands every key on as it is typed, Ctrl-C too: the guest's own terminal gives them their meaning. Restores the
/// terminal's settings when dropped.
class RawTerminal {
 public:
  RawTerminal();
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  std::optional<termios> before_;
};

}  // namespace escrow::server::cli
