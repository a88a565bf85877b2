#include "server/lsp/reply.h"

#include <spdlog/spdlog.h>

#include <cassert>
#include <utility>

#include "protocol/error_codes.h"

namespace escrow::server::lsp {

Reply& Reply::operator=(Reply&& other) noexcept {
  if (this != &other) {
    Reply dropped(std::move(*this));  // answers for the call that is being replaced
    call_ = std::move(other.call_);
  }
  return *this;
}

Reply::~Reply() {
  // A call that the connection has already answered, because it closed, owes nothing.
  if (!call_ || !call_->deliver) return;
  spdlog::error("{} {} was dropped without an answer", call_->method, protocol::to_string(call_->id));
  error(protocol::kInternalError, call_->method + ": no answer was given; this is a bug in Escrow");
}

void Reply::error(protocol::ResponseError error) {
  answer(std::move(error));
}

void Reply::cancelled() {
  error(protocol::kRequestCancelled, "cancelled");
}

void Reply::on_cancel(std::function<void()> callback) {
  assert(call_ && "no request is waiting for this reply");
  if (!call_) return;
  call_->on_cancel = std::move(callback);
  if (call_->cancel_requested && call_->on_cancel) std::exchange(call_->on_cancel, nullptr)();
}

std::string_view Reply::method() const {
  return call_ ? std::string_view(call_->method) : std::string_view();
}

void Reply::answer(std::variant<boost::json::value, protocol::ResponseError> outcome) {
  assert(call_ && "a request is answered once");
  if (!call_) {
    spdlog::error("a second answer to one request was refused; this is a bug in Escrow");
    return;
  }
  const std::shared_ptr<InFlight> call = std::move(call_);
  call->on_cancel = nullptr;
  if (const auto deliver = std::exchange(call->deliver, nullptr)) {
    deliver(protocol::Response{call->id, std::move(outcome)});
  }
}

}  // namespace escrow::server::lsp
