#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/egress_rules.h"

namespace escrow::sandbox {

/// The head of a request to an HTTP proxy (RFC 9112, RFC 9110 section 9.3.6).
struct ProxyRequest {
  bool tunnel = false;  ///< CONNECT
  HostPort target;
  std::string forward;           ///< what goes to the origin instead of the head; empty for a tunnel
  std::uint64_t body_bytes = 0;  ///< how much of a body follows
  bool operator==(const ProxyRequest&) const = default;
};

inline constexpr std::size_t kMaxProxyHead = 16u << 10;

/// Reads a head that ends in an empty line. Nothing for anything that two readers might read differently: control
/// bytes, user information, another Host than the target, a body of unknown length. Pure.
std::optional<ProxyRequest> parse_proxy_request(std::string_view head);

}  // namespace escrow::sandbox
