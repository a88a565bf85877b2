#include "sandbox/runner/connect.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "sandbox/guest_env.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// The head of the answer, byte by byte: what follows it is not ours.
std::string read_head(int fd) {
  std::string head;
  for (char byte = 0; head.size() < 4096 && !head.ends_with("\r\n\r\n") && read(fd, &byte, 1) == 1;) head += byte;
  return head;
}

UniqueFd connect_to_proxy() {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kProxyPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!fd || connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
}

/// True while there may be more.
bool pass_on(int from, int to) {
  std::array<char, 16384> buffer{};
  const ssize_t got = read(from, buffer.data(), buffer.size());
  return got > 0 && write_all(to, {buffer.data(), static_cast<std::size_t>(got)});
}

void relay(int proxy) {
  bool input = true;
  for (;;) {
    std::array<pollfd, 2> waits{pollfd{proxy, POLLIN, 0}, pollfd{input ? STDIN_FILENO : -1, POLLIN, 0}};
    if (poll(waits.data(), waits.size(), -1) < 0) return;
    if (waits[0].revents != 0 && !pass_on(proxy, STDOUT_FILENO)) return;
    if (waits[1].revents == 0 || pass_on(STDIN_FILENO, proxy)) continue;
    input = false;
    shutdown(proxy, SHUT_WR);
  }
}

int complain(std::string_view why) {
  write_all(STDERR_FILENO, why);
  return 1;
}

}  // namespace

int tunnel_through_proxy(const char* host, const char* port) {
  const UniqueFd proxy = connect_to_proxy();
  if (!proxy) return complain("escrow: the sandbox's proxy does not answer\n");
  const std::string target = std::string(host) + ":" + port;
  if (!write_all(proxy.get(), "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n")) return 1;
  if (!read_head(proxy.get()).starts_with("HTTP/1.1 200 "))
    return complain("escrow: " + target + " is not among the hosts that this command may reach\n");
  relay(proxy.get());
  return 0;
}

}  // namespace escrow::sandbox
