#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "protocol/error_codes.h"
#include "protocol/json_reader.h"
#include "server/lsp/reply.h"

/// The table of methods this server answers.
///
///     void LspServer::bind(Binder& binder) {
///       binder.request("escrow/toolCall", this, &LspServer::tool_call);
///       binder.notification("textDocument/didOpen", this, &LspServer::did_open);
///       binder.request<protocol::NoParams>("shutdown", [this](const protocol::NoParams&, Reply reply) {
///         stop_executions();
///         reply(nullptr);
///       });
///     }
///     void LspServer::tool_call(const protocol::ToolCallParams& params, Reply reply);
///     void LspServer::did_open(const protocol::DidOpenTextDocumentParams& params);
///
/// Parameters arrive parsed; a wrong shape is answered with -32602 and the JSON path before the handler is
/// called (a notification of a wrong shape is logged and dropped). Bind everything before the connection
/// starts; a method bound twice is an assertion.
namespace escrow::server::lsp {

class Binder {
 public:
  using RequestHandler = std::function<void(const boost::json::value& params, Reply reply)>;
  using NotificationHandler = std::function<protocol::Result<void>(const boost::json::value& params)>;

  template <class Params, class Handler>
  requires std::invocable<Handler&, Params, Reply>
  void request(std::string_view method, Handler handler) {
    add_request(method, [handler = std::move(handler)](const boost::json::value& params, Reply reply) mutable {
      auto read = protocol::read<Params>(params);
      if (!read) return reply.error(protocol::kInvalidParams, read.error().message);
      handler(std::move(*read), std::move(reply));
    });
  }
  template <class Owner, class Params>
  void request(std::string_view method, Owner* owner, void (Owner::*handler)(Params, Reply)) {
    request<std::remove_cvref_t<Params>>(method, [owner, handler](std::remove_cvref_t<Params> params, Reply reply) {
      (owner->*handler)(std::move(params), std::move(reply));
    });
  }

  template <class Params, class Handler>
  requires std::invocable<Handler&, Params>
  void notification(std::string_view method, Handler handler) {
    add_notification(
        method, [handler = std::move(handler)](const boost::json::value& params) mutable -> protocol::Result<void> {
          auto read = protocol::read<Params>(params);
          if (!read) return read.error();
          handler(std::move(*read));
          return {};
        });
  }
  template <class Owner, class Params>
  void notification(std::string_view method, Owner* owner, void (Owner::*handler)(Params)) {
    notification<std::remove_cvref_t<Params>>(
        method, [owner, handler](std::remove_cvref_t<Params> params) { (owner->*handler)(std::move(params)); });
  }

  /// Null when nobody bound the method.
  const RequestHandler* find_request(std::string_view method) const;
  const NotificationHandler* find_notification(std::string_view method) const;

  /// Sorted names of the bound requests and notifications that start with `prefix`.
  std::vector<std::string> methods(std::string_view prefix = {}) const;

 private:
  void add_request(std::string_view method, RequestHandler handler);
  void add_notification(std::string_view method, NotificationHandler handler);
  std::map<std::string, RequestHandler, std::less<>> requests_;
  std::map<std::string, NotificationHandler, std::less<>> notifications_;
};

}  // namespace escrow::server::lsp
