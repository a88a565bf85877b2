#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "server/workspace/beneath.h"
#include "server/workspace/local_tree.h"
#include "server/workspace/write_journal.h"
#include "server/workspace/write_transaction.h"
#include "tests/catch.h"
#include "tests/server/temp_dir.h"

using namespace escrow::server;
using escrow::test::TempDir;

namespace {

FileImage file(const std::string& content, std::uint32_t mode = 0644) {
  return {.kind = ImageKind::file, .mode = mode, .content = content};
}
FileImage link_to(const std::string& target) {
  return {.kind = ImageKind::symlink, .mode = 0777, .content = target};
}

/// Names and contents of everything below `root`, as one text: what "byte-identical" compares.
std::string listing(const std::string& root) {
  std::string text;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    text += path.lexically_relative(root).string();
    if (std::filesystem::is_symlink(path)) text += " -> " + std::filesystem::read_symlink(path).string();
    if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path))) {
      std::ifstream in(path, std::ios::binary);
      text += " = " + std::string{std::istreambuf_iterator<char>(in), {}};
    }
    text += "\n";
  }
  return text;
}

struct Place {
  TempDir root, state;
  LocalTree tree{state.path()};
  Result<WriteRecord> write(const std::vector<FileWrite>& writes) { return tree.write_all(root.path(), writes); }
};

}  // namespace

TEST_CASE("a change of every kind is written whole") {
  Place at;
  at.root.write("keep.txt", "keep\n");
  at.root.write("edit.txt", "old\n");
  at.root.write("drop.txt", "bye\n");
  at.root.write("run.sh", "#!/bin/sh\n");
  const auto done = at.write({{"edit.txt", file("old\n"), file("new\n")},
                              {"drop.txt", file("bye\n"), {}},
                              {"deep/er/new.txt", {}, file("hello\n")},
                              {"run.sh", file("#!/bin/sh\n"), file("#!/bin/sh\n", 0755)},
                              {"alias", {}, link_to("deep/er/new.txt")}});
  REQUIRE(done.has_value());
  CHECK(
      listing(at.root.path()) ==
      "alias -> deep/er/new.txt\ndeep\ndeep/er\ndeep/er/new.txt = hello\n\nedit.txt = new\n\nkeep.txt = keep\n\nrun.sh "
      "= #!/bin/sh\n\n");
  struct stat info {};
  REQUIRE(::stat((at.root / "run.sh").c_str(), &info) == 0);
  CHECK((info.st_mode & 0111) == 0111);
}

TEST_CASE("one stale file of many leaves all of them old") {
  Place at;
  at.root.write("a.txt", "a\n");
  at.root.write("b.txt", "b changed underneath\n");
  const std::string before = listing(at.root.path());
  const auto done = at.write(
      {{"a.txt", file("a\n"), file("A\n")}, {"new/n.txt", {}, file("n\n")}, {"b.txt", file("b\n"), file("B\n")}});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().kind == ErrorKind::stale);
  CHECK(listing(at.root.path()) == before);
  CHECK(listing(at.state.path()).find("journal/w-") == std::string::npos);
}

TEST_CASE("attack: a file that appeared where a new one was approved is not overwritten") {
  Place at;
  at.root.write("new.txt", "somebody was faster\n");
  const auto done = at.write({{"new.txt", {}, file("approved\n")}});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().kind == ErrorKind::stale);
  CHECK(at.root.read("new.txt") == "somebody was faster\n");
}

TEST_CASE("attack: a mode flipped between review and apply is seen") {
  Place at;
  at.root.write("run.sh", "x\n");
  REQUIRE(::chmod((at.root / "run.sh").c_str(), 0755) == 0);
  const auto done = at.write({{"run.sh", file("x\n", 0644), file("y\n", 0644)}});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().kind == ErrorKind::stale);
}

