#include <linux/filter.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "sandbox/probe.h"
#include "sandbox/seccomp_filter.h"
#include "tests/escape/escape_fixture.h"

// Attacks on the boundary's being there at all: where it cannot be set up, nothing runs. Each host is a throw-away one:
// a child of the test in namespaces of its own.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;

namespace {

void write_all(const char* path, const std::string& text) {
  std::ofstream(path) << text;
}

/// Root of a user and a mount namespace; everything else stays as it is.
void enter_throwaway_host() {
  const std::string uid = std::to_string(geteuid()), gid = std::to_string(getegid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) _exit(80);
  write_all("/proc/self/setgroups", "deny");
  write_all("/proc/self/gid_map", "0 " + gid + " 1\n");
  write_all("/proc/self/uid_map", "0 " + uid + " 1\n");
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(81);
}

/// In a user namespace of an ordinary user the files of root belong to nobody, and no program is trusted: there the
/// reasons cannot be told apart.
bool can_make_hosts(const char* what) {
  if (geteuid() == 0) return true;
  skipped(what, "needs root, to make a host whose programs are root's");
  return false;
}

/// Where the attempt is made: on a host of its own, or, if nothing is changed in it, as a child of the test.
enum class Host { throwaway, own };

struct Outcome {
  std::string reason;  ///< the probe's
  std::string kind;    ///< of the error that starting a command gave; `ran` if it ran
  std::string message;
  bool touched = false;  ///< the command left its mark somewhere
};

const char* name_of_kind(ErrorKind kind) {
  return kind == ErrorKind::unavailable ? "unavailable" : "another error";
}

/// Spoils the host, then probes it and tries to run a command that would leave a mark.
template <class Spoil>
Outcome try_on(const Spoil& spoil, Host host = Host::throwaway, bool probe_only = false) {
  Cage cage;
  const std::string mark = (cage.tree.outside() / "mark").string();
  std::array<int, 2> ends{};
  REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
  const pid_t child = fork();
  if (child == 0) {
    for (int signal_number : {SIGSEGV, SIGABRT, SIGTERM}) signal(signal_number, SIG_DFL);
    if (host == Host::throwaway) enter_throwaway_host();
    spoil(cage);
    const Probe& probe = probe_host(libexec_dir());
    std::string report = std::string(name_of(probe.reason)) + "\n";
    if (!probe_only) {
      const Result<Execution> result =
          cage.run({.argv = {"/bin/sh", "-c", "echo ran > ran; echo ran > " + mark + "; echo ran"}});
      report += result ? "ran\n" : std::string(name_of_kind(result.error().kind)) + "\n" + result.error().message;
    } else {
      report += "not tried\n" + probe.message;
    }
    (void)!write(ends[1], report.data(), report.size());
    _exit(0);
  }
  close(ends[1]);
  const UniqueFd output(ends[0]);
  std::string report;
  std::array<char, 4096> buffer{};
  for (ssize_t got; (got = read(output.get(), buffer.data(), buffer.size())) > 0;)
    report.append(buffer.data(), static_cast<std::size_t>(got));
  int status = 0;
  waitpid(child, &status, 0);
  INFO("the throw-away host ended with " << status);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  Outcome outcome;
  std::istringstream lines(report);
  std::getline(lines, outcome.reason);
  std::getline(lines, outcome.kind);
  outcome.message.assign(std::istreambuf_iterator<char>(lines), {});
  outcome.touched = fs::exists(mark) || fs::exists(cage.tree.workspace() / "ran");
  return outcome;
}

void put_program(const fs::path& path, const std::string& script) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
  fs::permissions(path, fs::perms(0755));
}

/// In the throw-away host only: what lies at `target` is `source` from now on.
void bind_over(const fs::path& source, const char* target) {
  if (mount(source.c_str(), target, nullptr, MS_BIND, nullptr) != 0) _exit(82);
}

void remove_bubblewrap(const Cage& cage) {
  fs::create_directory(cage.tree.outside() / "empty");
  bind_over(cage.tree.outside() / "empty", "/usr/bin");
  setenv("PATH", "/nonexistent", 1);
}

void replace_bubblewrap(const Cage& cage, const std::string& script) {
  put_program(cage.tree.outside() / "bwrap", script);
  bind_over(cage.tree.outside() / "bwrap", "/usr/bin/bwrap");
}

/// An empty reason: the probe knows of no workspace, and may say another thing than the executor.
void check_refused(const Outcome& outcome, const std::string& reason, const std::string& words) {
  INFO(outcome.reason << " / " << outcome.kind << " / " << outcome.message);
  CHECK((reason.empty() || outcome.reason == reason));
  CHECK(outcome.kind == "unavailable");
  CHECK(outcome.message.find(words) != std::string::npos);
  CHECK_FALSE(outcome.touched);
}

}  // namespace

TEST_CASE("on a host that is as it was, the same way of trying runs the command") {
  if (!can_make_hosts("on a host that is as it was, the same way of trying runs the command")) return;
  const Outcome outcome = try_on([](const Cage&) {});
  INFO(outcome.message);
  CHECK(outcome.reason == "ok");
  CHECK(outcome.kind == "ran");
  CHECK_FALSE(outcome.touched);  // in the cage, not on the host
}

