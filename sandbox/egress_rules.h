#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Which hosts a guest may reach. Pure.
namespace escrow::sandbox {

/// Where a guest wants to go, in one spelling: lower case, an IPv6 literal without brackets.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const HostPort&) const = default;
};

/// `host:port`, an IPv6 literal in brackets again; for messages and violations.
std::string to_string(const HostPort& target);

/// One spelling of a host name or address literal. Nothing for what resolvers read in more than one way (decimal,
/// octal, hexadecimal or short IPv4, a trailing dot, percent-encoding, zone ids), bytes that names do not have, or no
/// name at all.
std::optional<std::string> canonical_host(std::string_view text);

/// `host:port`, `[v6]:port`. The port is required.
std::optional<HostPort> parse_host_port(std::string_view text);

/// Hosts that may be reached. An entry is `host` (ports 80 and 443), `host:port` or `*.domain[:port]` (names below the
/// domain, not itself, and not those with a label in punycode, which must be named whole). One that cannot be read
/// allows nothing; `*` alone is such.
class EgressRules {
 public:
  explicit EgressRules(const std::vector<std::string>& entries);
  bool allows(const HostPort& target) const;
  /// Is there a port at which it is allowed?
  bool allows_some_port(const std::string& host) const;

 private:
  struct Rule {
    std::string host;
    bool below = false;
    std::optional<std::uint16_t> port;
  };
  static bool names(const Rule& rule, const std::string& host);
  std::vector<Rule> rules_;
};

/// Can this entry be read? For those who write policies.
bool is_egress_rule(std::string_view entry);

/// Is the address one of the public internet: not loopback, private, link-local, shared, multicast, reserved, nor an
/// IPv6 form of such an IPv4 address? Network byte order.
bool is_public_address(const std::array<std::uint8_t, 4>& v4);
bool is_public_address(const std::array<std::uint8_t, 16>& v6);

}  // namespace escrow::sandbox
