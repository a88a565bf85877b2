#include "sandbox/egress_rules.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "sandbox/ascii.h"

namespace escrow::sandbox {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

std::optional<std::string> canonical_v6(std::string_view text) {
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> printed{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), &address) != 1) return std::nullopt;
  inet_ntop(AF_INET6, &address, printed.data(), printed.size());
  return std::string(printed.data());
}

/// A name whose last label is numeric (or 0x…) is an address to some resolvers: only the plain dotted quad passes.
bool looks_numeric(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return is_digit(last.front());
}

bool is_dotted_quad(const std::string& host) {
  in_addr address{};
  std::array<char, INET_ADDRSTRLEN> printed{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 &&
         inet_ntop(AF_INET, &address, printed.data(), printed.size()) != nullptr && host == printed.data();
}

bool is_label(std::string_view label) {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
  return std::all_of(label.begin(), label.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; });
}

bool is_name(std::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  for (std::size_t start = 0; start <= host.size();) {
    const std::size_t end = std::min(host.find('.', start), host.size());
    if (!is_label(host.substr(start, end - start))) return false;
    start = end + 1;
  }
  return true;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  if (text.empty() || text.front() == '0') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

struct Split {
  std::string_view host, port;
  bool has_port = false;
};

/// At the colon before the port, brackets respected. Nothing if there are too many colons to tell.
std::optional<Split> split_port(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return std::nullopt;
    return Split{text.substr(0, close + 1), rest.empty() ? rest : rest.substr(1), !rest.empty()};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return Split{text, {}, false};
  if (text.find(':', colon + 1) != std::string_view::npos) return std::nullopt;
  return Split{text.substr(0, colon), text.substr(colon + 1), true};
}

bool in_range(const std::array<std::uint8_t, 4>& v4, std::uint32_t network, unsigned bits) {
  const std::uint32_t address =
      std::uint32_t{v4[0]} << 24 | std::uint32_t{v4[1]} << 16 | std::uint32_t{v4[2]} << 8 | v4[3];
  return (address ^ network) >> (32 - bits) == 0;
}

struct Network {
  std::uint32_t address;
  unsigned bits;
};

// RFC 6890 and the IANA registry of special-purpose addresses.
constexpr std::array kSpecial = {Network{0x00000000, 8},  Network{0x0a000000, 8},  Network{0x64400000, 10},
                                 Network{0x7f000000, 8},  Network{0xa9fe0000, 16}, Network{0xac100000, 12},
                                 Network{0xc0000000, 24}, Network{0xc0000200, 24}, Network{0xc0586300, 24},
                                 Network{0xc0a80000, 16}, Network{0xc6120000, 15}, Network{0xc6336400, 24},
                                 Network{0xcb007100, 24}, Network{0xe0000000, 4},  Network{0xf0000000, 4}};

}  // namespace

std::string to_string(const HostPort& target) {
  const bool v6 = target.host.find(':') != std::string::npos;
  return (v6 ? "[" + target.host + "]" : target.host) + ":" + std::to_string(target.port);
}

std::optional<std::string> canonical_host(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) return canonical_v6(text.substr(1, text.size() - 2));
  if (text.find(':') != std::string_view::npos) return canonical_v6(text);
  std::string host = lowered(text);
  if (!is_name(host)) return std::nullopt;
  if (looks_numeric(host) && !is_dotted_quad(host)) return std::nullopt;
  return host;
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  const std::optional<Split> split = split_port(text);
  if (!split || !split->has_port) return std::nullopt;
  const std::optional<std::string> host = canonical_host(split->host);
  const std::optional<std::uint16_t> port = parse_port(split->port);
  if (!host || !port) return std::nullopt;
  return HostPort{*host, *port};
}

bool is_egress_rule(std::string_view entry) {
  const std::optional<Split> split = split_port(entry);
  if (!split || (split->has_port && !parse_port(split->port))) return false;
  std::string_view host = split->host;
  if (!host.starts_with("*.")) return canonical_host(host).has_value();
  host.remove_prefix(2);
  // A whole top-level domain is nobody's to allow.
  return host.find('.') != std::string_view::npos && canonical_host(host) && !looks_numeric(host);
}

EgressRules::EgressRules(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    if (!is_egress_rule(entry)) continue;
    const std::optional<Split> split = split_port(entry);
    const bool below = split->host.starts_with("*.");
    Rule rule{.host = *canonical_host(below ? split->host.substr(2) : split->host), .below = below, .port = {}};
    if (split->has_port) rule.port = parse_port(split->port);
    rules_.push_back(std::move(rule));
  }
}

bool EgressRules::names(const Rule& rule, const std::string& host) {
  if (!rule.below) return rule.host == host;
  if (host.size() <= rule.host.size() + 1 || !host.ends_with("." + rule.host)) return false;
  // A label in another alphabet may look like any other one: it is allowed by name only.
  const std::string above = "." + host.substr(0, host.size() - rule.host.size());
  return above.find(".xn--") == std::string::npos;
}

bool EgressRules::allows(const HostPort& target) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    const bool port = rule.port ? *rule.port == target.port : target.port == 80 || target.port == 443;
    return port && names(rule, target.host);
  });
}

bool EgressRules::allows_some_port(const std::string& host) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) { return names(rule, host); });
}

bool is_public_address(const std::array<std::uint8_t, 4>& v4) {
  return std::none_of(kSpecial.begin(), kSpecial.end(),
                      [&](const Network& network) { return in_range(v4, network.address, network.bits); });
}

bool is_public_address(const std::array<std::uint8_t, 16>& v6) {
  const std::uint32_t first =
      std::uint32_t{v6[0]} << 24 | std::uint32_t{v6[1]} << 16 | std::uint32_t{v6[2]} << 8 | v6[3];
  // Global unicast is 2000::/3; within it the documentation, benchmarking, ORCHID, Teredo and 6to4 ranges are not a
  // host's own, and what else carries an IPv4 address (mapped, translated) lies outside.
  if ((v6[0] & 0xe0) != 0x20) return false;
  return first != 0x20010db8 && first != 0x20010000 && (first & 0xfffffff0) != 0x20010010 &&
         (first & 0xfffffff0) != 0x20010020 && (first >> 16) != 0x2002 && (first >> 20) != 0x3ff;
}

}  // namespace escrow::sandbox
