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

/// Runs on the host, to lay out what a test needs.
void on_host(const std::string& script) {
  REQUIRE(std::system(("set -e; exec >/dev/null 2>&1; export GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent "
                       "GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.test GIT_COMMITTER_NAME=t "
                       "GIT_COMMITTER_EMAIL=t@example.test; " +
                       script)
                          .c_str()) == 0);
}

constexpr const char* kCommitter =
    "export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.test GIT_COMMITTER_NAME=t "
    "GIT_COMMITTER_EMAIL=t@example.test; ";

/// Says aloud what is not tried here; a tool counts as there if the guest finds it.
bool has_tool(Cage& cage, const std::string& probe, const char* name) {
  if (cage.sh(probe + " >/dev/null 2>&1").exit_code == 0) return true;
  WARN("SKIPPED: " << name << " is not on this machine, or not for this user");
  return false;
}

/// The script succeeds inside, and prints exactly this.
void check_prints(Cage& cage, const std::string& script, const std::string& expected) {
  INFO(script);
  const Execution execution = cage.sh(script);
  INFO(text(execution.err));
  CHECK(execution.exit_code == 0);
  CHECK(text(execution.out) == expected);
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

TEST_CASE("git commits in a clone, and the clone it came from stays as it is") {
  Cage cage;
  on_host("cd '" + cage.tree.outside().string() +
          "'; git -c init.defaultBranch=main init -q origin; cd origin; "
          "echo one > f; git add f; git commit -qm one; git clone -q . '" +
          cage.profile.workspace +
          "/.clone'; "
          "mv '" +
          cage.profile.workspace + "/.clone/'.git '" + cage.profile.workspace + "/'; cd '" + cage.profile.workspace +
          "'; rm -rf .clone; git checkout -q -- .");
  const auto before = snapshot(cage.tree.outside());
  check_prints(cage,
               std::string(kCommitter) +
                   "echo two >> f && git commit -qam two && git log --format=%s && git status "
                   "--porcelain && git switch -qc topic && git stash list && git diff --stat main~1 | tail -1",
               "two\none\n 1 file changed, 1 insertion(+)\n");
  CHECK(snapshot(cage.tree.outside()) == before);
}

TEST_CASE("git reads history in a worktree whose repository lies outside, and says what it may not write") {
  Cage cage;
  on_host("cd '" + cage.tree.outside().string() +
          "'; git -c init.defaultBranch=main init -q main; cd main; echo one > f; "
          "git add f; git commit -qm one; rmdir '" +
          cage.profile.workspace + "'; git worktree add -q '" + cage.profile.workspace + "' -b topic");
  const auto before = snapshot(cage.tree.outside());
  check_prints(cage,
               "git log --format=%s; git status --porcelain; echo two >> f; git diff --stat | tail -1; git branch "
               "--show-current",
               "one\n 1 file changed, 1 insertion(+)\ntopic\n");
  const Execution commit = cage.sh(std::string(kCommitter) + "echo two >> f; git commit -qam two");
  CHECK((commit.exit_code == 0 || text(commit.err).find("Read-only file system") != std::string::npos));
  CHECK(snapshot(cage.tree.outside()) == before);
}

TEST_CASE("git commits in a submodule of the workspace") {
  Cage cage;
  on_host("cd '" + cage.tree.outside().string() +
          "'; git -c init.defaultBranch=main init -q part; cd part; echo one > f; "
          "git add f; git commit -qm part; cd '" +
          cage.profile.workspace +
          "'; git -c init.defaultBranch=main init -q .; "
          "git -c protocol.file.allow=always submodule --quiet add '" +
          cage.tree.outside().string() + "/part' sub; git commit -qm whole");
  check_prints(
      cage,
      std::string(kCommitter) +
          "cd sub && echo two >> f && git commit -qam two && git log --format=%s && cd .. && git add sub && git commit "
          "-qm moved && git log --format=%s && git submodule status | wc -l",
      "two\npart\nmoved\nwhole\n1\n");
}

TEST_CASE("git reads history in a submodule that is itself the workspace") {
  Cage cage;
  on_host("cd '" + cage.tree.outside().string() +
          "'; git -c init.defaultBranch=main init -q part; cd part; echo one > f; "
          "git add f; git commit -qm part; cd ..; git -c init.defaultBranch=main init -q whole; cd whole; "
          "git -c protocol.file.allow=always submodule --quiet add ../part sub; git commit -qm whole");
  cage.profile.workspace = (cage.tree.outside() / "whole/sub").string();
  check_prints(cage, "git log --format=%s; git status --porcelain", "part\n");
}

TEST_CASE("git init, add, commit, branch, merge and rebase work in a fresh directory") {
  Cage cage;
  check_prints(cage,
               std::string(kCommitter) +
                   "mkdir new && cd new && git -c init.defaultBranch=main init -q && echo a > a && git add a && git "
                   "commit -qm a "
                   "&& git switch -qc side && echo b > b && git add b && git commit -qm b && git switch -q main && "
                   "echo c > c && "
                   "git add c && git commit -qm c && git switch -q side && git rebase -q main && git switch -q main && "
                   "git merge "
                   "-q --no-edit side && git log --format=%s && git gc -q && git fsck 2>/dev/null && ls",
               "b\nc\na\na\nb\nc\n");
}

TEST_CASE("npm installs a package of a local folder, and node's own tests pass") {
  Cage cage;
  if (!has_tool(cage, "npm --version && node --version", "npm")) return;
  cage.tree.write("part/package.json", R"({"name":"part","version":"1.0.0","main":"index.js"})");
  cage.tree.write("part/index.js", "module.exports = () => 'part';\n");
  cage.tree.write("package.json", R"({"name":"whole","version":"1.0.0","scripts":{"test":"node --test"},)"
                                  R"("dependencies":{"part":"file:part"}})");
  cage.tree.write("whole.test.js",
                  "const test = require('node:test'), assert = require('node:assert');\n"
                  "test('part', () => assert.equal(require('part')(), 'part'));\n");
  const Execution execution = cage.sh(
      "npm install --offline --no-audit --no-fund --silent && npm test --silent > log 2>&1; code=$?; grep -c '^# pass "
      "1\\|pass 1' log; exit $code");
  INFO(text(execution.err));
  CHECK(execution.exit_code == 0);
  CHECK(text(execution.out) == "1\n");
}

TEST_CASE("node serves and asks itself over the loopback, by a socket and by worker threads") {
  Cage cage;
  if (!has_tool(cage, "node --version", "node")) return;
  cage.tree.write(
      "s.js",
      "const http = require('http'), net = require('net'), { Worker } = require('worker_threads');\n"
      "const server = http.createServer((q, a) => a.end('answer')).listen(0, '127.0.0.1', () =>\n"
      "  http.get({ port: server.address().port }, r => { r.on('data', d => console.log(String(d)));\n"
      "    r.on('end', () => server.close(socket)); }));\n"
      "function socket() { const s = net.createServer(c => c.end('by path')).listen('/tmp/s.sock', () =>\n"
      "  net.connect('/tmp/s.sock').on('data', d => console.log(String(d))).on('close', () => s.close(worker))); }\n"
      "function worker() { new Worker(\"require('worker_threads').parentPort.postMessage('worker')\", { eval: true })\n"
      "  .on('message', m => console.log(m)); }\n");
  check_prints(cage, "node s.js", "answer\nby path\nworker\n");
}

TEST_CASE("python makes a virtual environment, and tests with asyncio and multiprocessing pass in it") {
  Cage cage;
  if (!has_tool(cage, "python3 -c 'import venv, ensurepip'", "python3 with venv")) return;
  cage.tree.write(
      "test_all.py",
      "import asyncio, multiprocessing, os, socket, unittest, concurrent.futures, sqlite3, tempfile\n"
      "def square(x): return x * x\n"
      "async def talk():\n"
      "  async def serve(r, w): w.write((await r.readline()).upper()); await w.drain(); w.close()\n"
      "  server = await asyncio.start_server(serve, '127.0.0.1', 0)\n"
      "  r, w = await asyncio.open_connection(*server.sockets[0].getsockname())\n"
      "  w.write(b'hello\\n'); answer = await r.read(); w.close(); server.close(); return answer\n"
      "async def child():\n"
      "  p = await asyncio.create_subprocess_exec('echo', 'x', stdout=asyncio.subprocess.PIPE)\n"
      "  return (await p.communicate())[0]\n"
      "class All(unittest.TestCase):\n"
      "  def test_server(self): self.assertEqual(asyncio.run(talk()), b'HELLO\\n')\n"
      "  def test_child(self): self.assertEqual(asyncio.run(child()), b'x\\n')\n"
      "  def test_pool(self):\n"
      "    with multiprocessing.Pool(2) as pool: self.assertEqual(pool.map(square, [1, 2, 3]), [1, 4, 9])\n"
      "  def test_spawn(self):\n"
      "    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn')) as e:\n"
      "      self.assertEqual(list(e.map(square, [4])), [16])\n"
      "  def test_shared_memory(self):\n"
      "    from multiprocessing import shared_memory\n"
      "    m = shared_memory.SharedMemory(create=True, size=64); m.buf[0] = 7; m.close(); m.unlink()\n"
      "  def test_database(self):\n"
      "    d = sqlite3.connect('d.sqlite'); d.execute('create table t(x)'); d.commit(); d.close()\n"
      "  def test_pair(self): a, b = socket.socketpair(); a.send(b'x'); self.assertEqual(b.recv(1), b'x')\n"
      "if __name__ == '__main__': unittest.main()\n");
  const Execution execution = cage.sh(
      "python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)' && "
      "v/bin/python -m unittest -q");
  INFO(text(execution.err));
  CHECK(execution.exit_code == 0);
  CHECK(text(execution.out) == "True\n");
  CHECK(text(execution.err).find("Ran 7 tests") != std::string::npos);
}

TEST_CASE("cmake configures, builds and tests a project") {
  Cage cage;
  if (!has_tool(cage, "cmake --version && g++ --version", "cmake with a compiler")) return;
  cage.tree.write("CMakeLists.txt",
                  "cmake_minimum_required(VERSION 3.16)\nproject(p CXX)\nfind_package(Threads REQUIRED)\n"
                  "add_executable(p m.cpp)\ntarget_link_libraries(p Threads::Threads)\nenable_testing()\n"
                  "add_test(NAME t COMMAND p)\n");
  cage.tree.write("m.cpp",
                  "#include <thread>\nint main() { int x = 1; std::thread([&] { x = 0; }).join(); return x; }\n");
  const Execution execution = cage.sh(
      "cmake -S . -B b > log && cmake --build b -j2 >> log && cd b && ctest 2>&1 | grep -o '100% tests passed'");
  INFO(text(execution.err));
  CHECK(execution.exit_code == 0);
  CHECK(text(execution.out) == "100% tests passed\n");
}

TEST_CASE("java compiles and runs") {
  Cage cage;
  if (!has_tool(cage, "javac -version", "javac")) return;
  cage.tree.write("M.java", "public class M { public static void main(String[] a) { System.out.println(6 * 7); } }\n");
  check_prints(cage, "javac M.java && java -Xmx256m M", "42\n");
}

TEST_CASE("cargo builds and tests a package without dependencies") {
  Cage cage;
  if (!has_tool(cage, "cargo --version && rustc --version", "cargo")) return;
  cage.tree.write("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
  cage.tree.write("src/lib.rs", "#[test]\nfn sums() { assert_eq!(1 + 1, 2); }\n");
  const Execution execution = cage.sh("cargo test --offline -q 2>&1 | grep -c '1 passed'");
  CHECK(text(execution.out) == "1\n");
}

TEST_CASE("go builds and tests a module without dependencies") {
  Cage cage;
  if (!has_tool(cage, "go version", "go")) return;
  cage.tree.write("go.mod", "module p\n\ngo 1.19\n");
  cage.tree.write("p_test.go", "package p\n\nimport \"testing\"\n\nfunc TestP(t *testing.T) {}\n");
  check_prints(cage, "go test ./... | cut -c1-2", "ok\n");
}

TEST_CASE("ps, top and uptime see the sandbox and nothing else") {
  Cage cage;
  if (!has_tool(cage, "ps --version", "ps")) return;
  const Execution execution = cage.sh("ps -e -o comm= | sort -u; ps aux | wc -l");
  INFO(text(execution.out));
  CHECK(execution.exit_code == 0);
  CHECK(text(execution.out).find("runner\n") != std::string::npos);
  CHECK(text(execution.out).find("systemd") == std::string::npos);
}

TEST_CASE("terminal programs find a terminal, its size and its name") {
  Cage cage;
  Result<Execution> result = cage.run({.argv = {"/bin/sh", "-c", "tty; stty size; test -t 0 && test -t 1 && tput cols"},
                                       .cwd = {},
                                       .env = {{"TERM", "xterm"}},
                                       .stdin_text = {},
                                       .stdin_open = false,
                                       .pty = PtySize{.cols = 97, .rows = 31}});
  REQUIRE(result);
  CHECK(text(result->out).find("/dev/pts/") != std::string::npos);
  CHECK(text(result->out).find("31 97") != std::string::npos);
  CHECK(result->exit_code == 0);
}
