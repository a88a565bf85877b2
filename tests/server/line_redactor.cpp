#include "server/line_redactor.h"

#include "tests/catch.h"

using escrow::server::LineRedactor;

TEST_CASE("attack: a secret cut by a chunk's border is still not handed on") {
  std::string secret = std::string("gh") + "p_";
  for (unsigned i = 0; i < 36; ++i) secret += "k3Zr8TqWm1XbV6nLyPs0"[(i * 7 + i / 20) % 20];
  for (std::size_t cut = 1; cut < secret.size(); ++cut) {
    LineRedactor redactor;
    const std::string line = "token " + secret + "\n";
    std::string seen = redactor.take(line.substr(0, 6 + cut));
    seen += redactor.take(line.substr(6 + cut));
    seen += redactor.finish();
    CHECK(seen.find(secret) == std::string::npos);
    CHECK(seen.substr(0, 6) == "token ");
  }
}

TEST_CASE("ordinary output is handed on unchanged, the last line without its newline too") {
  LineRedactor redactor;
  std::string seen = redactor.take("one\ntw");
  CHECK(seen == "one\n");
  seen += redactor.take("o\nthree");
  seen += redactor.finish();
  CHECK(seen == "one\ntwo\nthree");
}

TEST_CASE("a line without end is not held for ever") {
  LineRedactor redactor;
  CHECK(redactor.take(std::string(10000, '.')).size() == 10000);
}
