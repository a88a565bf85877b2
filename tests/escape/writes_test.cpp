#include <sys/xattr.h>

#include "tests/escape/escape_fixture.h"

// Attacks on what must not be written.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;
using Lines = std::vector<std::string>;

TEST_CASE("writes outside of the workspace do not reach the host") {
  Cage cage;
  std::ofstream(cage.tree.outside() / "f") << "mine\n";
  fs::create_symlink(cage.tree.outside(), cage.tree.workspace() / "out");
  const auto before = snapshot(cage.tree.outside());
  const std::string outside = cage.tree.outside().string();
  cage.sh("echo x > out/f; echo x > out/new; echo x > " + outside + "/f; echo x > ../outside/f; rm -rf " + outside +
          " ../outside out/*;"
          "echo x > /proc/self/root" +
          outside + "/f; mkdir -p " + outside + "; echo x > " + outside + "/f");
  CHECK(snapshot(cage.tree.outside()) == before);
}

TEST_CASE("the system cannot be written") {
  Cage cage;
  const Execution execution = cage.sh(
      "for d in / /usr /usr/bin /etc /opt /dev /run /var /lib; do touch $d/escrow-escape 2>/dev/null && echo wrote $d; "
      "done; true");
  CHECK(text(execution.out).empty());
}

TEST_CASE("what is written to /tmp and HOME is thrown away") {
  Cage cage;
  cage.sh(
      "echo x > /tmp/escrow-escape; echo x > \"$HOME/escrow-escape\"; echo x > /dev/shm/escrow-escape; echo x > "
      "/var/tmp/escrow-escape");
  CHECK_FALSE(fs::exists("/tmp/escrow-escape"));
  CHECK_FALSE(fs::exists("/dev/shm/escrow-escape"));
  CHECK_FALSE(fs::exists(cage.tree.workspace().root_path() / "var/tmp/escrow-escape"));
  if (const char* home = std::getenv("HOME")) CHECK_FALSE(fs::exists(fs::path(home) / "escrow-escape"));
  CHECK(text(cage.sh("ls /tmp/escrow-escape \"$HOME/escrow-escape\" /dev/shm/escrow-escape 2>/dev/null").out).empty());
}

TEST_CASE("a guest that forges the overlay's own marks hides and shows nothing") {
  AttackedCage cage;
  cage.tree.write("dir/kept", "x\n");
  cage.attack({"overlay-xattr=" + cage.profile.workspace + "/dir", "trusted-xattr=" + cage.profile.workspace + "/dir"});
  // In one run: a mark that took would make the directory look replaced, and `kept` deleted.
  const Execution execution =
      cage.sh("./attacker overlay-xattr=$PWD/dir trusted-xattr=$PWD/dir; touch dir/new; mknod gone c 0 0; ls dir");
  CHECK(text(execution.out).ends_with("kept\nnew\n"));
  CHECK(summary(execution.changes) == Lines{"A dir/new"});
}

TEST_CASE("a repository that brings the overlay's marks along hides and shows nothing") {
  Cage cage;
  cage.tree.write("dir/kept", "x\n");
  for (const char* name :
       {"user.overlay.opaque", "user.overlay.redirect", "user.overlay.metacopy", "user.overlay.origin"})
    if (setxattr((cage.tree.workspace() / "dir").c_str(), name, "y", 1, 0) != 0)
      WARN("no user attributes on this file system");
  cage.tree.write("dir/.env", canary());
  const Execution execution = cage.sh("cat dir/kept; cat dir/.env; echo y > dir/new");
  CHECK(text(execution.out) == "x\n");
  CHECK(summary(execution.changes) == Lines{"A dir/new"});
}

TEST_CASE("nothing is created in the workspace, beside it, in HOME or /tmp by an execution") {
  Cage cage;
  cage.tree.write("a/b/c", "x\n");
  const auto before = snapshot(cage.tree.workspace());
  const auto names = [](const fs::path& directory) {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory)) found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    return found;
  };
  const char* home = std::getenv("HOME");
  const auto beside = names(cage.tree.workspace().parent_path());
  const auto at_home = names(home ? home : "/");
  cage.sh("touch x; mkdir -p .git/hooks .vscode; touch \"$HOME/y\" .bashrc");
  CHECK(snapshot(cage.tree.workspace()) == before);
  auto beside_after = names(cage.tree.workspace().parent_path());
  std::erase(beside_after, cage.tree.state().string());
  CHECK(beside_after == beside);
  CHECK(names(home ? home : "/") == at_home);
}
