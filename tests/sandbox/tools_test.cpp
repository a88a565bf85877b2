#include <array>
#include <cstdio>

#include "tests/sandbox/cage_fixture.h"

// Ordinary tools do ordinary work inside.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;
using Lines = std::vector<std::string>;

namespace {

void make_repository(const Cage& cage) {
  const std::string git = "cd '" + cage.profile.workspace +
                          "' && git -c init.defaultBranch=main init -q . && git add -A && "
                          "git -c user.name=t -c user.email=t@example.test commit -qm one";
  REQUIRE(std::system(git.c_str()) == 0);
}

}  // namespace

TEST_CASE("git status and diff tell the truth inside") {
  Cage cage;
  cage.tree.write("f", "one\n");
  make_repository(cage);
  const Execution execution = cage.sh("git status --porcelain; echo two > f; git status --porcelain; git diff --stat");
  CHECK(execution.exit_code == 0);
  CHECK(text(execution.out).starts_with(" M f\n"));
}

TEST_CASE("git commit works inside and stays there") {
  Cage cage;
  cage.tree.write("f", "one\n");
  make_repository(cage);
  const auto before = snapshot(cage.tree.workspace());
  const Execution execution = cage.sh(
      "echo two > f; git -c user.name=t -c user.email=t@example.test commit -qam two && git log --oneline | wc -l");
  CHECK(execution.exit_code == 0);
  CHECK(text(execution.out) == "2\n");
  CHECK(snapshot(cage.tree.workspace()) == before);
  for (const TreeChange& change : execution.changes.changes)
    CHECK((change.path == "f" || (change.path.starts_with(".git/") && !change.note.empty())));
}

TEST_CASE("a repository's fsmonitor does not run because git is asked for its status") {
  Cage cage;
  cage.tree.write("f", "one\n");
  make_repository(cage);
  std::ofstream(cage.tree.workspace() / ".git/config", std::ios::app) << "[core]\n\tfsmonitor = touch ran; false\n";
  const Execution execution = cage.sh("git status >/dev/null; ls");
  CHECK(text(execution.out) == "f\n");
}

TEST_CASE("python, node and make run inside") {
  Cage cage;
  cage.tree.write("Makefile", "all:\n\t@echo made > out\n\t@cat out\n");
  const Execution execution =
      cage.sh("python3 -c 'print(6*7)'; node -e 'console.log([1,2].map(x => x*2).join())'; make -s");
  CHECK(text(execution.out) == "42\n2,4\nmade\n");
  CHECK(summary(execution.changes) == Lines{"A out"});
}

TEST_CASE("a compiler compiles, and what it made runs") {
  Cage cage;
  cage.tree.write("m.c", "#include <stdio.h>\nint main(void) { puts(\"compiled\"); return 0; }\n");
  const Execution execution = cage.sh("gcc -o m m.c && ./m");
  CHECK(text(execution.out) == "compiled\n");
  CHECK(summary(execution.changes) == Lines{"A m"});
}

TEST_CASE("threads, child processes and temporary files work inside") {
  Cage cage;
  const Execution execution = cage.sh(
      "python3 - <<'END'\n"
      "import threading, subprocess, tempfile, multiprocessing\n"
      "t = threading.Thread(target=lambda: print('thread')); t.start(); t.join()\n"
      "print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout, end='', flush=True)\n"
      "with tempfile.NamedTemporaryFile() as f: f.write(b'x'); print('temporary')\n"
      "q = multiprocessing.Queue(); q.put('queue'); print(q.get())\n"
      "END\n");
  CHECK(text(execution.err).empty());
  CHECK(text(execution.out) == "thread\nchild\ntemporary\nqueue\n");
}
