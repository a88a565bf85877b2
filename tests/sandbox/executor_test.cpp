#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "tests/sandbox/cage_fixture.h"

// Commands in the real sandbox.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

TEST_CASE("a command's exit code and both streams come back") {
  Cage cage;
  const Execution execution = cage.sh("echo out; echo err >&2; exit 7");
  CHECK(execution.exit_code == 7);
  CHECK(execution.reason == ExitReason::exit);
  CHECK(text(execution.out) == "out\n");
  CHECK(text(execution.err) == "err\n");
  CHECK(execution.enforcement.backend == "bubblewrap");
  CHECK(execution.enforcement.level == "sandbox");
  CHECK(execution.enforcement.writable == "overlay");
}

TEST_CASE("a signal is told from an exit code") {
  Cage cage;
  const Execution execution = cage.sh("kill -SEGV $$");
  CHECK(execution.signal == SIGSEGV);
  CHECK_FALSE(execution.exit_code);
}

TEST_CASE("a program that does not exist is the command's failure, as in a shell") {
  Cage cage;
  const Result<Execution> result = cage.run({.argv = {"no-such-program"}});
  REQUIRE(result);
  CHECK(result->exit_code == 127);
  CHECK(text(result->err).find("no-such-program") != std::string::npos);
}

TEST_CASE("what a command writes comes back as changes, and the workspace stays as it is") {
  Cage cage;
  cage.tree.write("keep", "same\n");
  cage.tree.write("edit", "old\n");
  cage.tree.write("gone", "bye\n");
  cage.tree.write("dir/a", "a\n");
  cage.tree.write("dir/b", "b\n");
  cage.tree.write("swap/old", "o\n");
  cage.tree.write("mode", "m\n");
  const auto before = snapshot(cage.tree.workspace());
  const Execution execution = cage.sh(
      "echo new > edit; rm gone; rm -r dir; rm -r swap; mkdir swap; echo n > swap/new; chmod 755 mode; touch keep;"
      "mkdir -p deep/er; echo x > deep/er/x; ln -s edit link; mkdir empty");
  REQUIRE(execution.exit_code == 0);
  CHECK(summary(execution.changes) ==
        Lines{"A deep/er/x", "D dir/a", "D dir/b", "M edit", "D gone", "A link", "M mode", "A swap/new", "D swap/old"});
  CHECK(execution.changes.complete);
  CHECK(snapshot(cage.tree.workspace()) == before);
}

TEST_CASE("before and after of a change hold kind, mode and content") {
  Cage cage;
  cage.tree.write("f", "old");
  fs::permissions(cage.tree.workspace() / "f", fs::perms(0640));
  const Execution execution = cage.sh("printf new > f; chmod 700 f");
  REQUIRE(execution.changes.changes.size() == 1);
  CHECK(execution.changes.changes[0] == TreeChange{.path = "f",
                                                   .before = {EntryKind::file, 0640, "old", false},
                                                   .after = {EntryKind::file, 0700, "new", false},
                                                   .note = ""});
}

TEST_CASE("a file of no permissions is read back too") {
  Cage cage;
  const Execution execution = cage.sh("echo x > f; chmod 0 f; mkdir d; echo y > d/g; chmod 0 d");
  CHECK(summary(execution.changes) == Lines{"A d/g", "A f"});
}

TEST_CASE("what cannot be applied is reported with the reason") {
  Cage cage;
  const Execution execution =
      cage.sh("mkfifo p; echo a > a; ln a b; mkdir -p .git/hooks; echo h > .git/hooks/pre-commit");
  CHECK(summary(execution.changes) == Lines{"A .git/hooks/pre-commit (state of git itself: not applied)",
                                            "A a (has several names (hard links): not applied)",
                                            "A b (has several names (hard links): not applied)",
                                            "A p (neither a file, a directory nor a link: not applied)"});
}

TEST_CASE("a file changed on disk since is reported as such") {
  Cage cage;
  cage.tree.write("f", "one\n");
  cage.on_output = [&](Stream, std::string_view) { cage.tree.write("f", "two\n"); };
  const Execution execution = cage.sh("echo go; sleep 0.3; echo mine > f");
  CHECK(summary(execution.changes) == Lines{"M f (changed on disk since: not applied)"});
}

TEST_CASE("paths with commas, colons, spaces, backslashes and other alphabets work") {
  Cage cage;
  const fs::path odd = cage.tree.workspace() / "a,b:c d\\e =é中";
  fs::create_directory(odd);
  cage.profile.workspace = odd.string();
  const Execution execution = cage.sh("pwd; echo x > 'n,e:w'");
  CHECK(text(execution.out) == odd.string() + "\n");
  CHECK(summary(execution.changes) == Lines{"A n,e:w"});
}

