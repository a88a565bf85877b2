#include <sys/stat.h>

#include <csignal>

#include "tests/sandbox/server_fixture.h"

// What the commands of one session see of each other.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

namespace {

ExecutorOptions with_build_outputs(std::size_t pool = 0) {
  return {.pool = {.least = pool, .most = pool}, .artefacts = [](const std::string&) -> ArtefactTest {
            return [](const std::string& path, bool directory) {
              return directory && (path == "node_modules" || path.ends_with("/node_modules"));
            };
          }};
}

/// A server whose commands belong to one session.
struct Session : Server {
  explicit Session(const std::string& id = "live-1", std::size_t pool = 0) : Server(with_build_outputs(pool)) {
    profile.session = id;
  }
  void settle(std::vector<SettledPath> paths) { executor->settle(profile.session, std::move(paths)); }
};

TreeEntry file(const std::string& content, std::uint32_t mode = 0644) {
  return {.kind = EntryKind::file, .mode = mode, .content = content};
}

}  // namespace

TEST_CASE("a later command of a session sees what an earlier one did, the workspace does not") {
  Session session;
  session.tree.write("a", "old\n");
  session.tree.write("b", "bye\n");
  session.tree.write("dir/x", "x\n");
  const auto before = snapshot(session.tree.workspace());
  session.sh("echo new > a; rm b; rm -r dir; mkdir -p src; echo 1 > src/one");
  const Execution later = session.sh("cat a src/one; ls; echo 2 > src/two");
  CHECK(text(later.out) == "new\n1\na\nsrc\n");
  CHECK(summary(later.changes) == Lines{"M a", "D b", "D dir/x", "A src/one", "A src/two"});
  CHECK(snapshot(session.tree.workspace()) == before);
}

TEST_CASE("commands without a session, and those of another one, see nothing of it") {
  Session session;
  session.sh("echo 1 > mine");
  session.profile.session = "live-2";
  CHECK(text(session.sh("ls").out).empty());
  session.profile.session = "";
  CHECK(text(session.sh("ls").out).empty());
}

TEST_CASE("warm sandboxes serve sessions as well") {
  Session session("live-1", 2);
  session.executor->prepare(session.profile);
  session.wait_until_ready(2);
  session.sh("echo 1 > f");
  CHECK(text(session.sh("cat f").out) == "1\n");
  CHECK(session.executor->pool().warm == 2);
}

TEST_CASE("two commands of a session at once run one after the other, in order of arrival") {
  Session session;
  std::vector<Server::Slot> slots;
  for (const char* script : {"sleep 0.2; echo a >> log", "echo b >> log", "cat log"})
    slots.push_back(session.begin(script));
  CHECK(text(session.finish(slots[2]).out) == "a\nb\n");
  CHECK(*slots[0]);
  CHECK(*slots[1]);
}

TEST_CASE("a command killed while it waits for its turn ends as killed and lets the next one through") {
  Session session;
  const auto first = session.begin("sleep 0.3; echo first >> log");
  const auto second = session.begin("echo second >> log");
  const auto third = session.begin("cat log");
  session.running[1]->kill();
  const Execution killed = session.finish(second);
  CHECK(killed.reason == ExitReason::killed);
  CHECK(killed.signal == SIGKILL);
  CHECK(text(session.finish(third).out) == "first\n");
}

TEST_CASE("what is written to a command that waits reaches it when it begins") {
  Session session;
  session.begin("sleep 0.2");
  const auto slot = std::make_shared<std::optional<Execution>>();
  ExecutionEvents events;
  events.on_done = [slot](Result<Execution> result) { slot->emplace(std::move(*result)); };
  auto started = session.executor->start({.argv = {"cat"}, .stdin_open = true}, session.profile, std::move(events));
  REQUIRE(started);
  (*started)->write_stdin("early\n");
  (*started)->close_stdin();
  CHECK(text(session.finish(slot).out) == "early\n");
}

