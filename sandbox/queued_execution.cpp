#include "sandbox/queued_execution.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <utility>

namespace escrow::sandbox {

QueuedExecution::QueuedExecution(boost::asio::io_context& loop, Begin begin, ExecutionEvents events)
    : loop_(loop), begin_(std::move(begin)), events_(std::move(events)) {}

bool QueuedExecution::start() {
  const Begin begin = std::exchange(begin_, nullptr);
  if (!begin) return false;
  // The events stay here too, for the case that nothing begins.
  Result<std::unique_ptr<RunningExecution>> running = begin(events_);
  if (!running) {
    finish(running.error());
    return false;
  }
  running_ = std::move(*running);
  if (!text_.empty()) running_->write_stdin(std::exchange(text_, {}));
  if (close_) running_->close_stdin();
  return true;
}

void QueuedExecution::kill() {
  if (running_) return running_->kill();
  if (!std::exchange(begin_, nullptr)) return;
  Execution killed;
  killed.signal = SIGKILL;
  killed.reason = ExitReason::killed;
  killed.enforcement = {
      .backend = "bubblewrap", .level = "sandbox", .layers = {}, .writable = "none", .memory = "none"};
  finish(std::move(killed));
}

void QueuedExecution::write_stdin(std::string_view bytes) {
  if (running_) return running_->write_stdin(bytes);
  text_.append(bytes);
}

void QueuedExecution::close_stdin() {
  close_ = true;
  if (running_) running_->close_stdin();
}

void QueuedExecution::resize(PtySize size) {
  if (running_) running_->resize(size);
}

void QueuedExecution::abandon() {
  begin_ = nullptr;
  events_ = {};
  running_.reset();
}

/// Never from inside a call.
void QueuedExecution::finish(Result<Execution> outcome) {
  boost::asio::post(loop_, [self = shared_from_this(), outcome = std::move(outcome)]() mutable {
    if (const auto done = std::exchange(self->events_.on_done, nullptr)) done(std::move(outcome));
  });
}

namespace {

class QueuedHandle : public RunningExecution {
 public:
  explicit QueuedHandle(std::shared_ptr<QueuedExecution> queued) : queued_(std::move(queued)) {}
  ~QueuedHandle() override { queued_->abandon(); }
  QueuedHandle(const QueuedHandle&) = delete;
  QueuedHandle& operator=(const QueuedHandle&) = delete;

  void kill() override { queued_->kill(); }
  void write_stdin(std::string_view bytes) override { queued_->write_stdin(bytes); }
  void close_stdin() override { queued_->close_stdin(); }
  void resize(PtySize size) override { queued_->resize(size); }

 private:
  std::shared_ptr<QueuedExecution> queued_;
};

}  // namespace

std::unique_ptr<RunningExecution> handle_of(std::shared_ptr<QueuedExecution> queued) {
  return std::make_unique<QueuedHandle>(std::move(queued));
}

}  // namespace escrow::sandbox
