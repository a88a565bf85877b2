#include "server/lsp/connection.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <string>
#include <vector>

#include "protocol/escrow.h"
#include "protocol/lsp_types.h"
#include "server/lsp/binder.h"
#include "tests/catch.h"

using namespace escrow;
using server::lsp::Binder;
using server::lsp::Connection;
using server::lsp::Reply;

namespace {

using Lines = std::vector<std::string>;

struct EchoParams {
  std::string text;
  protocol::Range range;
  static void fields(auto& f, auto& self) {
    f.required("text", self.text);
    f.required("range", self.range);
  }
};

/// A connection without a transport: what goes in is text, what comes out is text, and everything happens in `run`.
class Session {
 public:
  Session() : connection_(loop_, binder_, {.exit_patience = std::chrono::milliseconds(0)}) {
    connection_.on_send([this](server::lsp::Outgoing message) { sent_.push_back(std::move(message.body)); });
    connection_.on_exit([this](int code) { sent_.push_back("exit " + std::to_string(code)); });
    binder_.request<protocol::NoParams>("initialize", [](auto, Reply reply) { reply(protocol::InitializeResult{}); });
    binder_.request<EchoParams>("echo", [](const EchoParams& params, Reply reply) { reply(params.text); });
    binder_.request<protocol::NoParams>("wait", [this](auto, Reply reply) { waiting_.push_back(std::move(reply)); });
    binder_.request<protocol::NoParams>("drop", [](auto, Reply) {});
    binder_.request<protocol::NoParams>("throw", [](auto, Reply) { throw std::runtime_error("bug"); });
    binder_.request<protocol::NoParams>("stoppable", [this](auto, Reply reply) {
      auto held = std::make_shared<Reply>(std::move(reply));
      held->on_cancel([held] { held->cancelled(); });
      stoppable_.push_back(held);
    });
    binder_.notification<protocol::NoParams>("note", [this](auto) { sent_.push_back("noted"); });
    binder_.notification<EchoParams>("strict", [this](const EchoParams& params) { sent_.push_back(params.text); });
  }

  Binder& binder() { return binder_; }
  Connection& connection() { return connection_; }
  std::vector<Reply>& waiting() { return waiting_; }
  void put(std::string text) { connection_.receive_text(std::move(text)); }
  /// A request or notification; `more` is further members.
  void put(const std::string& id, const std::string& method, const std::string& params = "") {
    put(R"({"jsonrpc":"2.0",)" + (id.empty() ? "" : "\"id\":" + id + ",") + "\"method\":\"" + method + "\"" +
        (params.empty() ? "" : ",\"params\":" + params) + "}");
  }
  Lines run() {
    loop_.restart();
    loop_.poll();
    return std::exchange(sent_, {});
  }
  void initialize() {
    put("0", "initialize", R"({"capabilities":{}})");
    run();
  }

  boost::asio::io_context loop_;

 private:
  Binder binder_;
  Connection connection_;
  Lines sent_;
  std::vector<Reply> waiting_;
  std::vector<std::shared_ptr<Reply>> stoppable_;
};

std::string result(const std::string& id, const std::string& value) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + value + "}";
}

/// `error <id> <code>: <message>` for error answers, the text itself for anything else.
std::string brief(const std::string& text) {
  if (!text.starts_with("{")) return text;
  const auto value = boost::json::parse(text);
  const auto* error = value.as_object().if_contains("error");
  if (!error) return text;
  return "error " + boost::json::serialize(value.at("id")) + " " + boost::json::serialize(error->at("code")) + ": " +
         std::string(error->at("message").as_string());
}

Lines brief(Lines lines) {
  for (std::string& line : lines) line = brief(line);
  return lines;
}

}  // namespace

TEST_CASE("a session from initialize to exit is answered in order") {
  Session session;
  session.put("0", "initialize", R"({"processId":null,"capabilities":{}})");
  session.put("", "initialized", "{}");
  session.put("1", "echo",
              R"({"text":"hi","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}})");
  session.put("2", "shutdown");
  session.put("", "exit");
  CHECK(session.run() ==
        Lines{result("0", R"({"capabilities":{}})"), result("1", "\"hi\""), result("2", "null"), "exit 0"});
}

