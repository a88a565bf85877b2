#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <thread>

#include "tests/escape/escape_fixture.h"

// Attacks on the way out.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;

namespace {

Violation egress(const std::string& target) {
  return {ViolationKind::egress, target};
}

/// A TCP listener of the host on 127.0.0.1.
class HostListener {
 public:
  HostListener() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(fd_, 8) == 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~HostListener() {
    shutdown(fd_, SHUT_RDWR);
    if (server_.joinable()) server_.join();
    close(fd_);
  }
  HostListener(const HostListener&) = delete;
  HostListener& operator=(const HostListener&) = delete;

  /// Answers every connection with an HTTP response.
  void serve(const std::string& body) {
    server_ = std::thread([this, body] {
      for (int client; (client = accept(fd_, nullptr, nullptr)) >= 0; close(client)) {
        char request[4096];
        if (read(client, request, sizeof request) <= 0) continue;
        const std::string reply =
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
            body;
        (void)!write(client, reply.data(), reply.size());
      }
    });
  }
  int port() const { return port_; }

 private:
  int fd_, port_ = 0;
  std::thread server_;
};

}  // namespace

TEST_CASE("no packet leaves: TCP, UDP, and the host's own loopback are out of reach") {
  AttackedCage cage;
  const HostListener listener;
  CHECK(cage.attack({"tcp", "udp", "tcp-host-loopback=" + std::to_string(listener.port())}) ==
        std::vector<std::string>{"tcp ENETUNREACH", "udp ENETUNREACH", "tcp-host-loopback EINPROGRESS"});
  // A connection attempt that is under way on the sandbox's own loopback ends in a refusal.
  const Execution execution = cage.sh("python3 -c \"import socket; socket.create_connection(('127.0.0.1', " +
                                      std::to_string(listener.port()) + "))\"");
  CHECK(execution.exit_code != 0);
}

TEST_CASE("the host's sockets cannot be reached, neither by path nor abstract") {
  AttackedCage cage;
  const std::string path = (cage.tree.outside() / "socket").string(), name = "escrow-test-" + std::to_string(getpid());
  const int by_path = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
            abstract = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(bind(by_path, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(by_path, 1) == 0);
  sockaddr_un hidden{};
  hidden.sun_family = AF_UNIX;
  name.copy(hidden.sun_path + 1, sizeof hidden.sun_path - 2);
  REQUIRE(bind(abstract, reinterpret_cast<sockaddr*>(&hidden),
               static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) == 0);
  REQUIRE(listen(abstract, 1) == 0);
  CHECK(cage.attack_one("unix-path=" + path) == "ENOENT");
  CHECK(cage.attack_one("unix-abstract=" + name) != "ok");
  for (const char* daemon :
       {"/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private"})
    CHECK(cage.attack_one(std::string("unix-path=") + daemon) == "ENOENT");
  close(by_path);
  close(abstract);
}

TEST_CASE("a refused host is named, with its port, whatever asked for it") {
  Cage cage;
  const Execution execution = cage.sh(
      "curl -sS -m 5 https://one.example.test/x; curl -sS -m 5 http://two.example.test:8080/; curl -sS -m 5 "
      "http://192.0.2.7/;"
      "python3 -c \"import urllib.request; urllib.request.urlopen('https://three.example.test/')\"; curl --noproxy '*' "
      "-sS -m 5 https://four.example.test/");
  CHECK(execution.violations == std::vector<Violation>{egress("one.example.test:443"), egress("two.example.test:8080"),
                                                       egress("192.0.2.7:80"), egress("three.example.test:443"),
                                                       egress("four.example.test")});
}

TEST_CASE("an allowed host is reached through the proxy, another one is not") {
  Cage cage;
  HostListener listener;
  listener.serve("hello");
  const std::string port = std::to_string(listener.port());
  cage.profile.network_allow = {"localhost.example.test:1", "127.0.0.1:" + port};
  cage.options.private_egress = true;
  const Execution execution = cage.sh("curl --noproxy '' -sS -m 5 http://127.0.0.1:" + port +
                                      "/x; curl -sS -m 5 -o /dev/null -w '%{http_code}' http://other.example.test/");
  CHECK(text(execution.out) == "hello403");
  CHECK(execution.violations == std::vector<Violation>{egress("other.example.test:80")});
}

TEST_CASE("an allowed host of a private address is refused: the proxy does not lead into the person's own network") {
  Cage cage;
  HostListener listener;
  listener.serve("hello");
  const std::string target = "127.0.0.1:" + std::to_string(listener.port());
  cage.profile.network_allow = {target, "localhost:" + std::to_string(listener.port())};
  const Execution execution =
      cage.sh("curl --noproxy '' -sS -m 5 http://" + target +
              "/; curl --noproxy '' -sS -m 5 http://localhost:" + std::to_string(listener.port()) + "/");
  CHECK(text(execution.out).find("hello") == std::string::npos);
  CHECK(text(execution.out).find("not a public address") != std::string::npos);
}

TEST_CASE("an allowed host is no way to smuggle a request for another") {
  Cage cage;
  HostListener listener;
  listener.serve("hello");
  const std::string target = "127.0.0.1:" + std::to_string(listener.port());
  cage.profile.network_allow = {target};
  cage.options.private_egress = true;
  const auto ask = [&](const std::string& request) {
    return text(cage.sh("printf '" + request +
                        "' | python3 -c \"import socket,sys; s=socket.create_connection(('127.0.0.1',3128)); "
                        "s.sendall(sys.stdin.buffer.read()); print(s.recv(4096).decode())\"")
                    .out);
  };
  CHECK(ask("GET http://" + target + "/ HTTP/1.1\\r\\nHost: " + target + "\\r\\n\\r\\n").find("200 OK") !=
        std::string::npos);
  for (const std::string& request :
       {"GET http://" + target + "/ HTTP/1.1\\r\\nHost: evil.example.test\\r\\n\\r\\n",
        "GET http://evil@" + target + "/ HTTP/1.1\\r\\n\\r\\n",
        "CONNECT evil.example.test\\000." + target + " HTTP/1.1\\r\\n\\r\\n",
        "CONNECT 2130706433:" + std::to_string(listener.port()) + " HTTP/1.1\\r\\n\\r\\n",
        "POST http://" + target + "/ HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"}) {
    INFO(request);
    CHECK(ask(request).find("403 Forbidden") != std::string::npos);
  }
}
