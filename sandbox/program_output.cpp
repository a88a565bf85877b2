#include "sandbox/program_output.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "sandbox/pipe.h"
#include "sandbox/spawn_launcher.h"

namespace escrow::sandbox {

bool wait_readable(int fd, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{fd, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

std::string read_until(int fd, std::chrono::steady_clock::time_point deadline) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (text.size() < 65536 && wait_readable(fd, deadline)) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string output_of(const std::string& program, std::vector<std::string> argv, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  Result<Pipe> pipe = make_pipe();
  if (!pipe) return {};
  const Result<UniqueFd> process = spawn_plain(program, std::move(argv), pipe->write.get());
  if (!process) return {};
  pipe->write.reset();
  std::string text = read_until(pipe->read.get(), deadline);
  if (!wait_readable(process->get(), deadline)) syscall(SYS_pidfd_send_signal, process->get(), SIGKILL, nullptr, 0);
  siginfo_t info{};
  waitid(P_PIDFD, static_cast<id_t>(process->get()), &info, WEXITED);
  return text;
}

}  // namespace escrow::sandbox
