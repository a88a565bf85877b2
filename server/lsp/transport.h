#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "protocol/framing.h"
#include "server/lsp/outbound_queue.h"
#include "server/lsp/stdio_claim.h"

namespace escrow::server::lsp {

/// LSP frames over two descriptors.
///
/// A reader thread cuts frames and hands them on; a writer thread owns the output, so that frames never interleave.
/// Neither waits for the other: the outbound queue thins itself, and a client that stopped reading is reported as
/// gone. Descriptors are owned and closed. Destroy it before what its callbacks refer to.
class Transport {
 public:
  struct Options {
    int in = -1;
    int out = -1;
    protocol::FrameReader::Limits frames = {};
    OutboundQueue::Limits queue = {};
  };
  /// On the reader's thread.
  using OnFrame = std::function<void(protocol::Result<std::string>)>;
  /// At most once, on either thread: the input has ended, or the output cannot be written to any more.
  using OnEnd = std::function<void()>;

  explicit Transport(Options options);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  void start(OnFrame on_frame, OnEnd on_end);
  /// Never waits. Any thread.
  void send(Outgoing message);
  /// Waits until everything is written, but no longer than `patience`; then stops both threads.
  void finish(std::chrono::milliseconds patience);

 private:
  void read_loop();
  void write_loop();
  bool write_frame(std::string_view frame);
  bool wait_for(int fd, short events) const;
  void end_once();
  void stop();

  const Options options_;
  int stop_read_ = -1, stop_write_ = -1;  // a pipe that becomes readable when it is time to stop
  OnFrame on_frame_;
  OnEnd on_end_;
  std::once_flag ended_;
  std::mutex mutex_;
  std::condition_variable changed_;
  OutboundQueue queue_;   // the rest is guarded by mutex_
  bool writing_ = false;  // a frame is out of the queue and not written yet
  bool broken_ = false;
  bool stopping_ = false;
  std::thread reader_, writer_;
};

/// Joins a connection and its transport. Declare the connection first.
void serve(Connection& connection, Transport& transport);

}  // namespace escrow::server::lsp
