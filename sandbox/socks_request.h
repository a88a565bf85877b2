#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/egress_rules.h"

/// What a SOCKS5 client says first (RFC 1928). Pure.
namespace escrow::sandbox {

/// How long the greeting is, as far as its beginning tells; more than is there if more is needed.
std::size_t socks_greeting_size(std::string_view bytes);

/// Does a whole greeting offer to go without authentication, which is all that is spoken here?
bool offers_no_authentication(std::string_view greeting);

/// As `socks_greeting_size`, of the request that follows.
std::size_t socks_request_size(std::string_view bytes);

/// Where a whole request wants to connect. Nothing for other commands than CONNECT and for what is no host.
std::optional<HostPort> parse_socks_request(std::string_view request);

enum class SocksReply : unsigned char { succeeded = 0, failed = 1, not_allowed = 2, unreachable = 4 };
std::string socks_reply(SocksReply reply);

}  // namespace escrow::sandbox