TEST_CASE("the text of unsaved documents is what the command sees, and the base of its change") {
  Cage cage;
  cage.tree.write("src/f.txt", "on disk\n");
  cage.profile.unsaved = {{"src/f.txt", "in the editor\n"}, {"src/new.txt", "never saved\n"}};
  const Execution execution = cage.sh("cat src/f.txt src/new.txt; echo more >> src/f.txt");
  CHECK(text(execution.out) == "in the editor\nnever saved\n");
  REQUIRE(summary(execution.changes) == Lines{"M src/f.txt"});
  CHECK(execution.changes.changes[0].before.content == "in the editor\n");
  CHECK(cage.tree.read("src/f.txt") == "on disk\n");
}

TEST_CASE("stdin is closed unless there is text for it") {
  Cage cage;
  CHECK(text(cage.sh("cat; echo end").out) == "end\n");
  const Result<Execution> fed = cage.run({.argv = {"cat"}, .stdin_text = "hello"});
  REQUIRE(fed);
  CHECK(text(fed->out) == "hello");
}

TEST_CASE("an open stdin takes what is written to it later") {
  Cage cage;
  cage.on_start = [](boost::asio::io_context& loop, RunningExecution& running) {
    boost::asio::post(loop, [&running] {
      running.write_stdin("one\n");
      running.write_stdin("two\n");
      running.close_stdin();
    });
  };
  const Result<Execution> fed = cage.run({.argv = {"cat"}, .stdin_open = true});
  REQUIRE(fed);
  CHECK(text(fed->out) == "one\ntwo\n");
}

TEST_CASE("a terminal has the size that was asked for") {
  Cage cage;
  const Result<Execution> result =
      cage.run({.argv = {"/bin/sh", "-c", "test -t 0 && test -t 1 && stty size"}, .pty = PtySize{101, 37}});
  REQUIRE(result);
  CHECK(text(result->out) == "37 101\r\n");
  CHECK(result->exit_code == 0);
}

TEST_CASE("of a long output the head and the tail are kept and the rest is counted") {
  Cage cage;
  cage.profile.limits.output_shown_bytes = 1000;
  cage.profile.limits.output_kept_bytes = 5000;
  std::string streamed;
  cage.on_output = [&](Stream, std::string_view bytes) { streamed += bytes; };
  const Execution execution = cage.sh("i=0; while [ $i -lt 20000 ]; do echo 123456789; i=$((i+1)); done; echo last");
  CHECK(execution.out.total_bytes == 200005);
  CHECK(execution.out.head.size() == 500);
  CHECK(execution.out.tail.size() == 500);
  CHECK(execution.out.dropped_bytes == 199005);
  CHECK(execution.out.tail.ends_with("last\n"));
  CHECK(streamed.size() == 5000);
}

TEST_CASE("the wall-clock limit ends the command and says so") {
  Cage cage;
  cage.profile.limits.wall = 300ms;
  const Execution execution = cage.sh("echo begun; sleep 1000");
  CHECK(execution.reason == ExitReason::timeout);
  CHECK(execution.signal == SIGKILL);
  CHECK(text(execution.out) == "begun\n");
}

TEST_CASE("kill ends the command and says so") {
  Cage cage;
  cage.on_start = [](boost::asio::io_context& loop, RunningExecution& running) {
    boost::asio::post(loop, [&running] { running.kill(); });
  };
  const Execution execution = cage.sh("sleep 1000");
  CHECK(execution.reason == ExitReason::killed);
}

TEST_CASE("too much memory ends the command and names the limit") {
  Cage cage;
  cage.profile.limits.memory_bytes = 64u << 20;
  // Each process stays below the limit of one; together they are over it.
  const Execution execution =
      cage.sh("for i in 1 2 3; do head -c 40000000 /dev/zero | tail -c 40000000 | sleep 1000 & done; wait");
  CHECK(execution.reason == ExitReason::limit);
  REQUIRE(execution.violations.size() == 1);
  CHECK(execution.violations[0] == Violation{ViolationKind::limit, "memory"});
}

TEST_CASE("too many processes end the command or are refused") {
  Cage cage;
  cage.profile.limits.pids = 20;
  const Execution execution =
      cage.sh("i=0; while [ $i -lt 100 ]; do sleep 1000 & i=$((i+1)); done; sleep 2; echo survived");
  CHECK(text(execution.out).find("survived") == std::string::npos);
  CHECK((execution.reason == ExitReason::limit || execution.exit_code != 0));
}

TEST_CASE("too large a file ends the command and names the limit") {
  Cage cage;
  cage.profile.limits.file_size_bytes = 100000;
  const Execution execution = cage.sh("exec dd if=/dev/zero of=big bs=1000 count=1000");
  CHECK(execution.reason == ExitReason::limit);
  CHECK(execution.violations == std::vector<Violation>{{ViolationKind::limit, "file-size"}});
}

TEST_CASE("writable none: reading works, writing does not") {
  Cage cage;
  cage.tree.write("f", "text\n");
  cage.profile.writable = Writable::none;
  const Execution execution = cage.sh("cat f; echo x > f; echo y > new");
  CHECK(text(execution.out) == "text\n");
  CHECK(execution.exit_code != 0);
  CHECK(execution.enforcement.writable == "none");
  CHECK(execution.changes == TreeChanges{});
  CHECK(cage.tree.read("f") == "text\n");
}

