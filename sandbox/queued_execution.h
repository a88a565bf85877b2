#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sandbox/executor.h"

namespace escrow::sandbox {

/// A command that waits for its turn. What is written to it meanwhile is kept; killed before it began, it ends as
/// killed.
class QueuedExecution : public RunningExecution, public std::enable_shared_from_this<QueuedExecution> {
 public:
  using Begin = std::function<Result<std::unique_ptr<RunningExecution>>(ExecutionEvents)>;

  QueuedExecution(boost::asio::io_context& loop, Begin begin, ExecutionEvents events);

  /// Its turn has come. False if nobody wants it any more: then it is the next one's.
  bool start();

  void kill() override;
  void write_stdin(std::string_view bytes) override;
  void close_stdin() override;
  void resize(PtySize size) override;
  /// Whoever held it let go.
  void abandon();

 private:
  void finish(Result<Execution> outcome);

  boost::asio::io_context& loop_;
  Begin begin_;
  ExecutionEvents events_;
  std::unique_ptr<RunningExecution> running_;
  std::string text_;
  bool close_ = false;
};

/// What the caller holds.
std::unique_ptr<RunningExecution> handle_of(std::shared_ptr<QueuedExecution> queued);

}  // namespace escrow::sandbox
