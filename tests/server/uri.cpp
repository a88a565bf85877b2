#include "server/lsp/uri.h"

#include "tests/catch.h"

using namespace escrow::server::lsp;

namespace {
std::string path(std::string_view uri) {
  return to_path(uri).value_or("none");
}
}  // namespace

TEST_CASE("file URIs of every client's spelling give a path") {
  CHECK(path("file:///a/b") == "/a/b");
  CHECK(path("file:/a/b") == "/a/b");
  CHECK(path("file://localhost/a/b") == "/a/b");
  CHECK(path("FILE:///a") == "/a");
  CHECK(path("file:///a%20b/%C3%A4") == "/a b/\xC3\xA4");
  CHECK(path("file:///a b") == "/a b");
  CHECK(path("file:///a?query#fragment") == "/a");
  CHECK(path("file:///a%3Fb%23c") == "/a?b#c");
  CHECK(path("file:///c%3A/x") == "/c:/x");
  CHECK(path("file:///") == "/");
  CHECK(path("file:///%FF") == "/\xFF");
}

TEST_CASE("what is not a local file has no path") {
  for (const auto uri : {"", "file:", "file://", "file:a", "file://host/a", "http:///a", "untitled:Untitled-1",
                         "escrow-review://1/1/a", "file:///a%", "file:///a%2", "file:///a%zz", "/a/b"}) {
    INFO(uri);
    CHECK(path(uri) == "none");
  }
}

TEST_CASE("an escaped NUL cannot cut a path short") {
  CHECK(path("file:///etc/passwd%00.txt") == "none");
}

TEST_CASE("dots are left to those who open the file") {
  CHECK(path("file:///w/%2e%2e/x") == "/w/../x");
}

TEST_CASE("a path is escaped as VS Code does it and comes back") {
  CHECK(to_uri("/a b/c:d/\xC3\xA4#?%") == "file:///a%20b/c%3Ad/%C3%A4%23%3F%25");
  for (const std::string name : {"/plain", "/a b", "/%41", "/\xF0\x9F\x98\x80", "/\xFF\x01\n", "/~-_.", "/c:/x"}) {
    CHECK(path(to_uri(name)) == name);
  }
}

TEST_CASE("spellings of one document share a key") {
  CHECK(document_key("file:///c%3A/x") == document_key("file:///C:/./x"));
  CHECK(document_key("file:///a/b/../c") == path_key("/a/c"));
  CHECK(document_key("file:///a//b") == path_key("/a/b"));
  CHECK(document_key("file:///A") != document_key("file:///a"));
  CHECK(document_key("untitled:X") == "untitled:X");
}
