#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "protocol/json_writer.h"
#include "protocol/message.h"

namespace escrow::server::lsp {

/// A request that came in and has not been answered. Shared by its Reply and the Connection; loop thread only.
struct InFlight {
  protocol::Id id;
  std::string method;
  std::function<void(protocol::Response)> deliver;  ///< empty once answered, or when the connection is gone
  std::function<void()> on_cancel;
  bool cancel_requested = false;
};

/// The duty to answer one request, exactly once.
///
/// Move it to wherever the answer will come from: into a callback, into a table of waiting calls. Dropped
/// unanswered, it answers `-32603`; a second answer is refused (an assertion in debug builds, a log line
/// otherwise). When the connection has answered in the meantime, because it closed, the answer goes nowhere.
/// Loop thread only.
class Reply {
 public:
  Reply() = default;
  explicit Reply(std::shared_ptr<InFlight> call) : call_(std::move(call)) {}
  Reply(Reply&&) noexcept = default;
  Reply& operator=(Reply&& other) noexcept;
  ~Reply();

  /// Answers with a result: any type with `to_json`; `nullptr` for "done, nothing to say".
  template <class T>
  void operator()(const T& result) {
    using protocol::to_json;
    answer(json_value(to_json(result)));
  }
  void operator()(boost::json::value result) { answer(std::move(result)); }
  void error(protocol::ResponseError error);
  void error(int code, std::string message) { this->error({code, std::move(message), nullptr}); }
  /// Answers `-32800`, as `$/cancelRequest` asks.
  void cancelled();

  /// Called when the client cancels the request, or shuts the server down; at once if it has already. The
  /// callback should stop the work; answering (here or later, with a result or `cancelled()`) stays the
  /// owner's duty. Replaces an earlier callback. Released with the answer.
  void on_cancel(std::function<void()> callback);

  /// True while an answer is owed.
  explicit operator bool() const { return call_ != nullptr; }
  /// Empty when nothing is owed.
  std::string_view method() const;

 private:
  static boost::json::value json_value(boost::json::value value) { return value; }
  void answer(std::variant<boost::json::value, protocol::ResponseError> outcome);
  std::shared_ptr<InFlight> call_;
};

}  // namespace escrow::server::lsp
