#include "server/cli/input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace escrow::server::cli {
namespace {

bool is_stdin(const std::string& file) {
  return file.empty() || file == "-";
}

Result<std::string> read_to_end(int fd, const std::string& name) {
  std::string text;
  std::vector<char> buffer(256u << 10);
  while (true) {
    const auto got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(name);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxInputBytes) {
      return Error{ErrorKind::limit_exceeded, name + ": larger than 64 MiB; split it"};
    }
  }
}

}  // namespace

std::string input_name(const std::string& file) {
  return is_stdin(file) ? "<stdin>" : file;
}

Result<std::string> read_input(const std::string& file) {
  if (is_stdin(file)) return read_to_end(STDIN_FILENO, input_name(file));
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error(file);
  auto text = read_to_end(fd, file);
  ::close(fd);
  return text;
}

}  // namespace escrow::server::cli