TEST_CASE("attack: no path leads out of the workspace, through a link, or into .git") {
  Place at;
  TempDir outside;
  outside.write("victim", "safe\n");
  std::filesystem::create_directory_symlink(outside.path(), at.root / "link");
  std::filesystem::create_symlink(outside / "victim", at.root / "file-link");
  const std::string path = GENERATE("link/victim", "../victim", "/etc/passwd", "a//b", "./a", "a/../../b",
                                    ".git/config", ".GIT/hooks/pre-commit", "sub/.git/config", "");
  CHECK_FALSE((at.write({{path, {}, file("pwned\n")}})).has_value());
  CHECK_FALSE((at.write({{"file-link", file("safe\n"), file("pwned\n")}})).has_value());
  CHECK(outside.read("victim") == "safe\n");
}

TEST_CASE("attack: a link that leaves the workspace is refused") {
  Place at;
  const std::string target = GENERATE("/etc/passwd", "../outside", "a/../../outside", ".git/hooks", "");
  const auto done = at.write({{"link", {}, link_to(target)}});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().kind == ErrorKind::symlink_or_device_refused);
  CHECK_FALSE(at.root.exists("link"));
}

TEST_CASE("a file with another hard link is refused") {
  Place at;
  at.root.write("a.txt", "a\n");
  REQUIRE(::link((at.root / "a.txt").c_str(), (at.root / "b.txt").c_str()) == 0);
  CHECK_FALSE((at.write({{"a.txt", file("a\n"), file("A\n")}})).has_value());
  CHECK(at.root.read("a.txt") == "a\n");
}

TEST_CASE("devices, FIFOs and directories are not files") {
  Place at;
  REQUIRE(::mkfifo((at.root / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_directory(at.root / "dir");
  for (const std::string name : {"pipe", "dir"}) {
    const auto image = at.tree.read(at.root.path(), name);
    REQUIRE_FALSE(image.has_value());
    CHECK(image.error().kind == ErrorKind::symlink_or_device_refused);
  }
}

namespace {

/// What a crash in the middle leaves: a journal, and the tree with `done` of the renames made.
WriteJournal interrupted(const TempDir& root, const TempDir& state, int done, bool committed) {
  root.write("edit.txt", done > 0 ? "new\n" : "old\n");
  root.write(".escrow-w-1-0", done > 0 ? "old\n" : "new\n");
  if (done > 1) {
    root.write("made/new.txt", "hello\n");
  } else {
    root.write("made/.escrow-w-1-1", "hello\n");
  }
  if (done > 2) {
    root.write(".escrow-w-1-2", "bye\n");
  } else {
    root.write("drop.txt", "bye\n");
  }
  WriteJournal journal{
      .id = "w-1", .root = root.path(), .committed = committed, .made_directories = {"made"}, .entries = {}};
  journal.entries = {{"edit.txt", ".escrow-w-1-0", fingerprint(file("old\n")), fingerprint(file("new\n"))},
                     {"made/new.txt", ".escrow-w-1-1", "absent", fingerprint(file("hello\n"))},
                     {"drop.txt", ".escrow-w-1-2", fingerprint(file("bye\n")), "absent"}};
  REQUIRE((save_journal(state / "journal", journal)).has_value());
  return journal;
}

}  // namespace

TEST_CASE("a crash before the commit is rolled back, wherever it happened") {
  const int done = GENERATE(0, 1, 2, 3);
  Place at;
  interrupted(at.root, at.state, done, false);
  CHECK(at.tree.recover().empty());
  CHECK(listing(at.root.path()) == "drop.txt = bye\n\nedit.txt = old\n\n");
  CHECK(at.tree.recover().empty());
  CHECK(listing(at.state.path()).find("w-1") == std::string::npos);
}

TEST_CASE("a crash after the commit is finished") {
  Place at;
  interrupted(at.root, at.state, 3, true);
  CHECK(at.tree.recover().empty());
  CHECK(listing(at.root.path()) == "edit.txt = new\n\nmade\nmade/new.txt = hello\n\n");
}

TEST_CASE("recovery leaves alone what is neither old nor new, and says so") {
  Place at;
  interrupted(at.root, at.state, 1, false);
  at.root.write("edit.txt", "the person went on working\n");
  const auto problems = at.tree.recover();
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("edit.txt") != std::string::npos);
  CHECK(at.root.read("edit.txt") == "the person went on working\n");
  CHECK(at.state.exists("journal/w-1.json"));
}