TEST_CASE("writable direct: writes are real, what steers other programs stays as it is") {
  Cage cage;
  cage.tree.write("f", "old\n");
  cage.tree.write(".vscode/settings.json", "{}\n");
  cage.tree.write("sub/.git/hooks/pre-commit", "hook\n");
  cage.tree.write("sub/.git/config", "[core]\n");
  cage.profile.writable = Writable::direct;
  const Execution execution = cage.sh(
      "echo new > f; echo x > .vscode/settings.json; echo x > sub/.git/hooks/pre-commit; echo x > sub/.git/config;"
      "mv .vscode gone; mv sub/.git/hooks gone");
  CHECK(execution.enforcement.writable == "direct");
  CHECK_FALSE(execution.changes.complete);
  CHECK(cage.tree.read("f") == "new\n");
  CHECK(cage.tree.read(".vscode/settings.json") == "{}\n");
  CHECK(cage.tree.read("sub/.git/hooks/pre-commit") == "hook\n");
  CHECK(cage.tree.read("sub/.git/config") == "[core]\n");
}

TEST_CASE("where overlayfs is refused a copy takes its place, with the same masks and the same changes") {
  Cage cage;
  cage.options.try_overlay = false;
  cage.tree.write("keep", "same\n");
  cage.tree.write("edit", "old\n");
  cage.tree.write("dir/gone", "x\n");
  cage.tree.write(".env", "KEY=1\n");
  cage.profile.unsaved = {{"edit", "buffer\n"}};
  const Execution execution = cage.sh("cat edit; cat .env; echo more >> edit; rm -r dir; echo n > new; touch keep");
  CHECK(text(execution.out) == "buffer\n");
  CHECK(execution.enforcement.writable == "copy");
  CHECK(summary(execution.changes) == Lines{"D dir/gone", "M edit", "A new"});
  CHECK(cage.tree.read("edit") == "old\n");
}

TEST_CASE("a workspace larger than the copy limit is refused with a reason, and nothing runs") {
  Cage cage;
  cage.options.try_overlay = false;
  cage.options.copy_limit_bytes = 1000;
  cage.tree.write("big", std::string(100000, 'x'));
  const Result<Execution> result = cage.run({.argv = {"touch", (cage.tree.outside() / "ran").string()}});
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == ErrorKind::unavailable);
  CHECK(result.error().message.find("larger than") != std::string::npos);
  CHECK_FALSE(fs::exists(cage.tree.outside() / "ran"));
}

TEST_CASE("a program of the cage that is missing is unavailability, never a run on the host") {
  Cage cage;
  boost::asio::io_context loop;
  const auto executor =
      make_bwrap_executor(loop, {.state_dir = cage.tree.state().string(), .libexec_dir = "/nonexistent"});
  const auto started = executor->start({.argv = {"true"}, .cwd = cage.profile.workspace}, cage.profile, {});
  REQUIRE_FALSE(started);
  CHECK(started.error().kind == ErrorKind::unavailable);
}

TEST_CASE("commands and profiles that cannot mean anything are refused") {
  Cage cage;
  const auto refused = [&](const Command& command) {
    const Result<Execution> result = cage.run(command);
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::invalid_argument);
  };
  refused({.argv = {}});
  refused({.argv = {std::string("a\0b", 3)}});
  refused({.argv = {"true"}, .cwd = "/"});
  refused({.argv = {"true"}, .cwd = cage.profile.workspace + "/../outside"});
  refused({.argv = {"true"}, .cwd = cage.profile.workspace + "/missing"});
  refused({.argv = {"true"}, .env = {{"A=B", "c"}}});
  cage.profile.network_allow = {"*"};
  refused({.argv = {"true"}});
  cage.profile.network_allow.clear();
  cage.profile.unsaved = {{"/etc/passwd", ""}};
  refused({.argv = {"true"}});
  cage.profile.unsaved.clear();
  for (const char* system : {"/", "/usr", "/etc", "/tmp", "/home"}) {
    cage.profile.workspace = system;
    refused({.argv = {"true"}, .cwd = system});
  }
}

TEST_CASE("usage is measured") {
  Cage cage;
  const Execution execution = cage.sh("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
  CHECK(execution.usage.cpu > 0ms);
  CHECK(execution.usage.max_rss_bytes > 100'000);
}

TEST_CASE("the state directory holds nothing after an execution") {
  Cage cage;
  cage.sh("mkdir -m 0 d; echo x > f");
  // The launcher takes the stage away after it was told to; that is not awaited by the execution.
  for (int i = 0; i < 200 && !fs::is_empty(cage.tree.state() / "stages"); ++i) usleep(10'000);
  CHECK(fs::is_empty(cage.tree.state() / "stages"));
}
