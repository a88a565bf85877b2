#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>

#include "sandbox/unique_fd.h"
#include "tests/escape/escape_fixture.h"

// Attacks by outliving.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;
using namespace std::chrono_literals;

namespace {

/// Processes of the host whose command line holds `mark`.
int processes_with(const std::string& mark) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    // Not by a stream: reading of a process that ends meanwhile is ESRCH, which a stream's iterator throws.
    const UniqueFd file(open((entry.path() / "cmdline").c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 4096> line{};
    const ssize_t got = file ? read(file.get(), line.data(), line.size()) : 0;
    if (got > 0 && std::string_view(line.data(), static_cast<std::size_t>(got)).find(mark) != std::string_view::npos)
      ++count;
  }
  return count;
}

/// A duration that nobody else sleeps for.
std::string mark() {
  return "7" + std::to_string(getpid()) + ".5";
}

template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    usleep(20'000);
  }
  return false;
}

}  // namespace

TEST_CASE("children that left the session and hold stdout end with the command") {
  Cage cage;
  const Execution execution = cage.sh("setsid sleep " + mark() + " & (nohup sleep " + mark() +
                                      " &) ; (setsid sh -c 'sleep " + mark() + " & exit' &); echo done");
  CHECK(text(execution.out) == "done\n");
  CHECK(execution.exit_code == 0);
  CHECK(comes_true([] { return processes_with(mark()) == 0; }));
}

TEST_CASE("children that left the session and hold stdout do not outlive the timeout") {
  Cage cage;
  cage.profile.limits.wall = 400ms;
  const Execution execution = cage.sh("setsid sleep " + mark() + " & trap '' TERM INT HUP; sleep " + mark());
  CHECK(execution.reason == ExitReason::timeout);
  CHECK(comes_true([] { return processes_with(mark()) == 0; }));
}

TEST_CASE("a fork bomb ends with its command") {
  Cage cage;
  cage.profile.limits.wall = 1500ms;
  cage.profile.limits.pids = 200;
  const Execution execution = cage.sh("bomb() { sleep " + mark() + " & bomb & bomb; }; bomb 2>/dev/null");
  CHECK(execution.exit_code != 0);
  CHECK(comes_true([] { return processes_with(mark()) == 0; }));
}

TEST_CASE("dropping an execution ends everything it started") {
  Cage cage;
  boost::asio::io_context loop;
  const auto executor =
      make_bwrap_executor(loop, {.state_dir = cage.tree.state().string(), .libexec_dir = libexec_dir()});
  std::unique_ptr<RunningExecution> running;
  bool heard_after = false;
  ExecutionEvents events;
  events.on_output = [&](Stream, std::string_view) { running.reset(); };
  events.on_done = [&](const Result<Execution>&) { heard_after = true; };
  auto started = executor->start({.argv = {"/bin/sh", "-c", "echo go; sleep " + mark()}, .cwd = cage.profile.workspace},
                                 cage.profile, std::move(events));
  REQUIRE(started);
  running = std::move(*started);
  loop.run();
  CHECK_FALSE(heard_after);
  CHECK(comes_true([] { return processes_with(mark()) == 0; }));
  CHECK(comes_true([&] { return fs::is_empty(cage.tree.state() / "stages"); }));
}

TEST_CASE("kill -9 of the server during an execution leaves no process, no mount and no file") {
  Cage cage;
  cage.tree.write("f", "x\n");
  const auto before = snapshot(cage.tree.workspace());
  const pid_t server = fork();
  if (server == 0) {
    boost::asio::io_context loop;
    const auto executor =
        make_bwrap_executor(loop, {.state_dir = cage.tree.state().string(), .libexec_dir = libexec_dir()});
    ExecutionEvents events;
    events.on_output = [](Stream, std::string_view) { raise(SIGKILL); };
    const auto running = executor->start(
        {.argv = {"/bin/sh", "-c", "mkdir -m 0 d; setsid sleep " + mark() + " & echo go; sleep " + mark()},
         .cwd = cage.profile.workspace},
        cage.profile, std::move(events));
    if (!running) _exit(1);
    loop.run();
    _exit(1);
  }
  int status = 0;
  waitpid(server, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(comes_true([] { return processes_with(mark()) == 0; }));
  CHECK(comes_true([&] { return fs::is_empty(cage.tree.state() / "stages"); }));
  std::ifstream mounts("/proc/self/mountinfo");
  CHECK(std::string(std::istreambuf_iterator<char>(mounts), {}).find(cage.tree.workspace().string()) ==
        std::string::npos);
  CHECK(snapshot(cage.tree.workspace()) == before);
}

TEST_CASE("the stage of a server and a launcher that both died is swept, that of a living one is not") {
  Cage cage;
  const fs::path stages = cage.tree.state() / "stages";
  fs::create_directories(stages / "dead/work/work");
  fs::permissions(cage.tree.state(), fs::perms(0700));
  fs::permissions(stages / "dead/work/work", fs::perms::none);
  cage.on_output = [&](Stream, std::string_view) {
    boost::asio::io_context loop;
    const auto another =
        make_bwrap_executor(loop, {.state_dir = cage.tree.state().string(), .libexec_dir = libexec_dir()});
  };
  const Execution execution = cage.sh("echo go; sleep 0.3; echo x > f");
  CHECK_FALSE(fs::exists(stages / "dead"));
  CHECK(summary(execution.changes) == std::vector<std::string>{"A f"});
}
