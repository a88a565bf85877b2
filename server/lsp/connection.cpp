#include "server/lsp/connection.h"

#include <spdlog/spdlog.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cassert>
#include <map>
#include <utility>
#include <vector>

#include "protocol/error_codes.h"
#include "protocol/lifecycle.h"
#include "protocol/lsp_initialize.h"
#include "server/lsp/binder.h"
#include "server/lsp/inbox.h"
#include "server/lsp/process_watch.h"
#include "server/lsp/wire_error.h"
#include "server/utf8.h"

namespace escrow::server::lsp {

using protocol::Id;
using protocol::Lifecycle;
using protocol::Message;
using protocol::Notification;
using protocol::Request;
using protocol::Response;
using protocol::ResponseError;

namespace {

/// Diagnostics replace one another, progress reports say nothing that a later one does not, and lost output can be
/// read again (escrow/execute/read): so much may go when the client does not keep up.
Outgoing outgoing(std::string body, std::string_view method, const boost::json::value& params) {
  Outgoing out{std::move(body), {}, Outgoing::Weight::required};
  const auto member = [&](const boost::json::value& value, std::string_view key) -> const boost::json::value* {
    const boost::json::object* object = value.if_object();
    return object ? object->if_contains(key) : nullptr;
  };
  if (method == "textDocument/publishDiagnostics") {
    const boost::json::value* uri = member(params, "uri");
    if (uri && uri->is_string()) out.coalesce_key = "diagnostics " + std::string(uri->get_string());
  } else if (method == "$/progress") {
    const boost::json::value* value = member(params, "value");
    const boost::json::value* kind = value ? member(*value, "kind") : nullptr;
    if (kind && *kind == "report") out.weight = Outgoing::Weight::droppable_first;
  } else if (method == "escrow/execute/output") {
    out.weight = Outgoing::Weight::droppable;
  }
  return out;
}

std::optional<Id> cancelled_id(const Notification& notification) {
  if (notification.method != "$/cancelRequest") return std::nullopt;
  auto params = protocol::read<protocol::CancelParams>(notification.params);
  if (!params) return std::nullopt;
  return std::move(params->id);
}

/// What the connection itself reads of initialize; whatever is wrong with the rest is the handler's to say.
struct InitializeNote {
  std::optional<std::int64_t> processId;
  std::optional<protocol::ProgressToken> workDoneToken;
  static void fields(auto& f, auto& self) {
    f.optional("processId", self.processId);
    f.optional("workDoneToken", self.workDoneToken);
  }
};

}  // namespace

struct Connection::State : std::enable_shared_from_this<State> {
  using Done = std::function<void(protocol::Outcome<boost::json::value>)>;
  struct Held {
    std::string method;
    Outgoing message;
  };

  State(boost::asio::io_context& io, const Binder& bound, Options chosen)
      : loop(io), binder(bound), options(chosen), inbox(chosen.max_queued_bytes), patience(io) {}

  void post_dispatch();
  void dispatch_next();
  void dispatch(Message message);
  void on_request(Request request);
  void run(Request request);
  void on_shutdown();
  void on_notification(Notification notification);
  void on_cancel(const Id& id);
  void on_response(Response response);
  void on_bad(const protocol::BadMessage& bad);
  void on_answer(const std::string& method, Response response);
  void note_initialize(const Request& request);
  void refuse(const Id& id, ResponseError error);
  void send(const Response& response);
  void send_call(std::string_view method, const boost::json::value& params, const Message& message);
  bool is_initialize_token(std::string_view method, const boost::json::value& params) const;
  void release_held();
  void finish();
  void answer_leftovers();

  boost::asio::io_context& loop;
  const Binder& binder;
  Options options;
  Inbox inbox;
  // All below: loop thread only.
  Sink sink;
  std::function<void(int)> exit_callback;
  Lifecycle lifecycle;
  std::optional<protocol::ProgressToken> initialize_token;
  std::map<Id, std::shared_ptr<InFlight>> calls_in;
  std::map<CallId, Done> calls_out;
  CallId next_call = 1;
  std::vector<Held> held;  // until the initialize result is out
  std::unique_ptr<ProcessWatch> parent;
  boost::asio::steady_timer patience;
  bool finished = false;
};

void Connection::State::post_dispatch() {
  boost::asio::post(loop, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->dispatch_next();
  });
}

void Connection::State::dispatch_next() {
  std::optional<Inbox::Item> item = inbox.pop();
  if (!item || finished) return;
  if (auto* message = std::get_if<Message>(&*item)) return dispatch(std::move(*message));
  if (const auto* bad = std::get_if<protocol::BadMessage>(&*item)) return on_bad(*bad);
  if (const auto* cancelled = std::get_if<Inbox::Cancelled>(&*item)) {
    return refuse(cancelled->id, {protocol::kRequestCancelled, "cancelled", nullptr});
  }
  lifecycle.on_end();
  finish();
}

