#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace escrow::sandbox {

/// One question of a DNS query (RFC 1035 section 4).
struct DnsQuestion {
  std::uint16_t id = 0;
  std::uint16_t flags = 0;
  std::string name;  ///< dotted, lower case, no trailing dot; bytes that names do not have become '?'
  std::uint16_t type = 0;
  std::string encoded;  ///< the question as it came, to be repeated in the answer
};

inline constexpr std::uint16_t kDnsA = 1;

/// Nothing unless it is a standard query with exactly one question. Pure.
std::optional<DnsQuestion> parse_dns_query(std::string_view message);

/// "There is no such name."
std::string dns_no_such_name(const DnsQuestion& question);

/// The name exists: with this IPv4 address, or, without one, with no record of the type asked for.
std::string dns_answer(const DnsQuestion& question, std::optional<std::array<std::uint8_t, 4>> address);

}  // namespace escrow::sandbox
