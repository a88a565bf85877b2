#include "server/line_redactor.h"

#include <algorithm>
#include <string>

#include "tests/catch.h"

using escrow::server::LineRedactor;

namespace {

std::string invented_token() {
  std::string secret = std::string("gh") + "p_";
  for (unsigned i = 0; i < 36; ++i) secret += "k3Zr8TqWm1XbV6nLyPs0"[(i * 7 + i / 20) % 20];
  return secret;
}

}  // namespace

TEST_CASE("attack: a secret cut by a chunk's border is still not handed on") {
  const std::string secret = invented_token();
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
  const std::string line(10000, '.');
  std::string seen = redactor.take(line);
  CHECK(seen.size() > 8000);
  seen += redactor.finish();
  CHECK(seen == line);
}

TEST_CASE("attack: a secret cut where an endless line is handed on is still not") {
  const std::string secret = invented_token();
  for (std::size_t before = 8192 - 1100; before < 8192 + 60; before += 7) {
    LineRedactor redactor;
    const std::string text = std::string(before, '.') + " " + secret + " " + std::string(9000, '.');
    std::string seen;
    for (std::size_t at = 0; at < text.size(); at += 100) seen += redactor.take(text.substr(at, 100));
    seen += redactor.finish();
    CAPTURE(before);
    CHECK(seen.find(secret.substr(8)) == std::string::npos);
    CHECK(static_cast<std::size_t>(std::count(seen.begin(), seen.end(), '.')) == before + 9000);
  }
}

TEST_CASE("attack: the lines of a private key are hidden in whatever chunks they come") {
  const std::string body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
  const std::string text = "a key:\n-----BEGIN PRI" + std::string("VATE KEY-----\n") + body + "\n" + body +
                           "x\nAb9=\n-----END PRI" + "VATE KEY-----\nafter it\n";
  for (std::size_t chunk = 1; chunk < text.size(); ++chunk) {
    CAPTURE(chunk);
    LineRedactor redactor;
    std::string seen;
    for (std::size_t at = 0; at < text.size(); at += chunk) seen += redactor.take(text.substr(at, chunk));
    seen += redactor.finish();
    CHECK(seen == "a key:\n[redacted private key]\nafter it\n");
  }
}

TEST_CASE("a line that only names the first line of a key hides nothing after it") {
  LineRedactor redactor;
  std::string seen = redactor.take("match: -----BEGIN PRI" + std::string("VATE KEY-----\n"));
  seen += redactor.take("12 files were searched\n");
  seen += redactor.take("in 3 seconds\n");
  seen += redactor.finish();
  CHECK(seen == "match: [redacted private key]\n12 files were searched\nin 3 seconds\n");
}

TEST_CASE("attack: on a terminal, too, a secret cut by a chunk's border is not handed on") {
  const std::string secret = invented_token();
  for (std::size_t cut = 1; cut < secret.size(); ++cut) {
    LineRedactor redactor(LineRedactor::Hold::word);
    const std::string line = "token " + secret + "\r\n$ ";
    std::string seen = redactor.take(line.substr(0, 6 + cut));
    seen += redactor.take(line.substr(6 + cut));
    seen += redactor.finish();
    CAPTURE(cut);
    CHECK(seen.find(secret.substr(4)) == std::string::npos);
    CHECK(seen.ends_with("\r\n$ "));
  }
}

TEST_CASE("a terminal's prompt does not wait for the end of its line") {
  for (const char* prompt : {"$ ", "Password: ", "Continue? [y/N] ", "mysql> ", "(yes/no)?", "50%\r"}) {
    CAPTURE(prompt);
    LineRedactor redactor(LineRedactor::Hold::word);
    CHECK(redactor.take(prompt) == prompt);
  }
}