TEST_CASE("what is not a message is answered with a null id, and the session goes on") {
  Session session;
  session.initialize();
  session.put("not json");
  session.put("[]");
  session.put(R"({"jsonrpc":"2.0","id":5})");
  session.put(R"({"jsonrpc":"2.0","result":1})");
  session.connection().receive(protocol::Error{protocol::ErrorKind::too_large, "message of 9 bytes is over the limit"});
  session.connection().receive(protocol::Error{protocol::ErrorKind::bad_frame, "header without Content-Length"});
  session.put("1", "wait");
  CHECK(brief(session.run()) ==
        Lines{"error null -32700: not JSON: syntax error near byte 0",
              "error null -32600: not a JSON-RPC 2.0 message: batches are not part of LSP; send one message a frame",
              "error 5 -32600: not a JSON-RPC 2.0 message: method: missing",
              "error null -32600: message of 9 bytes is over the limit",
              "error null -32700: header without Content-Length"});
  CHECK(session.connection().in_flight() == 1);
}

TEST_CASE("parameters of a wrong shape are answered with their path, before the handler is called") {
  Session session;
  session.initialize();
  session.put("1", "echo",
              R"({"text":"x","range":{"start":{"line":0,"character":0},"end":{"line":"0","character":1}}})");
  session.put("2", "echo");
  session.put("3", "echo", "[1]");
  session.put("", "strict", "{}");
  CHECK(brief(session.run()) == Lines{"error 1 -32602: params.range.end.line: expected integer",
                                      "error 2 -32602: params.text: missing",
                                      "error 3 -32602: params: expected object"});
}

TEST_CASE("unknown requests are refused, unknown notifications ignored, with or without $/") {
  Session session;
  session.initialize();
  session.put("1", "nope");
  session.put("2", "$/nope");
  session.put("", "nope");
  session.put("", "$/nope");
  session.put("", "note");
  CHECK(brief(session.run()) ==
        Lines{"error 1 -32601: method not found: nope", "error 2 -32601: method not found: $/nope", "noted"});
}

TEST_CASE("the wrong time is answered with the lifecycle's codes") {
  Session session;
  session.put("1", "echo");
  session.put("", "note");
  session.put("2", "initialize", R"({"capabilities":{}})");
  session.put("3", "initialize", R"({"capabilities":{}})");
  session.put("4", "shutdown");
  session.put("5", "echo");
  session.put("6", "shutdown");
  session.put("", "note");
  const Lines lines = brief(session.run());
  CHECK(lines == Lines{"error 1 -32002: echo: send initialize, and wait for its result, first",
                       result("2", R"({"capabilities":{}})"),
                       "error 3 -32600: initialize: this server is initialized already", result("4", "null"),
                       "error 5 -32600: echo: the server is shutting down and waits for exit",
                       "error 6 -32600: shutdown: the server is shutting down and waits for exit"});
}

TEST_CASE("exit without shutdown is 1, and nothing after it is heard") {
  Session session;
  session.initialize();
  session.put("", "exit");
  session.put("1", "echo");
  CHECK(session.run() == Lines{"exit 1"});
}

TEST_CASE("the end of input ends the session once") {
  Session session;
  session.initialize();
  session.put("1", "wait");
  session.connection().receive_end();
  session.connection().receive_end();
  session.put("", "exit");
  CHECK(brief(session.run()) == Lines{"error 1 -32803: the server is shutting down", "exit 1"});
}

TEST_CASE("every request in flight is answered before exit, and a late answer goes nowhere") {
  Session session;
  session.initialize();
  session.put("1", "wait");
  session.put("2", "wait");
  session.put("3", "shutdown");
  session.put("", "exit");
  CHECK(brief(session.run()) == Lines{result("3", "null"), "error 1 -32803: the server is shutting down",
                                      "error 2 -32803: the server is shutting down", "exit 0"});
  session.waiting()[0]("late");
  session.waiting().clear();
  CHECK(session.run().empty());
}

TEST_CASE("a reply that is dropped, or lost to an exception, answers an internal error") {
  Session session;
  session.initialize();
  session.put("1", "drop");
  session.put("2", "throw");
  session.put("3", "wait");
  CHECK(brief(session.run()) == Lines{"error 1 -32603: drop: no answer was given; this is a bug in Escrow",
                                      "error 2 -32603: throw: no answer was given; this is a bug in Escrow"});
  session.waiting().clear();
  CHECK(brief(session.run()) == Lines{"error 3 -32603: wait: no answer was given; this is a bug in Escrow"});
}

