#include <string>

#include "engine/evaluate.h"
#include "tests/catch.h"

using namespace escrow::engine;

namespace {

std::string verdict(const Action& action) {
  ActionContext context;
  context.venue = Venue::cage;
  context.workspace_root = "/work/app";
  context.home = "/home/ann";
  const Evaluation e = evaluate(action, context, builtin_policy());
  return std::string(name_of(e.decision.verdict)) + " " + std::string(name_of(e.decision.risk.level)) + " " +
         e.decision.clause;
}

std::string reading(std::string path) {
  return verdict(FileAction{FileOp::read, {std::move(path)}, ""});
}

std::string writing(std::string path) {
  return verdict(FileAction{FileOp::write, {std::move(path)}, ""});
}

std::string removing(std::string path) {
  return verdict(FileAction{FileOp::remove, {std::move(path)}, ""});
}

std::string moving(std::string from, std::string to) {
  return verdict(FileAction{FileOp::move, {std::move(from)}, std::move(to)});
}

}  // namespace

TEST_CASE("a read tool is judged by where it reads") {
  CHECK(reading("/usr/include/stdio.h") == "allow none command.read-only");
  CHECK(reading("/tmp/out.txt") == "allow none command.read-only");
  CHECK(reading("tests/../src/./a.cc") == "allow none command.read-only");
  CHECK(reading("/etc/passwd") == "prompt medium command.path-escape");
  CHECK(reading("/work/application/a") == "prompt medium command.path-escape");
  CHECK(reading("~/notes.txt") == "prompt medium command.path-escape");
  CHECK(reading("config/master.key") == "prompt medium command.credential-access");
  CHECK(reading("/etc/shadow") == "prompt high command.credential-access");
  CHECK(reading("/proc/1/environ") == "prompt high command.credential-access");
  CHECK(reading("/proc/self/environ") == "prompt high command.credential-access");
  CHECK(reading("/dev/sda") == "prompt high command.credential-access");
}

TEST_CASE("a write tool is judged by what it changes") {
  CHECK(writing("/tmp/x") == "allow low command.workspace-write");
  CHECK(writing("../sibling/a") == "prompt medium command.path-escape");
  CHECK(writing("/etc/hosts") == "prompt high command.path-escape");
  CHECK(writing("/etc/sudoers.d/agent") == "prompt high command.privilege");
  CHECK(writing("~/.ssh/authorized_keys") == "prompt high command.persistence");
  CHECK(writing("/home/ann/.config/systemd/user/a.service") == "prompt high command.persistence");
  CHECK(writing("sub/.git/hooks/post-merge") == "prompt high command.persistence");
  CHECK(writing("/dev/sda") == "deny critical command.destructive");
  CHECK(writing("~/.config/escrow/policy.yaml") == "deny critical command.guard-tamper");
}

TEST_CASE("a tool that removes is judged by what is lost") {
  CHECK(removing("src/a.cc") == "allow low command.destructive");
  CHECK(removing("src/") == "prompt medium command.destructive");
  CHECK(removing("build/") == "allow low command.destructive");
  CHECK(removing(".git/") == "prompt high command.destructive");
  CHECK(removing("/") == "deny critical command.destructive");
  CHECK(removing("~/") == "deny critical command.destructive");
  CHECK(removing(".escrow/policy.yaml") == "deny critical command.guard-tamper");
}

TEST_CASE("attack: a key moved into the workspace can be read there") {
  CHECK(moving("a.txt", "b.txt") == "allow low command.workspace-write");
  CHECK(moving("~/.ssh/id_rsa", "notes.txt") == "prompt high command.credential-access");
  CHECK(moving(".env", "env.txt") == "prompt medium command.credential-access");
  CHECK(moving(".escrow", "old") == "deny critical command.guard-tamper");
  CHECK(moving("hook.sh", ".git/hooks/pre-push") == "prompt high command.persistence");
}

TEST_CASE("of several paths the gravest decides, and none at all is not waved through") {
  CHECK(verdict(FileAction{FileOp::read, {"a", "b", "~/.netrc"}, ""}) == "prompt high command.credential-access");
  CHECK(verdict(FileAction{FileOp::write, {}, ""}) == "prompt medium command.path-escape");
}

TEST_CASE("a fetch tool is judged by the host, however it is spelled") {
  for (const char* host : {"localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "::1", "[::1]"}) {
    INFO(host);
    CHECK(verdict(NetworkAction{host, 8080}) == "allow low command.network");
  }
  for (const char* host : {"169.254.169.254", "metadata.google.internal", "Metadata.Google.Internal."}) {
    INFO(host);
    CHECK(verdict(NetworkAction{host, 80}) == "deny critical command.credential-access");
  }
  for (const char* host : {"localhost.evil.example", "127.0.0.1.evil.example", "example.org", ""}) {
    INFO(host);
    CHECK(verdict(NetworkAction{host, 443}) == "prompt medium command.network");
  }
}

TEST_CASE("a tool that nobody vouches for asks, whatever it says of itself") {
  CHECK(verdict(McpAction{"files", "read", true}) == verdict(McpAction{"files", "read", false}));
  CHECK(verdict(McpAction{"files", "read", true}) == "prompt medium command.inline-code");
  CHECK(verdict(OtherAction{"something"}) == "prompt medium command.inline-code");
}
