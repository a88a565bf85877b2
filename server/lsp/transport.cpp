#include "server/lsp/transport.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>

namespace escrow::server::lsp {
namespace {

constexpr std::size_t kReadSize = std::size_t{64} << 10;
/// After poll a pipe takes so much without blocking (pipe(7)); a blocked writer could not be stopped.
constexpr std::size_t kWriteSize = PIPE_BUF;

/// The loop's thread handles signals; and a broken pipe shall be an errno here, not a death.
void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void close_fd(int fd) {
  if (fd >= 0) ::close(fd);
}

}  // namespace

Transport::Transport(Options options) : options_(options), queue_(options.queue) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  stop_read_ = ends[0];
  stop_write_ = ends[1];
  for (const int fd : ends) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

Transport::~Transport() {
  stop();
  for (const int fd : {options_.in, options_.out, stop_read_, stop_write_}) close_fd(fd);
}

void Transport::start(OnFrame on_frame, OnEnd on_end) {
  assert(!reader_.joinable() && "a transport starts once");
  on_frame_ = std::move(on_frame);
  on_end_ = std::move(on_end);
  reader_ = std::thread([this] { read_loop(); });
  writer_ = std::thread([this] { write_loop(); });
}

void Transport::send(Outgoing message) {
  bool keeps_up = true;
  {
    const std::lock_guard lock(mutex_);
    if (broken_ || stopping_) return;
    keeps_up = queue_.push(std::move(message));
    broken_ = !keeps_up;
  }
  changed_.notify_all();
  if (keeps_up) return;
  spdlog::error("the client does not read: giving up");
  end_once();
}

void Transport::finish(std::chrono::milliseconds patience) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return broken_ || (queue_.size() == 0 && !writing_); });
  }
  stop();
}

void Transport::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(stopping_, true)) {
      [[maybe_unused]] const auto written = ::write(stop_write_, "x", 1);
    }
  }
  changed_.notify_all();
  if (reader_.joinable()) reader_.join();
  if (writer_.joinable()) writer_.join();
}

void Transport::read_loop() {
  block_signals();
  protocol::FrameReader frames(options_.frames);
  std::array<char, kReadSize> buffer;
  while (wait_for(options_.in, POLLIN)) {
    const ssize_t size = ::read(options_.in, buffer.data(), buffer.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size <= 0) break;
    frames.feed(std::string_view(buffer.data(), static_cast<std::size_t>(size)));
    while (auto frame = frames.next()) on_frame_(std::move(*frame));
  }
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
  }
  if (const auto torn = frames.finish()) on_frame_(*torn);
  end_once();
}

void Transport::write_loop() {
  block_signals();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || broken_ || queue_.size() > 0; });
    if (stopping_ || broken_) return;
    const std::string body = *queue_.pop();
    writing_ = true;
    lock.unlock();
    const bool written = write_frame(protocol::frame(body));
    lock.lock();
    writing_ = false;
    broken_ = broken_ || !written;
    changed_.notify_all();
    if (written || stopping_) continue;
    lock.unlock();
    end_once();
    return;
  }
}

bool Transport::write_frame(std::string_view frame) {
  while (!frame.empty()) {
    if (!wait_for(options_.out, POLLOUT)) return false;
    const ssize_t size = ::write(options_.out, frame.data(), std::min(frame.size(), kWriteSize));
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size < 0) {
      spdlog::warn("cannot write to the client: {}", std::strerror(errno));
      return false;
    }
    frame.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

/// False when it is time to stop.
bool Transport::wait_for(int fd, short events) const {
  std::array<pollfd, 2> fds{pollfd{fd, events, 0}, pollfd{stop_read_, POLLIN, 0}};
  for (;;) {
    const int ready = ::poll(fds.data(), fds.size(), -1);
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && fds[1].revents == 0;
  }
}

void Transport::end_once() {
  std::call_once(ended_, on_end_);
}

void serve(Connection& connection, Transport& transport) {
  connection.on_send([&transport](Outgoing message) { transport.send(std::move(message)); });
  transport.start([&connection](protocol::Result<std::string> frame) { connection.receive(std::move(frame)); },
                  [&connection] { connection.receive_end(); });
}

}  // namespace escrow::server::lsp
