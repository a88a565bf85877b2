#include <string>
#include <vector>

#include "engine/diff.h"
#include "tests/catch.h"

namespace escrow::engine {
namespace {

std::string dump(const ParsedPatch& parsed) {
  std::string out;
  for (const FilePatch& file : parsed.patch.files) {
    out += letter_of(file.status);
    out += ' ' + file.path();
    if (file.old_path != file.new_path && !file.old_path.empty() && !file.new_path.empty())
      out += " <- " + file.old_path;
    const LineCounts counts = count_lines(file);
    out += " +" + std::to_string(counts.added) + " -" + std::to_string(counts.removed);
    if (file.binary) out += " binary";
    if (file.combined) out += " combined";
    if (file.is_symlink()) out += " symlink";
    out += "\n";
  }
  for (const ParseIssue& issue : parsed.issues) out += "! " + std::to_string(issue.line) + ": " + issue.message + "\n";
  return out;
}

/// What is understood, and that printing gives the bytes back.
void check(const std::string& diff, const std::string& expected) {
  INFO(diff);
  const ParsedPatch parsed = parse_diff(diff);
  CHECK(dump(parsed) == expected);
  CHECK(print_diff(parsed.patch) == diff);
}

TEST_CASE("an empty diff is an empty patch") {
  check("", "");
  check("\n\n", "");
}

TEST_CASE("git's own diffs are read and printed back byte for byte") {
  check(
      "diff --git a/src/a.c b/src/a.c\nindex 1..2 100644\n--- a/src/a.c\n+++ b/src/a.c\n@@ -1,2 +1,3 @@ int main()\n "
      "a\n+b\n c\n",
      "M src/a.c +1 -0\n");
  check("diff --git a/new b/new\nnew file mode 100644\nindex 0000000..2\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n",
        "A new +1 -0\n");
  check(
      "diff --git a/old b/old\ndeleted file mode 100644\nindex 2..0000000\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 "
      "@@\n-x\n",
      "D old +0 -1\n");
  check("diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n", "A e +0 -0\n");
  check("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "R y <- x +0 -0\n");
  check(
      "diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y\nindex 1..2 100644\n--- a/x\n+++ b/y\n@@ -1 +1 "
      "@@\n-a\n+b\n",
      "A y <- x +1 -1\n");
  check("diff --git a/run b/run\nold mode 100644\nnew mode 100755\n", "M run +0 -0\n");
}

TEST_CASE("plain diffs, with their timestamps and other roots, are read") {
  check("--- a.c\t2024-01-01 10:00:00.000 +0100\n+++ a.c\t2024-01-02 10:00:00.000 +0100\n@@ -1 +1 @@\n-a\n+b\n",
        "M a.c +1 -1\n");
  check("--- old/src/a.c\n+++ new/src/a.c\n@@ -1 +1 @@\n-a\n+b\n", "M src/a.c +1 -1\n");
  check("diff -u a.c.orig a.c\n--- a.c.orig\n+++ a.c\n@@ -1 +1 @@\n-a\n+b\n", "M a.c +1 -1\n");
  check("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n", "A n +1 -0\n");
  check("Binary files a/x.bin and b/x.bin differ\n", "M x.bin +0 -0 binary\n");
}

TEST_CASE("prefixes other than a and b are taken off, and a folder called a is not") {
  check("diff --git i/f w/f\nindex 1..2 100644\n--- i/f\n+++ w/f\n@@ -1 +1 @@\n-a\n+b\n", "M f +1 -1\n");
  check("diff --git a/f a/f\nindex 1..2 100644\n--- a/f\n+++ a/f\n@@ -1 +1 @@\n-a\n+b\n", "M a/f +1 -1\n");
  check("diff --git src/f src/f\nindex 1..2 100644\n--- src/f\n+++ src/f\n@@ -1 +1 @@\n-a\n+b\n", "M src/f +1 -1\n");
}

TEST_CASE("quoted and octal paths are undone") {
  check(
      "diff --git \"a/\\320\\272\\t\\\"x\" \"b/\\320\\272\\t\\\"x\"\nindex 1..2 100644\n--- "
      "\"a/\\320\\272\\t\\\"x\"\n+++ \"b/\\320\\272\\t\\\"x\"\n@@ -1 +1 @@\n-a\n+b\n",
      "M \xd0\xba\t\"x +1 -1\n");
  check(
      "diff --git a/with blank b/with blank\nindex 1..2 100644\n--- a/with blank\t\n+++ b/with blank\t\n@@ -1 +1 "
      "@@\n-a\n+b\n",
      "M with blank +1 -1\n");
}

TEST_CASE("binary stubs and binary patches are kept whole") {
  check("diff --git a/p b/p\nnew file mode 100755\nindex 0000000..2\nBinary files /dev/null and b/p differ\n",
        "A p +0 -0 binary\n");
  check(
      "diff --git a/p b/p\nindex 1..2 100644\nGIT binary patch\nliteral 4\nLcmZ?wbhEHbWMp7uU|?`EwE\n\nliteral "
      "0\nHcmV?d00001\n\ndiff --git a/q b/q\nold mode 100644\nnew mode 100755\n",
      "M p +0 -0 binary\nM q +0 -0\n");
}

TEST_CASE("links and submodules show in the mode") {
  check(
      "diff --git a/l b/l\nnew file mode 120000\nindex 0000000..2\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../x\n\\ No "
      "newline at end of file\n",
      "A l +1 -0 symlink\n");
  const ParsedPatch gitlink = parse_diff(
      "diff --git a/m b/m\nindex 1..2 160000\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit "
      "2\n");
  CHECK(gitlink.patch.files.at(0).new_mode == 0160000U);
}

TEST_CASE("combined diffs of a merge are read with their columns") {
  const std::string diff =
      "diff --cc f\nindex 1,2..3\n--- a/f\n+++ b/f\n@@@ -1,3 -1,2 +1,3 @@@\n  a\n- b\n -c\n++d\n +e\n";
  check(diff, "M f +2 -2 combined\n");
  const Hunk hunk = parse_diff(diff).patch.files.at(0).hunks.at(0);
  CHECK(hunk.lines.at(3).text == "d");
  CHECK(hunk.lines.at(3).new_line == 2);
}

TEST_CASE("CRLF, missing newlines, blank context and other languages' marks survive") {
  check("diff --git a/w b/w\r\nindex 1..2 100644\r\n--- a/w\r\n+++ b/w\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", "M w +1 -1\n");
  check("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
        "M f +1 -1\n");
  check("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ Kein Zeilenumbruch am Dateiende.\n+b\n", "M f +1 -1\n");
  check("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c", "M f +1 -1\n");
}

TEST_CASE("a mail around the diff is kept and is no change") {
  check(
      "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nSubject: x\n---\n f | 2 +-\n\ndiff "
      "--git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.2\n\n",
      "M f +1 -1\n");
  check("commit 0123456789012345678901234567890123456789\nAuthor: x\n\n    empty\n", "");
}

TEST_CASE("a removed line stands at the new line that took its place") {
  const ParsedPatch parsed = parse_diff("--- a/f\n+++ b/f\n@@ -5,4 +5,2 @@\n a\n-b\n c\n-d\n");
  const Hunk& hunk = parsed.patch.files.at(0).hunks.at(0);
  CHECK(hunk.lines.at(1).new_line == 6);
  CHECK(hunk.lines.at(1).old_line == 6);
  CHECK(hunk.lines.at(3).new_line == 6);  // the last line that is left
}

TEST_CASE("malformed diffs yield what was understood and say where the trouble is") {
  const auto issues = [](const std::string& diff) {
    INFO(diff);
    return dump(parse_diff(diff));
  };
  CHECK(issues("hello\n") == "! 1: this is no unified diff: no file header was found\n");
  CHECK(issues("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n") == "M f +0 -0\n! 5: the diff ends in the middle of a hunk\n");
  CHECK(issues("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n+hidden\n") ==
        "M f +2 -1\n! 6: the hunk has more lines than its header says\n");
  CHECK(issues("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\nbad\n") ==
        "M f +0 -0\n! 5: this line does not belong in a hunk\n");
  CHECK(issues("--- a/f\n+++ b/f\n@@ -x +y @@\n") == "M f +0 -0\n! 3: the hunk header cannot be read\n");
  CHECK(issues("--- a/f\n+++ b/f\n@@ -1,99999999999 +1 @@\n+a\n") ==
        "M f +0 -0\n! 3: the hunk header cannot be read\n");
  CHECK(issues("--- a/f\n+++ b/f\n") == "M f +0 -0\n! 1: no hunk follows the `---` and `+++` lines\n");
  CHECK(issues("@@ -1 +1 @@\n-a\n+b\n") == "M  +1 -1\n! 1: a hunk without the name of a file before it\n");
  CHECK(issues("diff --git a/f b/f\nindex 1..2 100644\n") ==
        "M f +0 -0\n! 1: the header promises a change that is missing\n");
  CHECK(issues("diff --git \"a/f b/f\nold mode 100644\nnew mode 100755\n").find("! 1:") != std::string::npos);
  CHECK(issues("*** a\n--- b\n***************\n").find("context diffs are not read") != std::string::npos);
}

TEST_CASE("a header that names one file and changes another is refused") {
  CHECK(parse_diff("diff --git a/README.md b/README.md\nindex 1..2 100644\n--- a/.git/hooks/x\n+++ b/.git/hooks/x\n@@ "
                   "-1 +1 @@\n-a\n+b\n")
            .issues.size() == 1);
}

TEST_CASE("a line of megabytes is one line") {
  const std::string diff = "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+" + std::string(3 << 20, 'x') + "\n";
  check(diff, "M f +1 -0\n");
}

TEST_CASE("a patch made in memory prints as git would and reads back the same") {
  FilePatch file;
  file.new_path = "a b/\xc3\xa9";
  file.status = FileStatus::added;
  file.new_mode = 0100644;
  Hunk hunk;
  hunk.new_start = hunk.new_count = 1;
  hunk.lines.push_back({.kind = LineKind::added, .text = "x", .new_line = 1, .no_newline = true});
  file.hunks.push_back(hunk);
  const std::string printed = print_file_patch(file);
  CHECK(printed ==
        "diff --git \"a/a b/\\303\\251\" \"b/a b/\\303\\251\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/a "
        "b/\\303\\251\"\t\n"
        "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n");
  const ParsedPatch parsed = parse_diff(printed);
  CHECK(dump(parsed) == "A a b/\xc3\xa9 +1 -0\n");
}

}  // namespace
}  // namespace escrow::engine
