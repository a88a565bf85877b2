#include "server/lsp/process_watch.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <limits>

namespace escrow::server::lsp {
namespace {

bool is_alive(pid_t pid) {
  return ::kill(pid, 0) == 0 || errno == EPERM;
}

/// A descriptor that becomes readable when the process ends (pidfd_open(2), Linux 5.3). Unlike a number it cannot come
/// to mean another process.
class PidfdWatch : public ProcessWatch {
 public:
  PidfdWatch(boost::asio::io_context& loop, int fd, std::function<void()> on_death) : descriptor_(loop, fd) {
    descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                           [done = std::move(on_death)](const boost::system::error_code& error) {
                             if (!error) done();
                           });
  }

 private:
  boost::asio::posix::stream_descriptor descriptor_;
};

/// Where there is no pidfd: looks every two seconds.
class PollingWatch : public ProcessWatch {
 public:
  PollingWatch(boost::asio::io_context& loop, pid_t pid, std::function<void()> on_death)
      : timer_(loop), pid_(pid), on_death_(std::move(on_death)) {
    wait();
  }

 private:
  void wait() {
    timer_.expires_after(std::chrono::seconds(2));
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      if (is_alive(pid_)) return wait();
      on_death_();
    });
  }
  boost::asio::steady_timer timer_;
  pid_t pid_;
  std::function<void()> on_death_;
};

int open_pidfd(pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  (void)pid;
  errno = ENOSYS;
  return -1;
#endif
}

}  // namespace

std::unique_ptr<ProcessWatch> ProcessWatch::start(boost::asio::io_context& loop, std::int64_t pid,
                                                  std::function<void()> on_death) {
  if (pid <= 1 || pid > std::numeric_limits<pid_t>::max()) return nullptr;
  const auto number = static_cast<pid_t>(pid);
  if (!is_alive(number)) return nullptr;
  if (const int fd = open_pidfd(number); fd >= 0) return std::make_unique<PidfdWatch>(loop, fd, std::move(on_death));
  if (errno == ESRCH) return nullptr;
  return std::make_unique<PollingWatch>(loop, number, std::move(on_death));
}

}  // namespace escrow::server::lsp
