#include <sys/stat.h>
#include <unistd.h>

#include "tests/sandbox/server_fixture.h"

// Sandboxes that wait for a command, and the index of what they must not see.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;
using namespace std::chrono_literals;

namespace {
constexpr PoolSize kPool{.least = 2, .most = 4};
}

TEST_CASE("a prepared sandbox is used by the next command, and only by one") {
  Server server({.pool = kPool});
  server.executor->prepare(server.profile);
  server.wait_until_ready(2);
  CHECK(text(server.sh("echo one > /tmp/left; echo $$").out) == "2\n");
  CHECK(text(server.sh("cat /tmp/left 2>&1 || true").out).find("No such file") != std::string::npos);
  CHECK(server.executor->pool().warm == 2);
  CHECK(server.executor->pool().cold == 0);
  server.wait_until_ready(2);
}

TEST_CASE("a sandbox that waited shows the workspace as it is when the command comes") {
  Server server({.pool = kPool});
  server.tree.write("old", "1\n");
  server.tree.write("sub/gone", "1\n");
  server.executor->prepare(server.profile);
  server.wait_until_ready(2);
  server.tree.write("new", "2\n");
  server.tree.write("old", "3\n");
  fs::remove_all(server.tree.workspace() / "sub");
  CHECK(text(server.sh("cat new old; ls").out) == "2\n3\nnew\nold\n");
  CHECK(server.executor->pool().warm == 1);
}

TEST_CASE("a secret that came while the sandbox waited is not seen") {
  Server server({.pool = kPool});
  server.tree.write("src/main.c", "int main;\n");
  server.executor->prepare(server.profile);
  server.wait_until_ready(1);
  server.tree.write(".env", "KEY=1\n");
  server.tree.write("src/.env", "KEY=2\n");
  server.tree.write("fresh/deep/.env", "KEY=3\n");
  server.tree.write("src/key.pem", std::string("-----BEGIN ") + "PRIVATE KEY-----\nMII\n");
  CHECK(text(server.sh("find . -type f | sort").out) == "./src/main.c\n");
  fs::rename(server.tree.workspace() / "fresh", server.tree.workspace() / "moved");
  CHECK(text(server.sh("find . -type f | sort; ls").out) == "./src/main.c\nmoved\nsrc\n");
  fs::create_hard_link(server.tree.workspace() / ".env", server.tree.workspace() / "src/plain.txt");
  CHECK(text(server.sh("find . -type f | sort").out) == "./src/main.c\n");
}

TEST_CASE("a directory that held a secret and is gone is not shown as a ghost") {
  Server server({.pool = kPool});
  server.tree.write("a/.env", "KEY=1\n");
  CHECK(text(server.sh("ls").out) == "a\n");
  fs::remove_all(server.tree.workspace() / "a");
  CHECK(text(server.sh("ls").out).empty());
}

TEST_CASE("what no longer is a secret is seen again") {
  Server server({.pool = kPool});
  server.tree.write("k.pem", std::string("-----BEGIN ") + "PRIVATE KEY-----\nMII\n");
  CHECK(text(server.sh("ls").out).empty());
  server.tree.write("k.pem", "-----BEGIN CERTIFICATE-----\nMII\n");
  CHECK(text(server.sh("ls").out) == "k.pem\n");
}

TEST_CASE("a burst of commands: each gets its own answer, and the pool grows") {
  Server server({.pool = kPool});
  server.executor->prepare(server.profile);
  server.wait_until_ready(2);
  std::vector<Server::Slot> slots;
  for (int i = 0; i < 12; ++i)
    slots.push_back(server.begin("echo " + std::to_string(i) + " > mine; cat mine; ls | wc -l"));
  for (int i = 0; i < 12; ++i) {
    const Execution execution = server.finish(slots[std::size_t(i)]);
    CHECK(text(execution.out) == std::to_string(i) + "\n1\n");
    CHECK(summary(execution.changes) == std::vector<std::string>{"A mine"});
  }
  server.running.clear();
  CHECK(server.executor->pool().warm >= 2);
  CHECK(server.executor->pool().wanted == 4);
  server.wait_until_ready(4);
}

TEST_CASE("nothing is left of sandboxes that were never used") {
  Server server({.pool = kPool});
  server.executor->prepare(server.profile);
  server.wait_until_ready(2);
  CHECK(directories_in(server.tree, "stages") >= 2);
  server.stop();
  CHECK(directories_in(server.tree, "stages") == 0);
}

TEST_CASE("sandboxes nobody asks for any more are taken down") {
  Server server({.pool = {.least = 1, .most = 2, .idle = 300ms}});
  server.executor->prepare(server.profile);
  server.wait_until_ready(1);
  server.let_pass(400ms);
  Profile other = server.profile;
  other.name = "build";
  server.executor->prepare(other);
  server.let_pass(200ms);
  CHECK(server.executor->pool().ready == 1);
}

TEST_CASE("attack: a waiting sandbox is killed; the next command is not lost") {
  Server server({.pool = kPool});
  server.executor->prepare(server.profile);
  server.wait_until_ready(2);
  // Every launcher of ours, by the stage it holds.
  for (const auto& process : fs::directory_iterator("/proc")) {
    const std::string name = process.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::error_code error;
    const std::string program = fs::read_symlink(process.path() / "exe", error).string();
    std::string parent;
    std::ifstream status(process.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("PPid:")) parent = line.substr(6);
    if (program.ends_with("escrow-launcher") && parent == std::to_string(getpid())) kill(std::stoi(name), SIGKILL);
  }
  server.let_pass(50ms);
  CHECK(text(server.sh("echo fine").out) == "fine\n");
}
