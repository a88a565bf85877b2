#include "server/lsp/positions.h"

#include "tests/catch.h"

using namespace escrow;
using server::lsp::apply_changes;
using server::lsp::choose_encoding;
using server::lsp::LineIndex;
using server::lsp::PositionEncoding;
using server::lsp::to_byte;
using server::lsp::to_column;

namespace {

// a, ä (2 bytes), € (3 bytes), 😀 (4 bytes, two utf-16 units), z
constexpr std::string_view kLine = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z";

struct Column {
  std::size_t byte;
  std::uint32_t utf8, utf16, utf32;
};

constexpr Column kColumns[] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {3, 3, 2, 2}, {6, 6, 3, 3}, {10, 10, 5, 4}, {11, 11, 6, 5}};

/// `0:0 3:2 …`: the offset of each position given, in utf-16.
std::size_t offset(std::string_view text, std::uint32_t line, std::uint32_t character) {
  return LineIndex(text).to_offset({line, character}, PositionEncoding::utf16);
}

std::string changed(std::string text, std::vector<protocol::TextDocumentContentChangeEvent> changes,
                    PositionEncoding encoding = PositionEncoding::utf16) {
  apply_changes(text, changes, encoding);
  return text;
}

protocol::TextDocumentContentChangeEvent edit(protocol::Position start, protocol::Position end, std::string text) {
  return {protocol::Range{start, end}, std::move(text)};
}

}  // namespace

TEST_CASE("columns and bytes convert both ways in each encoding") {
  for (const Column& at : kColumns) {
    INFO("byte " << at.byte);
    CHECK(to_column(kLine, at.byte, PositionEncoding::utf8) == at.utf8);
    CHECK(to_column(kLine, at.byte, PositionEncoding::utf16) == at.utf16);
    CHECK(to_column(kLine, at.byte, PositionEncoding::utf32) == at.utf32);
    CHECK(to_byte(kLine, at.utf8, PositionEncoding::utf8) == at.byte);
    CHECK(to_byte(kLine, at.utf16, PositionEncoding::utf16) == at.byte);
    CHECK(to_byte(kLine, at.utf32, PositionEncoding::utf32) == at.byte);
  }
}

