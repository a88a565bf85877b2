#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/json_writer.h"
#include "protocol/message.h"

namespace boost::asio {
class io_context;
}

/// One JSON-RPC peer: lifecycle, dispatch, answers, cancellation, calls to the client.
///
///     boost::asio::io_context loop;
///     Binder binder;                                    // filled by LspServer::bind
///     Connection connection(loop, binder, {});
///     connection.on_exit([&](int code) { status = code; loop.stop(); });
///     Transport transport({.in = claim_stdin(), .out = claim_stdout()});
///     serve(connection, transport);                     // reader thread → receive(); sink → transport.send()
///     auto work = boost::asio::make_work_guard(loop);
///     loop.run();
///     transport.finish(std::chrono::milliseconds(300)); // let the last answers out
///
///     connection.notify("textDocument/publishDiagnostics", params);
///     connection.call<ApplyWorkspaceEditResult>("workspace/applyEdit", params, [](auto outcome) {
///       if (outcome && outcome->applied) …              // outcome.error() is the client's ResponseError
///     });
///
/// Messages are dispatched strictly in the order of receipt, one at a time, on the loop thread; answers go
/// out in the order they are given. Only `$/cancelRequest` overtakes: a request it finds undispatched is
/// answered -32800 in its turn, one in flight has its `Reply::on_cancel` callback called.
///
/// What the connection answers by itself: -32700/-32600 with id null for what cannot be read, -32601, -32602
/// (through the binder), -32002 before `initialize`, -32600 for a second `initialize` and after `shutdown`;
/// `shutdown` with null when nobody bound it; `exit`. It calls on_exit once: for `exit` (0 after `shutdown`,
/// else 1), at the end of input, when the process of `initialize`'s processId has died, or when the client
/// stopped reading. Requests still in flight then are answered first (-32803).
///
/// For tests: a connection needs no transport. Give it a sink, call `receive_text`, run `loop.poll()`.
namespace escrow::server::lsp {

class Binder;

/// A message on its way out, with what the queue needs to know to thin itself.
struct Outgoing {
  std::string body;          ///< JSON text, unframed
  std::string coalesce_key;  ///< a later message of the same key makes this one worthless; empty: never
  enum class Weight { required, droppable_first, droppable } weight = Weight::required;
};

class Connection {
 public:
  struct Options {
    /// Undispatched input above which `receive` makes its thread wait.
    std::size_t max_queued_bytes = std::size_t{256} << 20;
    /// How long after `shutdown` to wait for `exit`. Zero: for ever.
    std::chrono::milliseconds exit_patience = std::chrono::seconds(30);
  };
  using Sink = std::function<void(Outgoing)>;
  /// Names a call of ours to the client, for cancel_call.
  using CallId = std::int64_t;

  /// `loop` and `binder` must outlive the connection. Use from the loop's thread only, except receive*.
  Connection(boost::asio::io_context& loop, const Binder& binder, Options options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Where outgoing bodies go; called on the loop thread. Set before anything is sent.
  void on_send(Sink sink);
  /// Called once, on the loop thread, with the process exit code.
  void on_exit(std::function<void(int code)> callback);

  /// A frame's body, or why there is none. Any thread; the order of the calls is the order of dispatch.
  void receive(protocol::Result<std::string> frame);
  void receive_text(std::string body) { receive(protocol::Result<std::string>(std::move(body))); }
  /// The peer has closed, or cannot be written to any more. Any thread.
  void receive_end();

  /// Before the initialize result is out, what LSP does not allow to be sent yet is held and follows it.
  template <class T>
  void notify(std::string_view method, const T& params) {
    using protocol::to_json;
    send_notification(method, to_json(params));
  }

  /// Calls the client. `done` gets the result read as `T` (or a -32603 of our own when its shape is wrong), the
  /// client's error, or -32803 when the connection closes first; always exactly once, on the loop thread.
  template <class T, class P, class F>
  CallId call(std::string_view method, const P& params, F done) {
    using protocol::to_json;
    // Shared, because std::function copies and `done` may hold a Reply, which does not.
    auto shared = std::make_shared<F>(std::move(done));
    return send_request(method, to_json(params), [shared](protocol::Outcome<boost::json::value> outcome) {
      (*shared)(read_outcome<T>(std::move(outcome)));
    });
  }
  /// Sends `$/cancelRequest` for a call that is still open; its callback is still called, by the answer.
  void cancel_call(CallId call);

  /// True between the initialize result and `shutdown`.
  bool running() const;
  /// Requests dispatched and not answered yet.
  std::size_t in_flight() const;

 private:
  struct State;
  template <class T>
  static protocol::Outcome<T> read_outcome(protocol::Outcome<boost::json::value> outcome) {
    if (!outcome) return outcome.error();
    auto value = protocol::read<T>(*outcome, "result");
    if (!value) return protocol::ResponseError{-32603, value.error().message, nullptr};
    return std::move(*value);
  }
  void send_notification(std::string_view method, const boost::json::value& params);
  CallId send_request(std::string_view method, const boost::json::value& params,
                      std::function<void(protocol::Outcome<boost::json::value>)> done);
  std::shared_ptr<State> state_;
};

}  // namespace escrow::server::lsp
