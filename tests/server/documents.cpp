#include "server/documents.h"

#include "tests/catch.h"

using namespace escrow;
using server::Document;
using server::Documents;
using server::lsp::PositionEncoding;

namespace {

const Document& open(Documents& documents, const std::string& uri, const std::string& text = "") {
  return documents.open({uri, "text", 0, text});
}

const Document* change(Documents& documents, const std::string& uri, std::int32_t version, const std::string& text) {
  return documents.change({{uri, version}, {{std::nullopt, text}}}, PositionEncoding::utf16);
}

std::string order(const Documents& documents) {
  std::string out;
  for (const Document* document : documents.by_last_use()) out += document->path + " ";
  return out;
}

}  // namespace

TEST_CASE("a document is found by any spelling, and keeps the client's own") {
  Documents documents;
  open(documents, "file:///w/a%20b.txt", "text");
  REQUIRE(documents.find("file:///w/./a b.txt") != nullptr);
  CHECK(documents.find("file:///w/./a b.txt")->uri == "file:///w/a%20b.txt");
  CHECK(documents.find_path("/w/a b.txt")->text == "text");
  CHECK(documents.find("file:///w/other") == nullptr);
  CHECK(documents.uri_of("/w/a b.txt") == "file:///w/a%20b.txt");
  CHECK(documents.uri_of("/w/c d.txt") == "file:///w/c%20d.txt");
}

TEST_CASE("changes update text and version, whatever the version jumps") {
  Documents documents;
  open(documents, "file:///a", "old");
  const Document* changed = documents.change(
      {{"file:///a", 5}, {{protocol::Range{{0, 0}, {0, 3}}, "new"}, {protocol::Range{{0, 3}, {0, 3}}, "!"}}},
      PositionEncoding::utf16);
  REQUIRE(changed != nullptr);
  CHECK(changed->text == "new!");
  CHECK(changed->version == 5);
  CHECK(changed->edited);
  CHECK(documents.save({{"file:///a"}, std::nullopt})->text == "new!");
  CHECK_FALSE(documents.find("file:///a")->edited);
  CHECK(documents.save({{"file:///a"}, "as saved"})->text == "as saved");
}

TEST_CASE("a document that is not open is not changed, saved or closed") {
  Documents documents;
  CHECK(change(documents, "file:///a", 1, "x") == nullptr);
  CHECK(documents.save({{"file:///a"}, std::nullopt}) == nullptr);
  CHECK_FALSE(documents.close("file:///a"));
  open(documents, "file:///a");
  CHECK(documents.close("file:///./a"));
  CHECK(documents.find("file:///a") == nullptr);
}

TEST_CASE("the order is by last opening, change or look") {
  Documents documents;
  open(documents, "file:///a");
  open(documents, "file:///b");
  open(documents, "file:///c");
  CHECK(order(documents) == "/c /b /a ");
  change(documents, "file:///a", 1, "x");
  CHECK(order(documents) == "/a /c /b ");
  documents.touch("file:///b");
  CHECK(order(documents) == "/b /a /c ");
}

TEST_CASE("a document of another scheme has no path and is not taken for a file") {
  Documents documents;
  open(documents, "untitled:/a", "scratch");
  CHECK(documents.find("untitled:/a")->path.empty());
  CHECK(documents.find_path("/a") == nullptr);
}
