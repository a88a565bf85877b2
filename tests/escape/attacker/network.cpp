// Against the way out.

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/escape/attacker/attacks.h"

namespace attacker {
namespace {

template <int Family, int Type, int Protocol>
Outcome open_socket(const std::string&) {
  const int fd = socket(Family, Type | SOCK_CLOEXEC, Protocol);
  return of(fd >= 0 && close(fd) == 0);
}

/// `address:port` of either family.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Address address_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto port = htons(static_cast<std::uint16_t>(std::atoi(text.c_str() + colon + 1)));
  const std::string host = text.substr(0, colon);
  Address address;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v4.sin_port = v6.sin6_port = port;
  v6.sin6_family = AF_INET6;
  if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    std::memcpy(&address.storage, &v4, address.size = sizeof v4);
  } else if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    std::memcpy(&address.storage, &v6, address.size = sizeof v6);
  }
  return address;
}

/// A datagram socket that is connected sends nothing: whether there is a way is all that is asked.
template <int Type>
Outcome connect_to(const std::string& text) {
  const Address address = address_of(text);
  const int fd = socket(address.storage.ss_family, Type | SOCK_CLOEXEC, 0);
  return of(fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0);
}

Outcome send_datagram(const std::string& text) {
  const Address address = address_of(text);
  const int fd = socket(address.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return of(sendto(fd, "x", 1, 0, reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 1);
}

Outcome connect_to_unix(const std::string& name, std::size_t offset) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  name.copy(where.sun_path + offset, sizeof where.sun_path - 2);
  // Counted exactly: a zero byte more would be part of an abstract name.
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1);
  return of(connect(fd, reinterpret_cast<sockaddr*>(&where), length) == 0);
}

/// Gives the loopback interface another address.
Outcome add_address(const std::string&) {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return errno;
  struct {
    nlmsghdr header;
    ifaddrmsg message;
    rtattr local;
    in_addr address;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_NEWADDR;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK;
  request.message.ifa_family = AF_INET;
  request.message.ifa_prefixlen = 32;
  request.message.ifa_index = 1;
  request.local.rta_type = IFA_LOCAL;
  request.local.rta_len = sizeof request.local + sizeof request.address;
  request.address.s_addr = htonl(0xc0000201);  // 192.0.2.1
  if (send(fd, &request, sizeof request, 0) < 0) return errno;
  struct {
    nlmsghdr header;
    nlmsgerr error;
    char rest[4096];
  } reply{};
  if (recv(fd, &reply, sizeof reply, 0) < 0) return errno;
  return -reply.error.error;
}

Outcome make_tunnel(const std::string&) {
  const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  if (fd < 0) return errno;
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  return of(ioctl(fd, TUNSETIFF, &request) == 0);
}

Outcome promiscuous(const std::string&) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  if (ioctl(fd, SIOCGIFFLAGS, &request) != 0) return errno;
  request.ifr_flags |= IFF_PROMISC;
  return of(ioctl(fd, SIOCSIFFLAGS, &request) == 0);
}

}  // namespace

std::vector<Attack> network_attacks() {
  constexpr int kVsock = 40, kAlg = 38, kXdp = 44, kBluetooth = 31, kTipc = 30, kRds = 21, kCan = 29;
  constexpr int kDccp = 33, kL2tp = 115, kSctp = 132, kMptcp = 262;
  return {
      {"vsock", open_socket<kVsock, SOCK_STREAM, 0>},
      {"packet", open_socket<AF_PACKET, SOCK_RAW, 0>},
      {"alg", open_socket<kAlg, SOCK_SEQPACKET, 0>},
      {"xdp", open_socket<kXdp, SOCK_RAW, 0>},
      {"bluetooth", open_socket<kBluetooth, SOCK_RAW, 1>},
      {"tipc", open_socket<kTipc, SOCK_STREAM, 0>},
      {"rds", open_socket<kRds, SOCK_SEQPACKET, 0>},
      {"can", open_socket<kCan, SOCK_RAW, 1>},
      {"raw-icmp", open_socket<AF_INET, SOCK_RAW, IPPROTO_ICMP>},
      {"raw-icmp6", open_socket<AF_INET6, SOCK_RAW, IPPROTO_ICMPV6>},
      {"dccp", open_socket<AF_INET, 6, kDccp>},
      {"sctp", open_socket<AF_INET, SOCK_STREAM, kSctp>},
      {"sctp6", open_socket<AF_INET6, SOCK_STREAM, kSctp>},
      {"l2tp", open_socket<AF_INET, SOCK_DGRAM, kL2tp>},
      {"mptcp", open_socket<AF_INET, SOCK_STREAM, kMptcp>},
      {"netlink-audit", open_socket<AF_NETLINK, SOCK_RAW, NETLINK_AUDIT>},
      {"netlink-netfilter", open_socket<AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER>},
      {"netlink-uevent", open_socket<AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT>},
      {"netlink-route", open_socket<AF_NETLINK, SOCK_RAW, NETLINK_ROUTE>},
      {"family-with-high-bits",
       [](const std::string&) { return raw(SYS_socket, (1L << 32) | kVsock, SOCK_STREAM, 0); }},
      {"tcp", connect_to<SOCK_STREAM>},
      {"udp-route", connect_to<SOCK_DGRAM>},
      {"udp-send", send_datagram},
      {"unix-path", [](const std::string& path) { return connect_to_unix(path, 0); }},
      {"unix-abstract", [](const std::string& name) { return connect_to_unix(name, 1); }},
      {"add-address", add_address},
      {"make-tunnel", make_tunnel},
      {"promiscuous", promiscuous},
  };
}

}  // namespace attacker
