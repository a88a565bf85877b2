#include "engine/patch_apply.h"

#include <string>

#include "tests/catch.h"

namespace escrow::engine {
namespace {

FilePatch file_of(const std::string& hunks) {
  return parse_diff("--- a/f\n+++ b/f\n" + hunks).patch.files.at(0);
}

const std::string kTwoHunks = "@@ -1,2 +1,3 @@\n a\n+new\n b\n@@ -4,2 +5,1 @@\n d\n-e\n";
const std::string kBase = "a\nb\nc\nd\ne\n";

TEST_CASE("hunks are applied where they say, byte for byte") {
  CHECK(apply_file_patch(kBase, file_of(kTwoHunks)).value() == "a\nnew\nb\nc\nd\n");
  CHECK(apply_file_patch("a\r\nb\r\n", file_of("@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n")).value() == "a\r\nc\r\n");
  CHECK(apply_file_patch("a", file_of("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n")).value() == "a\n");
  CHECK(apply_file_patch("a\n", file_of("@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n")).value() == "a");
  CHECK(apply_file_patch("", file_of("@@ -0,0 +1,2 @@\n+x\n+y\n")).value() == "x\ny\n");
  CHECK(apply_file_patch("x\n", file_of("@@ -1 +0,0 @@\n-x\n")).value().empty());
  CHECK(apply_file_patch("a\nb\n", file_of("@@ -1,0 +2 @@\n+n\n")).value() == "a\nn\nb\n");
  const std::string nul("a\0b\n", 4);
  FilePatch file = file_of("@@ -1 +1,2 @@\n x\n+y\n");
  file.hunks[0].lines[0].text = nul.substr(0, 3);
  CHECK(apply_file_patch(nul, file).value() == nul + "y\n");
}

TEST_CASE("some of the hunks can be applied without the others") {
  CHECK(apply_hunks(kBase, file_of(kTwoHunks), {1}).value() == "a\nb\nc\nd\n");
  CHECK(apply_hunks(kBase, file_of(kTwoHunks), {}).value() == kBase);
}

TEST_CASE("a patch that does not fit exactly is refused, however near it comes") {
  const auto refused = [](const std::string& base, const std::string& hunks) {
    INFO(base << hunks);
    const Result<std::string> result = apply_file_patch(base, file_of(hunks));
    REQUIRE(!result);
    CHECK(result.error().kind == ErrorKind::mismatch);
    return result.error().message;
  };
  CHECK(refused("a\nX\n", "@@ -1,2 +1,1 @@\n a\n-b\n").find("f:2: this line reads differently") == 0);
  refused("z\na\nb\n", "@@ -1,2 +1,1 @@\n a\n-b\n");                // one line further down
  refused("a \nb\n", "@@ -1,2 +1,1 @@\n a\n-b\n");                  // a blank at the end
  refused("a\n", "@@ -1,2 +1,1 @@\n a\n-b\n");                      // too short
  refused("a", "@@ -1 +1 @@\n-a\n+b\n");                            // the final newline
  refused("a\n", "@@ -9,0 +10 @@\n+b\n");                           // past the end
  refused("a\nb\n", "@@ -2 +2 @@\n-b\n+c\n@@ -1 +1 @@\n-a\n+x\n");  // out of order
  refused("a", "@@ -1,0 +2 @@\n+b\n");                              // would join two lines
  refused("a\nb\n", "@@ -1 +1 @@\n-a\n+x\n\\ No newline at end of file\n");
}

TEST_CASE("what cannot be applied says so") {
  FilePatch binary = parse_diff("Binary files a/x and b/x differ\n").patch.files.at(0);
  CHECK(apply_file_patch("", binary).error().kind == ErrorKind::unsupported);
  FilePatch merge =
      parse_diff("diff --cc f\nindex 1,2..3\n--- a/f\n+++ b/f\n@@@ -1 -1 +1 @@@\n- a\n -b\n++c\n").patch.files.at(0);
  CHECK(apply_file_patch("a\n", merge).error().kind == ErrorKind::unsupported);
  CHECK(apply_hunks("a\n", file_of("@@ -1 +1 @@\n-a\n+b\n"), {7}).error().kind == ErrorKind::invalid_argument);
}

TEST_CASE("a selection of hunks is a patch of its own that gives the same text") {
  const FilePatch second = select_hunks(file_of(kTwoHunks), {1});
  REQUIRE(second.hunks.size() == 1);
  CHECK(second.hunks[0].new_start == 4);
  CHECK(second.hunks[0].lines[0].new_line == 4);
  CHECK(apply_file_patch(kBase, second).value() == "a\nb\nc\nd\n");
  CHECK(print_file_patch(second).find("@@ -4,2 +4 @@") != std::string::npos);
  CHECK(select_hunks(file_of(kTwoHunks), {0, 1}).hunks[1].new_start == 5);
}

}  // namespace
}  // namespace escrow::engine