TEST_CASE("build outputs stay in the stage, are seen by later commands and are no changes") {
  Session session;
  session.sh("mkdir -p node_modules/left-pad sub/node_modules; echo m > node_modules/left-pad/i.js; echo 1 > app.js");
  const Execution later = session.sh("cat node_modules/left-pad/i.js; rm -r sub");
  CHECK(text(later.out) == "m\n");
  CHECK(summary(later.changes) == Lines{"A app.js"});
  CHECK(later.changes.artefacts == Lines{"node_modules/"});
}

TEST_CASE("a path whose review is over leaves the stage") {
  Session session;
  session.tree.write("a", "old\n");
  session.tree.write("gone/deep", "g\n");
  session.sh("echo new > a; mkdir d; echo 1 > d/one; echo 2 > d/two; rm -r gone; ln -s a link");
  SECTION("rejected: the workspace shows through again, the others stay") {
    session.settle({{.path = "a", .staged = file("new\n")},
                    {.path = "d/one", .staged = {}},
                    {.path = "gone/deep", .staged = TreeEntry{}},
                    {.path = "link", .staged = TreeEntry{.kind = EntryKind::symlink, .content = "a"}}});
    const Execution later = session.sh("cat a gone/deep; ls d");
    CHECK(text(later.out) == "old\ng\ntwo\n");
    CHECK(summary(later.changes) == Lines{"A d/two"});
  }
  SECTION("a directory of which nothing is left goes too") {
    session.settle({{.path = "d/one", .staged = {}}, {.path = "d/two", .staged = {}}});
    CHECK(text(session.sh("ls").out) == "a\nlink\n");
  }
  SECTION("applied: the workspace has it, and further changes start from there") {
    session.tree.write("a", "new\n");
    session.settle({{.path = "a", .staged = file("new\n")}});
    session.tree.write("a", "newer\n");
    const Execution later = session.sh("cat a; echo more >> a");
    CHECK(text(later.out) == "newer\n");
    CHECK(summary(later.changes) == Lines{"M a", "A d/one", "A d/two", "D gone/deep", "A link"});
    CHECK(later.changes.changes[0].before.content == "newer\n");
  }
  SECTION("one that was written again since stays") {
    session.sh("echo again > a");
    session.settle({{.path = "a", .staged = file("new\n")}});
    CHECK(text(session.sh("cat a").out) == "again\n");
  }
}

TEST_CASE("a replaced directory whose review is over shows the old one again") {
  Session session;
  session.tree.write("d/old", "o\n");
  session.sh("rm -r d; mkdir d; echo n > d/new");
  session.settle({{.path = "d/new", .staged = {}}, {.path = "d/old", .staged = TreeEntry{}}});
  CHECK(text(session.sh("ls d").out) == "old\n");
}

TEST_CASE("paths settled while a command runs leave the stage after it") {
  Session session;
  session.sh("echo 1 > f; echo 1 > g");
  const auto slot = session.begin("sleep 0.2; echo 2 > g");
  session.settle({{.path = "f", .staged = file("1\n")}, {.path = "g", .staged = file("1\n")}});
  session.finish(slot);
  CHECK(text(session.sh("cat *").out) == "2\n");
}

TEST_CASE("a file changed on disk after a command of the session wrote over it is reported as such") {
  Session session;
  session.tree.write("f", "one\n");
  session.tree.write("g", "one\n");
  session.sh("echo mine > f");
  session.let_pass(20ms);
  session.tree.write("f", "two\n");
  session.tree.write("g", "two\n");
  session.let_pass(20ms);
  const Execution later = session.sh("echo mine > g");
  CHECK(summary(later.changes) == Lines{"M f (changed on disk since: not applied)", "M g"});
}