TEST_CASE("replacing a reply answers for the request that is given up") {
  Session session;
  session.initialize();
  session.put("1", "wait");
  session.put("2", "wait");
  session.run();
  session.waiting()[0] = std::move(session.waiting()[1]);
  CHECK(brief(session.run()) == Lines{"error 1 -32603: wait: no answer was given; this is a bug in Escrow"});
  session.waiting()[0](nullptr);
  CHECK(session.run() == Lines{result("2", "null")});
  CHECK_FALSE(session.waiting()[0]);
}

TEST_CASE("a cancelled request that waits in the queue is never dispatched") {
  Session session;
  session.initialize();
  session.put("1", "wait");
  session.put("2", "wait");
  session.put("\"2\"", "wait");
  session.put("", "$/cancelRequest", R"({"id":2})");
  CHECK(brief(session.run()) == Lines{"error 2 -32800: cancelled"});
  CHECK(session.waiting().size() == 2);
}

TEST_CASE("cancelling overtakes what is queued behind the request in flight") {
  Session session;
  session.initialize();
  session.put("1", "stoppable");
  session.run();
  session.put("", "note");
  session.put("", "$/cancelRequest", R"({"id":1})");
  CHECK(brief(session.run()) == Lines{"error 1 -32800: cancelled", "noted"});
}

TEST_CASE("a request that has no use for cancelling runs on to its answer") {
  Session session;
  session.initialize();
  session.put("1", "wait");
  session.run();
  session.put("", "$/cancelRequest", R"({"id":1})");
  session.put("", "$/cancelRequest", R"({"id":99})");
  session.put("", "$/cancelRequest", R"({"id":null})");
  session.put("", "$/cancelRequest");
  CHECK(session.run().empty());
  bool told = false;
  session.waiting()[0].on_cancel([&] { told = true; });
  CHECK(told);
  session.waiting()[0](nullptr);
  CHECK(session.run() == Lines{result("1", "null")});
}

TEST_CASE("shutdown asks what is in flight to stop") {
  Session session;
  session.initialize();
  session.put("1", "stoppable");
  session.put("2", "shutdown");
  CHECK(brief(session.run()) == Lines{"error 1 -32800: cancelled", result("2", "null")});
}

TEST_CASE("an id in use is refused, so that no answer is ambiguous; a used one may come again") {
  Session session;
  session.initialize();
  session.put("1", "wait");
  session.put("1", "wait");
  CHECK(brief(session.run()) == Lines{"error 1 -32600: id 1 is in use by a request that is still open"});
  session.waiting()[0](1);
  session.put("1", "wait");
  CHECK(session.run() == Lines{result("1", "1")});
  CHECK(session.waiting().size() == 2);
}

TEST_CASE("what may not be sent before the initialize result follows it") {
  Session session;
  session.binder().request<protocol::NoParams>("slow/initialize", [](auto, Reply) {});
  session.connection().notify("textDocument/publishDiagnostics",
                              protocol::PublishDiagnosticsParams{"file:///x", {}, {}});
  session.connection().notify("window/logMessage", protocol::LogMessageParams{protocol::MessageType::log, "early"});
  session.put("1", "initialize", R"({"capabilities":{},"workDoneToken":"t"})");
  const Lines lines = session.run();
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].find("window/logMessage") != std::string::npos);
  CHECK(lines[1] == result("1", R"({"capabilities":{}})"));
  CHECK(lines[2].find("publishDiagnostics") != std::string::npos);
}

TEST_CASE("calls to the client come back with its result, its error, or the end") {
  Session session;
  session.initialize();
  Lines heard;
  const auto hear = [&heard](protocol::Outcome<protocol::ApplyWorkspaceEditResult> outcome) {
    heard.push_back(outcome ? (outcome->applied ? "applied" : "not applied")
                            : std::to_string(outcome.error().code) + " " + outcome.error().message);
  };
  for (int i = 0; i < 5; ++i) {
    session.connection().call<protocol::ApplyWorkspaceEditResult>("workspace/applyEdit",
                                                                  protocol::ApplyWorkspaceEditParams{}, hear);
  }
  const Lines lines = session.run();
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == R"({"jsonrpc":"2.0","id":1,"method":"workspace/applyEdit","params":{"edit":{}}})");
  session.put(R"({"jsonrpc":"2.0","id":2,"result":{"applied":true}})");
  session.put(R"({"jsonrpc":"2.0","id":1,"result":{"applied":false}})");
  session.put(R"({"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no"}})");
  session.put(R"({"jsonrpc":"2.0","id":4,"result":null})");
  session.put(R"({"jsonrpc":"2.0","id":2,"result":{"applied":true}})");
  session.put(R"({"jsonrpc":"2.0","id":"5","result":{"applied":true}})");
  session.connection().receive_end();
  session.run();
  CHECK(heard == Lines{"applied", "not applied", "-32603 no", "-32603 result: expected object",
                       "-32803 the server is shutting down"});
}