void Connection::State::dispatch(Message message) {
  if (auto* request = std::get_if<Request>(&message)) return on_request(std::move(*request));
  if (auto* notification = std::get_if<Notification>(&message)) return on_notification(std::move(*notification));
  on_response(std::move(std::get<Response>(message)));
}

void Connection::State::on_request(Request request) {
  if (calls_in.contains(request.id)) {
    return refuse(request.id,
                  {protocol::kInvalidRequest,
                   "id " + protocol::to_string(request.id) + " is in use by a request that is still open", nullptr});
  }
  const Lifecycle::Verdict verdict = lifecycle.on_request(request.method);
  if (verdict != Lifecycle::Verdict::dispatch) return refuse(request.id, protocol::refusal(verdict, request.method));
  if (request.method == "initialize") note_initialize(request);
  if (request.method == "shutdown") on_shutdown();
  run(std::move(request));
}

void Connection::State::run(Request request) {
  const Binder::RequestHandler* handler = binder.find_request(request.method);
  auto call = std::make_shared<InFlight>();
  call->id = request.id;
  call->method = request.method;
  call->deliver = [weak = weak_from_this(), method = request.method](Response response) {
    if (const auto self = weak.lock()) self->on_answer(method, std::move(response));
  };
  calls_in.emplace(request.id, call);
  Reply reply(std::move(call));
  if (!handler && request.method == "shutdown") return reply(nullptr);
  if (!handler) return reply.error(protocol::kMethodNotFound, "method not found: " + request.method);
  try {
    (*handler)(request.params.is_null() ? boost::json::value(boost::json::object()) : request.params, std::move(reply));
  } catch (const std::exception& bug) {
    // The reply has answered -32603 while the stack unwound.
    spdlog::error("{}: {}", request.method, bug.what());
  }
}

void Connection::State::on_answer(const std::string& method, Response response) {
  const Id id = *response.id;
  calls_in.erase(id);
  send(response);
  if (method == "initialize") {
    lifecycle.on_initialize_answered(std::holds_alternative<boost::json::value>(response.outcome));
    if (lifecycle.phase() == Lifecycle::Phase::running) release_held();
  }
}

void Connection::State::note_initialize(const Request& request) {
  const auto note = protocol::read<InitializeNote>(request.params);
  if (!note) return;
  initialize_token = note->workDoneToken;
  if (!note->processId) return;
  parent = ProcessWatch::start(loop, *note->processId, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->finished) return;
    spdlog::info("the client's process has died");
    self->lifecycle.on_end();
    self->finish();
  });
}

/// Whatever still runs is asked to stop; it may answer until exit.
void Connection::State::on_shutdown() {
  std::vector<Id> open;
  for (const auto& [id, call] : calls_in) open.push_back(id);
  for (const Id& id : open) on_cancel(id);
  if (options.exit_patience == std::chrono::milliseconds::zero()) return;
  patience.expires_after(options.exit_patience);
  patience.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->finished) return;
    spdlog::warn("no exit came after shutdown");
    self->lifecycle.on_end();
    self->finish();
  });
}

void Connection::State::on_notification(Notification notification) {
  if (const std::optional<Id> id = cancelled_id(notification)) return on_cancel(*id);
  switch (lifecycle.on_notification(notification.method)) {
    case Lifecycle::Verdict::exit:
      return finish();
    case Lifecycle::Verdict::dispatch:
      break;
    case Lifecycle::Verdict::drop:
    case Lifecycle::Verdict::not_initialized:
    case Lifecycle::Verdict::already_initialized:
    case Lifecycle::Verdict::shutting_down:
      spdlog::debug("{} came at the wrong time and was dropped", notification.method);
      return;
  }
  const Binder::NotificationHandler* handler = binder.find_notification(notification.method);
  if (!handler) {
    if (!notification.method.starts_with("$/")) spdlog::debug("{} is not known here", notification.method);
    return;
  }
  try {
    const auto& params = notification.params;
    const auto handled = (*handler)(params.is_null() ? boost::json::value(boost::json::object()) : params);
    if (!handled) spdlog::warn("{}: {}", notification.method, handled.error().message);
  } catch (const std::exception& bug) {
    spdlog::error("{}: {}", notification.method, bug.what());
  }
}

/// The request may be answered already, which is no fault.
void Connection::State::on_cancel(const Id& id) {
  const auto found = calls_in.find(id);
  if (found == calls_in.end()) return;
  const std::shared_ptr<InFlight> call = found->second;
  call->cancel_requested = true;
  if (const auto callback = std::exchange(call->on_cancel, nullptr)) callback();
}

void Connection::State::on_response(Response response) {
  const std::int64_t* number = response.id ? std::get_if<std::int64_t>(&*response.id) : nullptr;
  const auto found = number ? calls_out.find(*number) : calls_out.end();
  if (found == calls_out.end()) {
    spdlog::warn("an answer came to no question of ours: id {}",
                 response.id ? protocol::to_string(*response.id) : std::string("null"));
    return;
  }
  const Done done = std::move(found->second);
  calls_out.erase(found);
  if (auto* error = std::get_if<ResponseError>(&response.outcome)) return done(std::move(*error));
  done(std::move(std::get<boost::json::value>(response.outcome)));
}

