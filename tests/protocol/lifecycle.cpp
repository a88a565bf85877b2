#include "protocol/lifecycle.h"

#include <sstream>

#include "tests/catch.h"

using namespace escrow::protocol;

namespace {

std::string name_of(Lifecycle::Verdict verdict) {
  switch (verdict) {
    case Lifecycle::Verdict::dispatch:
      return "dispatch";
    case Lifecycle::Verdict::not_initialized:
      return "-32002";
    case Lifecycle::Verdict::already_initialized:
      return "-32600 again";
    case Lifecycle::Verdict::shutting_down:
      return "-32600 down";
    case Lifecycle::Verdict::drop:
      return "drop";
    case Lifecycle::Verdict::exit:
      return "exit";
  }
  return "?";
}

/// Plays a script of words: `m?` is a request, `m!` a notification, `+` and `-` answer initialize, `end` is the end of
/// input. The verdicts, one a message, then the exit code.
std::string play(const std::string& script) {
  Lifecycle lifecycle;
  std::istringstream words(script);
  std::string out;
  for (std::string word; words >> word;) {
    if (word == "+" || word == "-") {
      lifecycle.on_initialize_answered(word == "+");
    } else if (word == "end") {
      lifecycle.on_end();
    } else {
      const std::string method = word.substr(0, word.size() - 1);
      out += name_of(word.back() == '?' ? lifecycle.on_request(method) : lifecycle.on_notification(method)) + ", ";
    }
  }
  return out + std::to_string(lifecycle.exit_code());
}

}  // namespace

TEST_CASE("a session in order ends with 0") {
  CHECK(play("initialize? + initialized! hover? shutdown? exit!") == "dispatch, dispatch, dispatch, dispatch, exit, 0");
}

TEST_CASE("before initialize, requests get -32002 and notifications but exit are dropped") {
  CHECK(play("hover? didOpen! shutdown? exit!") == "-32002, drop, -32002, exit, 1");
}

TEST_CASE("between initialize and its result nothing else is heard") {
  CHECK(play("initialize? hover? initialize? didOpen! + hover?") ==
        "dispatch, -32002, -32600 again, drop, dispatch, 1");
}

TEST_CASE("initialize comes once, and again only after it failed") {
  CHECK(play("initialize? + initialize?") == "dispatch, -32600 again, 1");
  CHECK(play("initialize? - initialize? + hover?") == "dispatch, dispatch, dispatch, 1");
}

TEST_CASE("after shutdown only exit is heard") {
  CHECK(play("initialize? + shutdown? hover? shutdown? initialize? didOpen! exit!") ==
        "dispatch, dispatch, -32600 down, -32600 down, -32600 down, drop, exit, 0");
}

TEST_CASE("exit without shutdown, and the end of input without either, is 1") {
  CHECK(play("initialize? + exit!") == "dispatch, exit, 1");
  CHECK(play("initialize? + end hover? didOpen!") == "dispatch, -32600 down, drop, 1");
  CHECK(play("initialize? + shutdown? end") == "dispatch, dispatch, 0");
}

TEST_CASE("before its result initialize allows messages and its own progress only") {
  Lifecycle lifecycle;
  lifecycle.on_request("initialize");
  CHECK(lifecycle.may_send("window/showMessage", false));
  CHECK(lifecycle.may_send("window/logMessage", false));
  CHECK(lifecycle.may_send("telemetry/event", false));
  CHECK(lifecycle.may_send("window/showMessageRequest", false));
  CHECK(lifecycle.may_send("$/progress", true));
  CHECK_FALSE(lifecycle.may_send("$/progress", false));
  CHECK_FALSE(lifecycle.may_send("textDocument/publishDiagnostics", false));
  CHECK_FALSE(lifecycle.may_send("client/registerCapability", false));
  lifecycle.on_initialize_answered(true);
  CHECK(lifecycle.may_send("textDocument/publishDiagnostics", false));
  lifecycle.on_end();
  CHECK_FALSE(lifecycle.may_send("window/showMessage", false));
}

TEST_CASE("a refusal says what to do") {
  CHECK(refusal(Lifecycle::Verdict::not_initialized, "m").code == -32002);
  CHECK(refusal(Lifecycle::Verdict::not_initialized, "m").message ==
        "m: send initialize, and wait for its result, first");
  CHECK(refusal(Lifecycle::Verdict::already_initialized, "initialize").code == -32600);
  CHECK(refusal(Lifecycle::Verdict::shutting_down, "m").code == -32600);
}