TEST_CASE("a reply may wait inside a call to the client") {
  Session session;
  session.binder().request<protocol::NoParams>("ask", [&session](auto, Reply reply) {
    session.connection().call<std::optional<protocol::MessageActionItem>>(
        "window/showMessageRequest", protocol::ShowMessageRequestParams{},
        [reply = std::move(reply)](auto outcome) mutable { reply(outcome && *outcome ? (*outcome)->title : "?"); });
  });
  session.initialize();
  session.put("1", "ask");
  CHECK(session.run().size() == 1);
  session.put(R"({"jsonrpc":"2.0","id":1,"result":{"title":"Allow once"}})");
  CHECK(session.run() == Lines{result("1", "\"Allow once\"")});
}

TEST_CASE("cancelling a call of ours tells the client, while it is open") {
  Session session;
  session.initialize();
  const auto call = session.connection().call<std::nullptr_t>("x", protocol::NoParams{}, [](auto) {});
  session.connection().cancel_call(call);
  const Lines lines = session.run();
  REQUIRE(lines.size() == 2);
  CHECK(lines[1] == R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}})");
  session.put(R"({"jsonrpc":"2.0","id":1,"result":null})");
  session.run();
  session.connection().cancel_call(call);
  CHECK(session.run().empty());
}

TEST_CASE("shutdown waits for exit only so long") {
  boost::asio::io_context loop;
  Binder binder;
  binder.request<protocol::NoParams>("initialize", [](auto, Reply reply) { reply(protocol::InitializeResult{}); });
  Connection connection(loop, binder, {.exit_patience = std::chrono::milliseconds(1)});
  int code = -1;
  connection.on_exit([&](int value) { code = value; });
  connection.receive_text(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
  connection.receive_text(R"({"jsonrpc":"2.0","id":2,"method":"shutdown"})");
  loop.run();
  CHECK(code == 0);
}

TEST_CASE("replies may outlive the connection") {
  std::vector<Reply> replies;
  {
    boost::asio::io_context loop;
    Binder binder;
    binder.request<protocol::NoParams>("initialize", [&](auto, Reply reply) { replies.push_back(std::move(reply)); });
    Connection connection(loop, binder, {});
    connection.receive_text(R"({"jsonrpc":"2.0","id":1,"method":"initialize"})");
    loop.poll();
  }
  REQUIRE(replies.size() == 1);
  replies[0](nullptr);
  replies.clear();
}

TEST_CASE("a bound method is listed once and by prefix") {
  Binder binder;
  binder.request<protocol::NoParams>("escrow/b", [](auto, Reply) {});
  binder.request<protocol::NoParams>("escrow/a", [](auto, Reply) {});
  binder.notification<protocol::NoParams>("other", [](auto) {});
  CHECK(binder.methods() == Lines{"escrow/a", "escrow/b", "other"});
  CHECK(binder.methods("escrow/") == Lines{"escrow/a", "escrow/b"});
  CHECK(binder.find_request("other") == nullptr);
  CHECK(binder.find_notification("other") != nullptr);
}

namespace {
struct Owner {
  std::string seen;
  void call(const protocol::Position& position, Reply reply) { reply(position.line); }
  void note(const protocol::Position& position) { seen = std::to_string(position.character); }
};
}  // namespace

TEST_CASE("member functions are bound with their own parameter types") {
  Session session;
  Owner owner;
  session.binder().request("position", &owner, &Owner::call);
  session.binder().notification("noted", &owner, &Owner::note);
  session.initialize();
  session.put("1", "position", R"({"line":7,"character":8})");
  session.put("", "noted", R"({"line":7,"character":8})");
  CHECK(session.run() == Lines{result("1", "7")});
  CHECK(owner.seen == "8");
}
