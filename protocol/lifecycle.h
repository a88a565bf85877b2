#pragma once

#include <string_view>

#include "protocol/message.h"

/// LSP's life of a server (3.17, "Server lifecycle"), as a state machine without I/O.
namespace escrow::protocol {

class Lifecycle {
 public:
  enum class Phase {
    created,       ///< nothing but `initialize` and `exit` is heard
    initializing,  ///< `initialize` was taken, its result is not out yet
    running,
    shut_down,  ///< only `exit` is heard
    exited,
  };

  /// What to do with a message that came in.
  enum class Verdict {
    dispatch,             ///< hand it to its handler
    not_initialized,      ///< answer -32002
    already_initialized,  ///< answer -32600
    shutting_down,        ///< answer -32600
    drop,                 ///< a notification that must not be heard now
    exit,                 ///< end the process with exit_code()
  };

  Phase phase() const { return phase_; }

  /// Takes note of `initialize` and `shutdown` as it lets them through.
  Verdict on_request(std::string_view method);
  /// Takes note of `exit`.
  Verdict on_notification(std::string_view method);
  /// The input has ended, or the client's process has died: like `exit`.
  void on_end();
  /// The answer to `initialize` goes out. After an error the client may try again.
  void on_initialize_answered(bool success);

  /// Whether `method` may be sent to the client now. Before the initialize result that is only
  /// window/showMessage, window/logMessage, telemetry/event, window/showMessageRequest, and $/progress on the
  /// workDoneToken of initialize (`on_initialize_token`).
  bool may_send(std::string_view method, bool on_initialize_token) const;

  /// 0 if `shutdown` was asked for first, else 1.
  int exit_code() const { return was_shut_down_ ? 0 : 1; }

 private:
  Phase phase_ = Phase::created;
  bool was_shut_down_ = false;
};

/// The error that a verdict asks for; only for the three that refuse.
ResponseError refusal(Lifecycle::Verdict verdict, std::string_view method);

}  // namespace escrow::protocol