TEST_CASE("attack: a session that goes on in another process takes nobody else's edits for its base") {
  Session first("named-1");
  for (const char* name : {"edited", "removed", "d/x"}) first.tree.write(name, "one\n");
  first.sh("echo mine > edited; rm removed; rm -r d; echo mine > made");
  first.executor.reset();
  first.let_pass(20ms);
  for (const char* name : {"edited", "removed", "d/new", "made"}) first.tree.write(name, "theirs\n");
  first.let_pass(20ms);
  ExecutorOptions options = with_build_outputs();
  options.state_dir = first.tree.state().string();
  options.libexec_dir = libexec_dir();
  first.executor = make_bwrap_executor(first.loop, options);
  CHECK(summary(first.sh("true").changes) ==
        Lines{"D d/new (changed on disk since: not applied)", "D d/x", "M edited (changed on disk since: not applied)",
              "M made (changed on disk since: not applied)", "D removed (changed on disk since: not applied)"});
}

TEST_CASE("attack: what somebody types into a document after a command wrote over it is no base for that command") {
  Session session;
  session.tree.write("u", "disk\n");
  session.profile.unsaved = {{"u", "typed 1\n"}};
  CHECK(summary(session.sh("echo mine > u").changes) == Lines{"M u"});
  CHECK(summary(session.sh("true").changes) == Lines{"M u"});
  session.profile.unsaved = {{"u", "typed 2\n"}};
  CHECK(summary(session.sh("true").changes) == Lines{"M u (changed on disk since: not applied)"});
  session.settle({{.path = "u", .staged = {}}});
  const Execution after = session.sh("cat u; echo mine >> u");
  CHECK(text(after.out) == "typed 2\n");
  CHECK(summary(after.changes) == Lines{"M u"});
}

TEST_CASE("a read-only command of a session sees what was staged") {
  Session session;
  session.tree.write("a", "1\n");
  session.sh("rm a; echo 2 > b");
  session.profile.writable = Writable::none;
  CHECK(text(session.sh("ls; echo x > c").out) == "b\n");
}

TEST_CASE("the stage of a connection goes with it") {
  Session session;
  session.sh("echo 1 > f");
  CHECK(directories_in(session.tree, "sessions") == 1);
  SECTION("ended") {
    session.executor->end_session("live-1");
    session.stop();
    CHECK(directories_in(session.tree, "sessions") == 0);
  }
  SECTION("ended while a command runs: afterwards") {
    const auto slot = session.begin("sleep 0.1; cat f");
    session.executor->end_session("live-1");
    CHECK(text(session.finish(slot).out) == "1\n");
    session.stop();
    CHECK(directories_in(session.tree, "sessions") == 0);
  }
  SECTION("the server stops") {
    session.stop();
    CHECK(directories_in(session.tree, "sessions") == 0);
  }
}

TEST_CASE("a stage that a person named is there for the next process") {
  Session first("named-1");
  first.sh("echo 1 > f");
  first.executor.reset();
  first.loop.restart();
  first.loop.run();
  ExecutorOptions options = with_build_outputs();
  options.state_dir = first.tree.state().string();
  options.libexec_dir = libexec_dir();
  first.executor = make_bwrap_executor(first.loop, options);
  first.loop.restart();
  CHECK(text(first.sh("cat f").out) == "1\n");
}

TEST_CASE("attack: session names that climb, hide or are no names are refused") {
  Session session;
  for (const char* id : {"../x", "a/b", ".", "..", "a b", "a\n", "a.lock", "\xff"}) {
    INFO(id);
    session.profile.session = id;
    CHECK_FALSE(session.executor->start({.argv = {"true"}}, session.profile, {}));
  }
  session.profile.session = std::string(65, 'a');
  CHECK_FALSE(session.executor->start({.argv = {"true"}}, session.profile, {}));
}

TEST_CASE("attack: whiteouts and links planted in one command don't let a later settling reach outside") {
  Session session;
  session.tree.write("a", "1\n");
  std::ofstream(session.tree.outside() / "victim") << "v\n";
  session.sh("rm a; ln -s " + session.tree.outside().string() + " d; ln -s / e");
  session.settle({{.path = "d/victim", .staged = {}},
                  {.path = "../outside/victim", .staged = {}},
                  {.path = "e" + session.tree.outside().string() + "/victim", .staged = {}}});
  CHECK(fs::exists(session.tree.outside() / "victim"));
}
