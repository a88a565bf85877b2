#include "protocol/lifecycle.h"

#include <cassert>

#include "protocol/error_codes.h"

namespace escrow::protocol {

Lifecycle::Verdict Lifecycle::on_request(std::string_view method) {
  switch (phase_) {
    case Phase::created:
      if (method != "initialize") return Verdict::not_initialized;
      phase_ = Phase::initializing;
      return Verdict::dispatch;
    case Phase::initializing:
      return method == "initialize" ? Verdict::already_initialized : Verdict::not_initialized;
    case Phase::running:
      if (method == "initialize") return Verdict::already_initialized;
      if (method == "shutdown") {
        phase_ = Phase::shut_down;
        was_shut_down_ = true;
      }
      return Verdict::dispatch;
    case Phase::shut_down:
    case Phase::exited:
      return Verdict::shutting_down;
  }
  assert(false && "phase out of range");
  return Verdict::shutting_down;
}

Lifecycle::Verdict Lifecycle::on_notification(std::string_view method) {
  if (phase_ == Phase::exited) return Verdict::drop;
  if (method == "exit") {
    phase_ = Phase::exited;
    return Verdict::exit;
  }
  return phase_ == Phase::running ? Verdict::dispatch : Verdict::drop;
}

void Lifecycle::on_end() {
  phase_ = Phase::exited;
}

void Lifecycle::on_initialize_answered(bool success) {
  if (phase_ == Phase::initializing) phase_ = success ? Phase::running : Phase::created;
}

bool Lifecycle::may_send(std::string_view method, bool on_initialize_token) const {
  switch (phase_) {
    case Phase::created:
    case Phase::initializing:
      return method == "window/showMessage" || method == "window/logMessage" || method == "telemetry/event" ||
             method == "window/showMessageRequest" || (method == "$/progress" && on_initialize_token);
    case Phase::running:
    case Phase::shut_down:
      return true;
    case Phase::exited:
      return false;
  }
  assert(false && "phase out of range");
  return false;
}

ResponseError refusal(Lifecycle::Verdict verdict, std::string_view method) {
  const std::string name(method);
  switch (verdict) {
    case Lifecycle::Verdict::not_initialized:
      return {kServerNotInitialized, name + ": send initialize, and wait for its result, first", nullptr};
    case Lifecycle::Verdict::already_initialized:
      return {kInvalidRequest, "initialize: this server is initialized already", nullptr};
    case Lifecycle::Verdict::shutting_down:
      return {kInvalidRequest, name + ": the server is shutting down and waits for exit", nullptr};
    case Lifecycle::Verdict::dispatch:
    case Lifecycle::Verdict::drop:
    case Lifecycle::Verdict::exit:
      break;
  }
  assert(false && "not a refusal");
  return {kInternalError, "not a refusal", nullptr};
}

}  // namespace escrow::protocol
