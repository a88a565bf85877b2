#include "protocol/framing.h"

#include <string>
#include <vector>

#include "tests/catch.h"

using namespace escrow::protocol;

namespace {

std::string name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_frame:
      return "bad_frame";
    case ErrorKind::bad_json:
      return "bad_json";
    case ErrorKind::bad_request:
      return "bad_request";
    case ErrorKind::bad_params:
      return "bad_params";
    case ErrorKind::too_large:
      return "too_large";
  }
  return "?";
}

constexpr FrameReader::Limits kSmall{.header_bytes = 200, .body_bytes = 40};

void drain(FrameReader& reader, std::vector<std::string>& out) {
  while (auto event = reader.next()) {
    out.push_back(event->has_value() ? event->value() : "<" + name_of(event->error().kind) + ">");
  }
}

/// What comes out when the stream arrives in pieces of `size` bytes: bodies, and `<kind>` for an error.
std::vector<std::string> read_in_pieces(std::string_view stream, std::size_t size) {
  FrameReader reader(kSmall);
  std::vector<std::string> out;
  for (std::size_t at = 0; at < stream.size(); at += size) {
    reader.feed(stream.substr(at, size));
    drain(reader, out);
  }
  if (const auto torn = reader.finish()) out.push_back("<torn>");
  return out;
}

/// The same whatever the pieces.
void check_stream(std::string_view stream, const std::vector<std::string>& expected) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{1000}}) {
    INFO("pieces of " << size << " bytes of: " << stream);
    CHECK(read_in_pieces(stream, size) == expected);
  }
}

}  // namespace

TEST_CASE("a frame is written with exactly one header") {
  CHECK(frame("{}") == "Content-Length: 2\r\n\r\n{}");
  CHECK(frame("\"ä\"") == "Content-Length: 4\r\n\r\n\"ä\"");
  CHECK(frame("") == "Content-Length: 0\r\n\r\n");
}

TEST_CASE("what is written is read back, frame after frame") {
  check_stream(frame("one") + frame("") + frame("drei: \xE2\x82\xAC"), {"one", "", "drei: \xE2\x82\xAC"});
}

TEST_CASE("headers that other programs write are taken") {
  check_stream("content-length: 2\r\n\r\n{}", {"{}"});
  check_stream("CONTENT-LENGTH:2\r\n\r\n{}", {"{}"});
  check_stream("Content-Length : 2 \r\n\r\n{}", {"{}"});
  check_stream("Content-Length: 2\n\n{}", {"{}"});
  check_stream("Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}", {"{}"});
  check_stream("Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: 2\r\n\r\n{}", {"{}"});
  check_stream("Content-Type: x; Charset=\"UTF-8\"; y=z\r\nContent-Length: 2\r\n\r\n{}", {"{}"});
  check_stream("X-Other: 1\r\n# a comment\r\nContent-Length: 2\r\n\r\n{}", {"{}"});
  check_stream("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", {"{}"});
  check_stream("\r\n\r\nContent-Length: 2\r\n\r\n{}\r\nContent-Length: 1\r\n\r\n1", {"{}", "1"});
}

TEST_CASE("a byte order mark is stripped before a header and before a body") {
  check_stream(
      "\xEF\xBB\xBF"
      "Content-Length: 2\r\n\r\n{}",
      {"{}"});
  check_stream("Content-Length: 5\r\n\r\n\xEF\xBB\xBF{}" + frame("1"), {"{}", "1"});
}

TEST_CASE("a body in another charset is skipped and the stream goes on") {
  check_stream("Content-Type: text/plain; charset=utf-16\r\nContent-Length: 4\r\n\r\nabcd" + frame("ok"),
               {"<bad_frame>", "ok"});
}

TEST_CASE("a body over the limit is drained and the stream goes on") {
  check_stream(frame(std::string(41, 'x')) + frame("ok"), {"<too_large>", "ok"});
  check_stream(frame(std::string(40, 'x')), {std::string(40, 'x')});
}

TEST_CASE("an oversized body is reported before it has arrived") {
  FrameReader reader(kSmall);
  std::vector<std::string> out;
  reader.feed("Content-Length: 18446744073709551615\r\n\r\n");
  drain(reader, out);
  CHECK(out == std::vector<std::string>{"<too_large>"});
  CHECK(reader.finish().has_value());
}

TEST_CASE("a header without a usable length is reported once, and reading resumes at the next one") {
  check_stream("Content-Length: abc\r\n\r\n{\"a\":1}" + frame("ok"), {"<bad_frame>", "ok"});
  check_stream("Content-Length: -1\r\n\r\n" + frame("ok"), {"<bad_frame>", "ok"});
  check_stream("Content-Length:\r\n\r\n" + frame("ok"), {"<bad_frame>", "ok"});
  check_stream("Content-Length: 18446744073709551616\r\n\r\n" + frame("ok"), {"<bad_frame>", "ok"});
  check_stream("X-Other: 1\r\n\r\n{}" + frame("ok"), {"<bad_frame>", "ok"});
  check_stream("{\"jsonrpc\":\"2.0\"}\n\n" + frame("ok"), {"<bad_frame>", "ok"});
}

TEST_CASE("two lengths that differ are refused: which of the two is the body's is the sender's secret") {
  check_stream("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" + frame("ok"), {"<bad_frame>", "ok"});
}

TEST_CASE("a header over the limit is refused, and endless garbage takes no memory") {
  check_stream("X: " + std::string(300, 'x') + "\r\nContent-Length: 2\r\n\r\n{}" + frame("ok"),
               {"<bad_frame>", "{}", "ok"});
  FrameReader reader(kSmall);
  std::vector<std::string> out;
  for (int i = 0; i < 10'000; ++i) {
    reader.feed("no line end in sight ");
    drain(reader, out);
  }
  reader.feed(frame("ok"));
  drain(reader, out);
  CHECK(out == std::vector<std::string>{"<bad_frame>", "ok"});
}

TEST_CASE("many small header lines are limited together") {
  std::string stream;
  for (int i = 0; i < 30; ++i) stream += "X-Other: 1\r\n";
  check_stream(stream + "Content-Length: 2\r\n\r\n{}", {"<bad_frame>", "{}"});
}

TEST_CASE("a stream that ends in the middle of a frame is torn, between two frames it is not") {
  check_stream("Content-Length: 3\r\n\r\n{}", {"<torn>"});
  check_stream("Content-Len", {"<torn>"});
  check_stream(frame("{}"), {"{}"});
  check_stream("", {});
}

TEST_CASE("a split character is not decoded in pieces") {
  // Read byte by byte, each chunk ends inside the sequence.
  check_stream(frame("\"\xF0\x9F\x98\x80\""), {"\"\xF0\x9F\x98\x80\""});
}

TEST_CASE("the line that breaks the header's limit may itself be the next header") {
  // The limit of 200 falls into the second Content-Length, which stands at the end of the garbage.
  check_stream("X: " + std::string(180, 'x') + "\r\n{}Content-Length: 2\r\n\r\n{}" + frame("ok"),
               {"<bad_frame>", "{}", "ok"});
  // A length out of sight of the limit is not a header, whatever the chunks.
  check_stream(std::string(300, 'x') + "\nContent-Length:" + std::string(300, ' ') + "2\n\n" + frame("ok"),
               {"<bad_frame>", "ok"});
}
