#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "sandbox/unique_fd.h"
#include "tests/sandbox/cage_fixture.h"

/// What the escape tests share. Each attack runs in the real sandbox; where that does no harm, it runs once more
/// without it, which shows that it is the sandbox that stops it.
namespace escrow::sandbox::testing {

/// What no guest may print. Put together at run time, and unlike anything a scanner knows.
inline std::string canary() {
  return std::string("canary-") + "of-the-" + "host-" + std::to_string(getpid());
}

/// Says aloud what was not shown, and why.
inline void skipped(const std::string& what, const std::string& why) {
  WARN("SKIPPED: " << what << ": " << why);
}

inline fs::path attacker_program() {
  const char* elsewhere = std::getenv("ESCROW_TEST_LIBEXEC");
  return fs::path(elsewhere ? elsewhere : ESCROW_BINARY_DIR "/tests") / "escrow-attacker";
}

/// What a program prints, run on the host as a child of the test, with nothing around it.
inline std::string run_bare(std::vector<std::string> argv, const std::vector<std::string>& env = {},
                            const std::string& cwd = "/") {
  std::array<int, 2> ends{};
  REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> arguments, variables;
    for (std::string& arg : argv) arguments.push_back(arg.data());
    for (const std::string& entry : env) variables.push_back(const_cast<char*>(entry.c_str()));
    arguments.push_back(nullptr);
    variables.push_back(nullptr);
    dup2(ends[1], 1);
    dup2(open("/dev/null", O_RDWR | O_CLOEXEC), 2);
    if (chdir(cwd.c_str()) == 0) execve(arguments[0], arguments.data(), variables.data());
    _exit(127);
  }
  close(ends[1]);
  const UniqueFd output(ends[0]);
  std::string printed;
  std::array<char, 4096> buffer{};
  for (ssize_t got; (got = read(output.get(), buffer.data(), buffer.size())) > 0;)
    printed.append(buffer.data(), static_cast<std::size_t>(got));
  waitpid(child, nullptr, 0);
  return printed;
}

/// The outcome of one attack, from the attacker's line `NAME outcome`.
inline std::string outcome_in(const std::string& printed) {
  const std::size_t space = printed.find(' ');
  return space == std::string::npos ? "nothing" : printed.substr(space + 1, printed.find('\n') - space - 1);
}

/// A cage with the attacker in its workspace.
class AttackedCage : public Cage {
 public:
  AttackedCage() { fs::copy_file(attacker_program(), tree.workspace() / "attacker"); }

  Execution attack(const std::vector<std::string>& attacks) {
    Command command{.argv = {tree.workspace().string() + "/attacker"}};
    command.argv.insert(command.argv.end(), attacks.begin(), attacks.end());
    Result<Execution> result = run(command);
    if (!result) FAIL(result.error().message);
    return std::move(*result);
  }
  std::string attack_one(const std::string& one) { return outcome_in(text(attack({one}).out)); }
};

/// How an attack is shown to work without the cage.
enum class Control {
  bare,        ///< by the same program, a child of the test
  namespaces,  ///< as root of new namespaces, which end with it
  harmful,     ///< not at all: it would touch the host
};

struct Attack {
  const char* name;
  std::string attack;  ///< the attacker's word
  const char* inside;  ///< its outcome in the cage; alternatives separated by `|`
  Control control = Control::bare;
  const char* outside = "ok";  ///< its outcome without; or, if that would do harm, what harm
};

inline bool is_one_of(const std::string& outcome, const std::string& alternatives) {
  return ("|" + alternatives + "|").find("|" + outcome + "|") != std::string::npos;
}

/// The host stops it by itself: its kernel lacks it, or this user may not.
inline bool is_refused_by_host(const std::string& outcome) {
  return is_one_of(outcome,
                   "EPERM|EACCES|ENOSYS|EAFNOSUPPORT|EPROTONOSUPPORT|ESOCKTNOSUPPORT|EOPNOTSUPP|ENODEV|ENXIO|"
                   "ENOENT|nothing");
}

inline void check_control(const Attack& row) {
  if (row.control == Control::harmful) return skipped(std::string("control of: ") + row.name, row.outside);
  std::vector<std::string> argv = {attacker_program().string()};
  if (row.control == Control::namespaces) argv.emplace_back("--in-namespaces");
  argv.push_back(row.attack);
  const std::string outcome = outcome_in(run_bare(argv));
  INFO("without the cage: " << row.name << " (" << row.attack << ")");
  if (!is_one_of(outcome, row.outside) && is_refused_by_host(outcome))
    return skipped(std::string("control of: ") + row.name, "this host refuses it by itself: " + outcome);
  CHECK_THAT(outcome, Catch::Matchers::Matches(std::string("(") + row.outside + ")"));
}

inline void check_attack(AttackedCage& cage, const Attack& row) {
  const std::string outcome = cage.attack_one(row.attack);
  INFO(row.name << " (" << row.attack << "): " << outcome << ", not " << row.inside);
  CHECK(is_one_of(outcome, row.inside));
  check_control(row);
}

inline void check_attacks(const std::vector<Attack>& table) {
  AttackedCage cage;
  for (const Attack& row : table) check_attack(cage, row);
}

/// A process of the host, waiting to be attacked.
class Bystander {
 public:
  Bystander() : pid_(fork()) {
    if (pid_ != 0) return;
    signal(SIGTERM, SIG_DFL);  // the test program's own handler is not the bystander's
    for (;;) pause();
  }
  ~Bystander() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  bool is_alive() const { return waitpid(pid_, nullptr, WNOHANG) == 0; }
  std::string pid() const { return std::to_string(pid_); }

 private:
  pid_t pid_;
};

}  // namespace escrow::sandbox::testing
