#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace escrow::sandbox {

struct PtySize {
  unsigned short cols = 80, rows = 24;
  bool operator==(const PtySize&) const = default;
};

/// What to run inside. `argv[0]` is looked up in the guest's PATH.
struct Command {
  std::vector<std::string> argv = {};
  std::string cwd = {};                         ///< absolute; must lie in the workspace (or be it)
  std::map<std::string, std::string> env = {};  ///< delta over the profile's environment
  std::optional<std::string> stdin_text = {};   ///< closed stdin if absent (unless `pty`)
  bool stdin_open = false;  ///< stdin is a pipe for `write_stdin`, after `stdin_text` if there is one
  std::optional<PtySize> pty = {};
  bool operator==(const Command&) const = default;
};

}  // namespace escrow::sandbox
