#pragma once

#include "tests/sandbox/cage_fixture.h"

namespace escrow::sandbox::testing {

/// A cage with the attacker in its workspace.
class AttackedCage : public Cage {
 public:
  AttackedCage() {
    const char* elsewhere = std::getenv("ESCROW_TEST_LIBEXEC");
    fs::copy_file(fs::path(elsewhere ? elsewhere : ESCROW_BINARY_DIR "/tests") / "escrow-attacker",
                  tree.workspace() / "attacker");
  }

  /// `NAME result` lines of the attacks, in order.
  std::vector<std::string> attack(const std::vector<std::string>& attacks) {
    Command command{.argv = {tree.workspace().string() + "/attacker"}};
    command.argv.insert(command.argv.end(), attacks.begin(), attacks.end());
    const Result<Execution> result = run(command);
    REQUIRE(result);
    std::istringstream output(text(result->out));
    std::vector<std::string> lines;
    for (std::string line; std::getline(output, line);) lines.push_back(line);
    return lines;
  }

  std::string attack_one(const std::string& one) {
    const std::vector<std::string> lines = attack({one});
    return lines.empty() ? "nothing" : lines.front().substr(lines.front().find(' ') + 1);
  }
};

/// What no guest may print. Put together at run time, and unlike anything a scanner knows.
inline std::string canary() {
  return std::string("canary-") + "of-the-" + "host-" + std::to_string(getpid());
}

}  // namespace escrow::sandbox::testing