TEST_CASE("a column inside a character is the character's start, one past the end is the end") {
  CHECK(to_byte(kLine, 4, PositionEncoding::utf16) == 6);  // between the surrogates
  CHECK(to_byte(kLine, 2, PositionEncoding::utf8) == 1);
  CHECK(to_byte(kLine, 8, PositionEncoding::utf8) == 6);
  CHECK(to_column(kLine, 8, PositionEncoding::utf16) == 3);
  CHECK(to_byte(kLine, 4'294'967'295, PositionEncoding::utf16) == kLine.size());
  CHECK(to_column(kLine, 1'000, PositionEncoding::utf16) == 6);
  CHECK(to_byte("", 3, PositionEncoding::utf16) == 0);
}

TEST_CASE("bytes that are not UTF-8 count one each and never run over the end") {
  const std::string_view bad = "\xFF\x80\xE2\x82\xF0";
  for (const auto encoding : {PositionEncoding::utf8, PositionEncoding::utf16, PositionEncoding::utf32}) {
    CHECK(to_column(bad, bad.size(), encoding) == 5);
    CHECK(to_byte(bad, 5, encoding) == 5);
    CHECK(to_byte(bad, 3, encoding) == 3);
  }
}

TEST_CASE("lines end in \\n, \\r\\n and \\r") {
  const std::string_view text = "one\ntwo\r\nthree\rfour\n\r\n";
  const LineIndex index(text);
  REQUIRE(index.line_count() == 6);
  CHECK(index.line(0) == "one");
  CHECK(index.line(1) == "two");
  CHECK(index.line(2) == "three");
  CHECK(index.line(3) == "four");
  CHECK(index.line(4).empty());
  CHECK(index.line(5).empty());
  CHECK(index.line(6).empty());
  CHECK(offset(text, 1, 3) == 7);
  CHECK(offset(text, 1, 99) == 7);  // before \r\n, not between
  CHECK(offset(text, 2, 0) == 9);
  CHECK(offset(text, 99, 0) == text.size());
}

TEST_CASE("offsets and positions convert both ways over a whole text") {
  const std::string text = "x" + std::string(kLine) + "\r\n\n" + std::string(kLine);
  const LineIndex index(text);
  for (const auto encoding : {PositionEncoding::utf8, PositionEncoding::utf16, PositionEncoding::utf32}) {
    for (std::size_t at = 0; at <= text.size(); ++at) {
      const bool inside = at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
      const bool between = at > 0 && at < text.size() && text[at - 1] == '\r' && text[at] == '\n';
      if (inside || between) continue;
      INFO("offset " << at << " in " << server::lsp::name_of(encoding));
      CHECK(index.to_offset(index.to_position(at, encoding), encoding) == at);
    }
  }
  CHECK(LineIndex("").to_position(0, PositionEncoding::utf16) == protocol::Position{0, 0});
  CHECK(LineIndex("a\n").to_position(2, PositionEncoding::utf16) == protocol::Position{1, 0});
}

TEST_CASE("a range of lines covers their text and stays in the document") {
  const LineIndex index("one\n\xF0\x9F\x98\x80\nlast");
  CHECK(index.lines(0, 1, PositionEncoding::utf16) == protocol::Range{{0, 0}, {1, 2}});
  CHECK(index.lines(2, 9, PositionEncoding::utf16) == protocol::Range{{2, 0}, {2, 4}});
  CHECK(index.lines(7, 9, PositionEncoding::utf16) == protocol::Range{{2, 0}, {2, 4}});
}

TEST_CASE("changes are applied in order, each to the text the one before left") {
  CHECK(changed("hello\n", {edit({0, 0}, {0, 5}, "bye")}) == "bye\n");
  CHECK(changed("ab", {edit({0, 1}, {0, 1}, "X"), edit({0, 2}, {0, 3}, "Y")}) == "aXY");
  CHECK(changed("one\ntwo\nthree", {edit({0, 3}, {2, 0}, "\n")}) == "one\nthree");
  CHECK(changed("one", {edit({0, 3}, {0, 3}, "\ntwo"), edit({1, 0}, {1, 3}, "2")}) == "one\n2");
  CHECK(changed("old", {{std::nullopt, "new"}, edit({0, 0}, {0, 1}, "N")}) == "New");
  CHECK(changed(std::string(kLine), {edit({0, 3}, {0, 5}, "")}) == "a\xC3\xA4\xE2\x82\xACz");
  CHECK(changed(std::string(kLine), {edit({0, 6}, {0, 10}, "")}, PositionEncoding::utf8) == "a\xC3\xA4\xE2\x82\xACz");
  CHECK(changed("a\r\nb", {edit({0, 1}, {1, 0}, "")}) == "ab");
}

TEST_CASE("changes out of the document are clamped, and ends before starts exchanged") {
  CHECK(changed("abc", {edit({0, 99}, {99, 99}, "!")}) == "abc!");
  CHECK(changed("abc", {edit({0, 2}, {0, 1}, "-")}) == "a-c");
  CHECK(changed("", {edit({5, 5}, {0, 0}, "x")}) == "x");
}

TEST_CASE("utf-8 is chosen where it is offered, utf-16 everywhere else") {
  using Offer = std::optional<std::vector<std::string>>;
  CHECK(choose_encoding(Offer()) == PositionEncoding::utf16);
  CHECK(choose_encoding(Offer({"utf-16"})) == PositionEncoding::utf16);
  CHECK(choose_encoding(Offer({"utf-32", "utf-8", "utf-16"})) == PositionEncoding::utf8);
  CHECK(choose_encoding(Offer({"utf-32", "utf-16"})) == PositionEncoding::utf16);
  CHECK(choose_encoding(Offer(std::vector<std::string>{})) == PositionEncoding::utf16);
}
