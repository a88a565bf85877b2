#include "protocol/message.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "protocol/error_codes.h"
#include "tests/catch.h"

using namespace escrow::protocol;

namespace {

/// `request 1 m {params}`, `notification m {params}`, `result 1 {…}`, `error 1 code text`, or
/// `bad <kind>: id <id>|none[ silent]`.
std::string describe(const Message& message) {
  if (const auto* request = std::get_if<Request>(&message)) {
    return "request " + to_string(request->id) + " " + request->method + " " + json::serialize(request->params);
  }
  if (const auto* notification = std::get_if<Notification>(&message)) {
    return "notification " + notification->method + " " + json::serialize(notification->params);
  }
  const auto& response = std::get<Response>(message);
  const std::string id = response.id ? to_string(*response.id) : "null";
  if (const auto* result = std::get_if<json::value>(&response.outcome)) {
    return "result " + id + " " + json::serialize(*result);
  }
  const auto& error = std::get<ResponseError>(response.outcome);
  return "error " + id + " " + std::to_string(error.code) + " " + error.message +
         (error.data.is_null() ? "" : " " + json::serialize(error.data));
}

std::string describe(const BadMessage& bad) {
  const std::string kind = bad.error.kind == ErrorKind::bad_json      ? "json"
                           : bad.error.kind == ErrorKind::bad_request ? "request"
                           : bad.error.kind == ErrorKind::too_large   ? "large"
                                                                      : "?";
  return "bad " + kind + ": id " + (bad.id ? to_string(*bad.id) : "none") + (bad.answerable ? "" : " silent");
}

std::string parsed(std::string_view text) {
  const auto message = parse_message(text);
  return message ? describe(*message) : describe(message.error());
}

}  // namespace

TEST_CASE("requests, notifications and answers are told apart") {
  CHECK(parsed(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}})") == R"(request 1 m {"a":1})");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":"x","method":"m"})") == R"(request "x" m null)");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":"1","method":"m","params":null})") == R"(request "1" m null)");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":3.0,"method":"m","params":[1,2]})") == R"(request 3 m [1,2])");
  CHECK(parsed(R"({"jsonrpc":"2.0","method":"m"})") == "notification m null");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":7,"result":null})") == "result 7 null");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":7,"result":{"a":[]},"error":null})") == R"(result 7 {"a":[]})");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no","data":{"k":1}}})") ==
        R"(error 7 -1 no {"k":1})");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}})") == "error null -32700 ?");
  CHECK(parsed("  {\"jsonrpc\":\"2.0\",\"method\":\"m\",\"unknown\":1}\r\n ") == "notification m null");
}

TEST_CASE("what is not JSON is refused without an id") {
  CHECK(parsed("") == "bad json: id none");
  CHECK(parsed("{") == "bad json: id none");
  CHECK(parsed("{} {}") == "bad json: id none");
  CHECK(parsed("not json") == "bad json: id none");
  CHECK(parsed("{\"jsonrpc\":\"2.0\",\"method\":\"\xFF\"}") == "bad json: id none");
  CHECK(parsed("{\"jsonrpc\":\"2.0\",\"method\":\"\xED\xA0\x80\"}") == "bad json: id none");
  CHECK(parsed(R"({"jsonrpc":"2.0","method":"\ud800"})") == "bad json: id none");
  CHECK(parsed("{'a':1}") == "bad json: id none");
}

TEST_CASE("what is JSON and no message is refused, with the id if it has one") {
  CHECK(parsed("1") == "bad request: id none");
  CHECK(parsed("{}") == "bad request: id none");
  CHECK(parsed(R"([{"jsonrpc":"2.0","id":1,"method":"m"}])") == "bad request: id none");
  CHECK(parsed(R"({"id":1,"method":"m"})") == "bad request: id 1");
  CHECK(parsed(R"({"jsonrpc":"1.0","id":"a","method":"m"})") == R"(bad request: id "a")");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":1})") == "bad request: id 1");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":1,"method":5})") == "bad request: id 1");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":1,"method":"m","params":"x"})") == "bad request: id 1");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":null,"method":"m"})") == "bad request: id none");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":1.5,"method":"m"})") == "bad request: id none");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":{},"method":"m"})") == "bad request: id none");
}

TEST_CASE("a broken answer is never answered") {
  CHECK(parsed(R"({"jsonrpc":"2.0","result":1})") == "bad request: id none silent");
  CHECK(parsed(R"({"id":1,"result":1})") == "bad request: id 1 silent");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":1,"error":"x"})") == "bad request: id 1 silent");
  CHECK(parsed(R"({"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}})") == "bad request: id 1 silent");
}

TEST_CASE("nesting is bounded, however it is closed") {
  const auto nested = [](std::size_t depth) {
    return R"({"jsonrpc":"2.0","method":"m","params":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  CHECK(parsed(nested(kMaxDepth - 2)).starts_with("notification m [["));
  CHECK(parsed(nested(kMaxDepth + 1)) == "bad large: id none");
  CHECK(parsed(std::string(1'000'000, '[')) == "bad large: id none");
}

TEST_CASE("an error says where the JSON breaks") {
  const auto message = parse_message(R"({"jsonrpc": "2.0", oops})");
  REQUIRE_FALSE(message.has_value());
  CHECK(message.error().error.message.find("near byte 19") != std::string::npos);
}

TEST_CASE("messages are written whole and without absent members") {
  CHECK(encode(Request{1, "m", json::parse(R"({"a":"b"})")}) ==
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"b"}})");
  CHECK(encode(Notification{"m", nullptr}) == R"({"jsonrpc":"2.0","method":"m"})");
  CHECK(encode(Response{Id("x"), json::value(nullptr)}) == R"({"jsonrpc":"2.0","id":"x","result":null})");
  CHECK(encode(Response{std::nullopt, ResponseError{kParseError, "no\n", nullptr}}) ==
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no\n"}})");
  CHECK(encode(Response{Id(2), ResponseError{4012, "stale", json::parse(R"({"kind":"stale"})")}}) ==
        R"({"jsonrpc":"2.0","id":2,"error":{"code":4012,"message":"stale","data":{"kind":"stale"}}})");
}

TEST_CASE("every message survives writing and reading") {
  const std::vector<Message> messages = {
      Request{7, "m", json::parse(R"({"deep":[[{"a":null}]],"n":-1,"d":0.5,"big":18446744073709551615})")},
      Request{"7", "m", nullptr},
      Notification{"n", json::parse("[]")},
      Response{Id(1), json::value(nullptr)},
      Response{Id(1), json::parse(R"("text \u0000 \u2028 end")")},
      Response{std::nullopt, ResponseError{kInvalidRequest, "why", nullptr}},
  };
  for (const Message& message : messages) {
    const auto again = parse_message(encode(message));
    INFO(encode(message));
    REQUIRE(again.has_value());
    CHECK(*again == message);
  }
}

TEST_CASE("each of our codes has a kind, outside the reserved ranges") {
  for (const int code :
       {kUnknownAgent, kRoleForbidden, kNotFound, kStateConflict, kNonceInvalid, kStale, kLimitExceeded, kBadChange,
        kOutsideRoots, kSymlinkOrDeviceRefused, kSandboxUnavailable, kExecNotRunning, kClientCannot, kLocked}) {
    CHECK(code > 0);
    CHECK_FALSE(kind_of(code).empty());
  }
  CHECK(kind_of(kStale) == "stale");
  CHECK(kind_of(1).empty());
}
