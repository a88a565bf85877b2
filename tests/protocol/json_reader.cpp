#include "protocol/json_reader.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "protocol/json_writer.h"
#include "protocol/lsp_basic.h"
#include "tests/catch.h"

using namespace escrow::protocol;

namespace {

enum class Colour { red, green };
constexpr auto wire_names(Colour) {
  return std::array<WireName<Colour>, 2>{{{Colour::red, "red"}, {Colour::green, "light green"}}};
}

struct Inner {
  std::uint32_t count = 0;
  std::optional<Colour> colour;
  static void fields(auto& f, auto& self) {
    f.required("count", self.count);
    f.optional("colour", self.colour);
  }
  bool operator==(const Inner&) const = default;
};

struct Outer {
  std::vector<Inner> list;
  std::optional<std::map<std::string, Inner>> map;
  std::optional<std::string> text;
  json::value any;
  static void fields(auto& f, auto& self) {
    f.required("list", self.list);
    f.optional("map", self.map);
    f.nullable("text", self.text);
    f.optional("any", self.any);
  }
  bool operator==(const Outer&) const = default;
};

template <class T>
std::string error_of(std::string_view text) {
  const auto value = read<T>(json::parse(text));
  return value ? "none" : value.error().message;
}

}  // namespace

TEST_CASE("an error names the place in the document") {
  CHECK(error_of<Outer>("5") == "params: expected object");
  CHECK(error_of<Outer>("{}") == "params.list: missing");
  CHECK(error_of<Outer>(R"({"list":1,"text":null})") == "params.list: expected array");
  CHECK(error_of<Outer>(R"({"list":[{"count":1},{}],"text":null})") == "params.list[1].count: missing");
  CHECK(error_of<Outer>(R"({"list":[{"count":"1"}],"text":null})") == "params.list[0].count: expected integer");
  CHECK(error_of<Outer>(R"({"list":[],"text":1})") == "params.text: expected string");
  CHECK(error_of<Outer>(R"({"list":[]})") == "params.text: missing");
  CHECK(error_of<Outer>(R"({"list":[],"text":null,"map":{"a b":{"count":-1}}})") ==
        R"(params.map["a b"].count: expected integer in 0..4294967295)");
  CHECK(error_of<Outer>(R"({"list":[{"count":1,"colour":"blue"}],"text":null})") ==
        R"(params.list[0].colour: expected one of "red", "light green")");
  CHECK(
      read<Range>(json::parse(R"({"start":{"line":0,"character":0},"end":{"line":"x","character":1}})"), "params.range")
          .error()
          .message == "params.range.end.line: expected integer");
}

TEST_CASE("the first of several errors is reported") {
  CHECK(error_of<Outer>(R"({"list":[{"count":true},{"count":false}],"text":5})") ==
        "params.list[0].count: expected integer");
}

TEST_CASE("a hostile key cannot put control characters or endless text into an error") {
  const std::string key(5000, 'k');
  const std::string message = error_of<Outer>(R"({"list":[],"text":null,"map":{"\u001b[2J)" + key + R"(":1}})");
  CHECK(message.size() < 120);
  CHECK(message.find('\x1b') == std::string::npos);
}

TEST_CASE("unknown keys are ignored, optional ones may be absent or null") {
  const auto value = read<Outer>(json::parse(R"({"list":[],"text":"t","map":null,"zzz":{"deep":[1]}})"));
  REQUIRE(value.has_value());
  CHECK(value->text == "t");
  CHECK(!value->map);
  CHECK(value->any.is_null());
}

TEST_CASE("absent optionals are left out on write, a nullable is written as null") {
  CHECK(json::serialize(to_json(Outer{})) == R"({"list":[],"text":null})");
  const Outer full{{{1, Colour::green}}, {{{"k", {2, {}}}}}, "t", json::parse("[1]")};
  CHECK(json::serialize(to_json(full)) ==
        R"({"list":[{"count":1,"colour":"light green"}],"map":{"k":{"count":2}},"text":"t","any":[1]})");
  CHECK(read<Outer>(to_json(full)).value() == full);
}

TEST_CASE("integers of other spellings are taken, others are refused") {
  const auto count = [](std::string_view number) {
    const auto value = read<Inner>(json::parse(R"({"count":)" + std::string(number) + "}"));
    return value ? std::to_string(value->count) : value.error().message;
  };
  CHECK(count("3") == "3");
  CHECK(count("3.0") == "3");
  CHECK(count("1e2") == "100");
  CHECK(count("4294967295") == "4294967295");
  CHECK(count("4294967296") == "params.count: expected integer in 0..4294967295");
  CHECK(count("18446744073709551615") == "params.count: expected integer in 0..4294967295");
  CHECK(count("1.5") == "params.count: expected integer");
  CHECK(count("1e300") == "params.count: expected integer");
  CHECK(count("true") == "params.count: expected integer");
  CHECK(count("null") == "params.count: expected integer");
}

TEST_CASE("Lua's empty table is an empty list and an empty object") {
  CHECK(read<Outer>(json::parse(R"({"list":{},"text":null,"map":[]})")).value().map->empty());
  CHECK(error_of<Outer>("[]") == "params.list: missing");
  CHECK(error_of<Outer>("[1]") == "params: expected object");
  CHECK(error_of<Outer>(R"({"list":{"a":1},"text":null})") == "params.list: expected array");
}

TEST_CASE("ids and tokens are integers or strings and stay what they are") {
  using Token = std::variant<std::int64_t, std::string>;
  CHECK(read<Token>(json::parse("1")).value() == Token(std::int64_t{1}));
  CHECK(read<Token>(json::parse(R"("1")")).value() == Token(std::string("1")));
  CHECK(error_of<Token>("[]") == "params: expected integer or string");
  CHECK(json::serialize(to_json(Token(std::string("a")))) == R"("a")");
}

TEST_CASE("boost's own value_from takes our types") {
  CHECK(json::serialize(json::value_from(Position{1, 2})) == R"({"line":1,"character":2})");
}