void Connection::State::on_bad(const protocol::BadMessage& bad) {
  spdlog::warn("{}", bad.error.message);
  if (bad.answerable) send(Response{bad.id, to_wire(bad.error)});
}

void Connection::State::refuse(const Id& id, ResponseError error) {
  send(Response{id, std::move(error)});
}

void Connection::State::send(const Response& response) {
  if (sink && !finished) sink(Outgoing{valid_utf8(protocol::encode(response)), {}, Outgoing::Weight::required});
}

void Connection::State::send_call(std::string_view method, const boost::json::value& params, const Message& message) {
  if (lifecycle.phase() == Lifecycle::Phase::exited) return;
  Outgoing out = outgoing(valid_utf8(protocol::encode(message)), method, params);
  if (!lifecycle.may_send(method, is_initialize_token(method, params))) {
    held.push_back({std::string(method), std::move(out)});
  } else if (sink) {
    sink(std::move(out));
  }
}

bool Connection::State::is_initialize_token(std::string_view method, const boost::json::value& params) const {
  if (method != "$/progress" || !initialize_token || !params.is_object()) return false;
  const boost::json::value* token = params.get_object().if_contains("token");
  return token && *token == protocol::to_json(*initialize_token);
}

void Connection::State::release_held() {
  for (Held& one : std::exchange(held, {})) {
    if (sink) sink(std::move(one.message));
  }
}

/// The end, whatever brought it about.
void Connection::State::finish() {
  if (finished) return;
  const auto self = shared_from_this();  // a callback may drop the connection
  inbox.close();
  answer_leftovers();
  finished = true;
  patience.cancel();
  parent.reset();
  if (const auto callback = std::exchange(exit_callback, nullptr)) callback(lifecycle.exit_code());
}

void Connection::State::answer_leftovers() {
  const ResponseError gone{protocol::kRequestFailed, "the server is shutting down", nullptr};
  for (const auto& [id, call] : std::exchange(calls_in, {})) {
    call->deliver = nullptr;
    send(Response{id, gone});
    if (const auto callback = std::exchange(call->on_cancel, nullptr)) callback();
  }
  for (const auto& [id, done] : std::exchange(calls_out, {})) done(gone);
}

Connection::Connection(boost::asio::io_context& loop, const Binder& binder, Options options)
    : state_(std::make_shared<State>(loop, binder, options)) {}

Connection::~Connection() {
  // Replies may outlive us; what they say then goes nowhere.
  state_->inbox.close();
  state_->finished = true;
  for (const auto& [id, call] : state_->calls_in) {
    call->deliver = nullptr;
    call->on_cancel = nullptr;
  }
}

void Connection::on_send(Sink sink) {
  state_->sink = std::move(sink);
}

void Connection::on_exit(std::function<void(int)> callback) {
  state_->exit_callback = std::move(callback);
}

void Connection::receive(protocol::Result<std::string> frame) {
  const std::size_t bytes = frame ? frame->size() : 0;
  if (!frame) {
    state_->inbox.push(protocol::BadMessage{frame.error(), std::nullopt, true}, bytes);
    return state_->post_dispatch();
  }
  auto message = protocol::parse_message(*frame);
  if (!message) {
    state_->inbox.push(std::move(message).error(), bytes);
    return state_->post_dispatch();
  }
  if (auto* notification = std::get_if<Notification>(&*message)) {
    if (const std::optional<Id> id = cancelled_id(*notification)) {
      state_->inbox.cancel(*id, std::move(*notification), bytes);
      return state_->post_dispatch();
    }
  }
  state_->inbox.push(std::move(*message), bytes);
  state_->post_dispatch();
}

void Connection::receive_end() {
  state_->inbox.push(Inbox::End{}, 0);
  state_->post_dispatch();
}

void Connection::send_notification(std::string_view method, const boost::json::value& params) {
  const Message message = Notification{std::string(method), params};
  state_->send_call(method, params, message);
}

Connection::CallId Connection::send_request(std::string_view method, const boost::json::value& params,
                                            State::Done done) {
  const CallId id = state_->next_call++;
  if (state_->lifecycle.phase() == Lifecycle::Phase::exited) {
    boost::asio::post(state_->loop, [done = std::move(done)] {
      done(ResponseError{protocol::kRequestFailed, "the connection is closed", nullptr});
    });
    return id;
  }
  state_->calls_out.emplace(id, std::move(done));
  const Message message = Request{id, std::string(method), params};
  state_->send_call(method, params, message);
  return id;
}

void Connection::cancel_call(CallId call) {
  if (!state_->calls_out.contains(call)) return;
  boost::json::object params;
  params["id"] = call;
  send_notification("$/cancelRequest", std::move(params));
}

bool Connection::running() const {
  return state_->lifecycle.phase() == Lifecycle::Phase::running;
}

std::size_t Connection::in_flight() const {
  return state_->calls_in.size();
}

}  // namespace escrow::server::lsp