TEST_CASE("without bubblewrap nothing runs, and the reason is that it is missing") {
  if (!can_make_hosts("without bubblewrap nothing runs, and the reason is that it is missing")) return;
  check_refused(try_on(remove_bubblewrap), "missing-binary", "bubblewrap is not installed");
}

TEST_CASE("a bwrap of the workspace, first in PATH, is not taken for the one that is missing") {
  if (!can_make_hosts("a bwrap of the workspace, first in PATH, is not taken for the one that is missing")) return;
  check_refused(try_on([](const Cage& cage) {
                  remove_bubblewrap(cage);
                  put_program(cage.tree.workspace() / "bin/bwrap", "echo ran > ../ran; exec \"$@\"");
                  setenv("PATH", (cage.tree.workspace() / "bin").c_str(), 1);
                }),
                "", "not trusted");
}

TEST_CASE("a bwrap that everybody may write is not taken for the one that is missing") {
  if (!can_make_hosts("a bwrap that everybody may write is not taken for the one that is missing")) return;
  check_refused(try_on([](const Cage& cage) {
                  remove_bubblewrap(cage);
                  put_program(cage.tree.outside() / "bin/bwrap", "exec \"$@\"");
                  fs::permissions(cage.tree.outside() / "bin/bwrap", fs::perms(0777));
                  setenv("PATH", (cage.tree.outside() / "bin").c_str(), 1);
                }),
                "untrusted-binary", "writable by others");
}

TEST_CASE("a bwrap that runs its command without a sandbox is found out") {
  if (!can_make_hosts("a bwrap that runs its command without a sandbox is found out")) return;
  // It does what a broken or replaced one might: it drops every option, and executes what is to be run inside.
  check_refused(try_on([](const Cage& cage) { replace_bubblewrap(cage, "exec " + libexec_dir() + "/escrow-runner"); }),
                "failed", "without a sandbox");
}

TEST_CASE("a bwrap that ends at once is a sandbox that does not start") {
  if (!can_make_hosts("a bwrap that ends at once is a sandbox that does not start")) return;
  check_refused(try_on([](const Cage& cage) { replace_bubblewrap(cage, "exit 0"); }), "failed", "does not start");
}

TEST_CASE("a bwrap that fails says why, and nothing runs") {
  if (!can_make_hosts("a bwrap that fails says why, and nothing runs")) return;
  check_refused(
      try_on([](const Cage& cage) { replace_bubblewrap(cage, "echo 'bwrap: Unknown option --size' >&2; exit 1"); }),
      "failed", "Unknown option --size");
}

TEST_CASE("a bwrap that hangs is a timeout, soon") {
  if (!can_make_hosts("a bwrap that hangs is a timeout, soon")) return;
  const auto began = std::chrono::steady_clock::now();
  const Outcome outcome =
      try_on([](const Cage& cage) { replace_bubblewrap(cage, "exec sleep 1000"); }, Host::throwaway, true);
  INFO(outcome.message);
  CHECK(outcome.reason == "timeout");
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(30));
}

TEST_CASE("with user namespaces off nothing runs, and the reason names the setting") {
  if (!can_make_hosts("with user namespaces off nothing runs, and the reason names the setting")) return;
  check_refused(try_on([](const Cage&) { write_all("/proc/sys/user/max_user_namespaces", "0"); }), "userns-off",
                "user.max_user_namespaces");
}

TEST_CASE("inside another sandbox that forbids namespaces nothing runs, and the reason is the other sandbox") {
  check_refused(
      try_on(
          [](const Cage&) {
            const std::string& program = *seccomp_program(Tracing::denied);
            sock_fprog filter{static_cast<unsigned short>(program.size() / sizeof(sock_filter)),
                              reinterpret_cast<sock_filter*>(const_cast<char*>(program.data()))};
            if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, 2 /* filter */, &filter) != 0)
              _exit(83);
          },
          Host::own),
      "nested-container", "forbids it");
}

TEST_CASE("without the launcher or the runner nothing runs") {
  for (const char* missing : {"escrow-launcher", "escrow-runner"}) {
    Cage cage;
    fs::create_directory(cage.tree.outside() / "libexec");
    for (const char* name : {"escrow-launcher", "escrow-runner"})
      if (std::string(name) != missing)
        fs::copy_file(fs::path(libexec_dir()) / name, cage.tree.outside() / "libexec" / name);
    boost::asio::io_context loop;
    const auto executor = make_bwrap_executor(
        loop, {.state_dir = cage.tree.state().string(), .libexec_dir = (cage.tree.outside() / "libexec").string()});
    const auto started = executor->start({.argv = {"/bin/true"}, .cwd = cage.profile.workspace}, cage.profile, {});
    REQUIRE_FALSE(started.has_value());
    CHECK(started.error().kind == ErrorKind::unavailable);
  }
}
