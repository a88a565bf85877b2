#include "sandbox/socks_request.h"

#include <arpa/inet.h>

#include <array>

namespace escrow::sandbox {
namespace {

constexpr unsigned char kVersion = 5, kNoAuthentication = 0, kConnect = 1;
constexpr unsigned char kIpv4 = 1, kName = 3, kIpv6 = 4;
constexpr std::size_t kHead = 4;  // version, command, reserved, kind of address

unsigned char byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

std::string printed(int family, std::string_view address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family, address.data(), text.data(), text.size());
  return text.data();
}

/// As text, still to be judged: what looks like a name may be a number in disguise.
std::string host_text(std::string_view request) {
  switch (byte_at(request, 3)) {
    case kIpv4:
      return printed(AF_INET, request.substr(kHead, 4));
    case kIpv6:
      return printed(AF_INET6, request.substr(kHead, 16));
    default:
      return std::string(request.substr(kHead + 1, byte_at(request, kHead)));
  }
}

}  // namespace

std::size_t socks_greeting_size(std::string_view bytes) {
  return bytes.size() < 2 ? 2 : 2u + byte_at(bytes, 1);
}

bool offers_no_authentication(std::string_view greeting) {
  if (greeting.size() < 2 || byte_at(greeting, 0) != kVersion) return false;
  return greeting.substr(2).find(static_cast<char>(kNoAuthentication)) != std::string_view::npos;
}

std::size_t socks_request_size(std::string_view bytes) {
  if (bytes.size() <= kHead) return kHead + 1;
  switch (byte_at(bytes, 3)) {
    case kIpv4:
      return kHead + 4 + 2;
    case kIpv6:
      return kHead + 16 + 2;
    case kName:
      return kHead + 1u + byte_at(bytes, kHead) + 2;
    default:
      return kHead + 1;  // nothing that is known: no more is needed to refuse it
  }
}

std::optional<HostPort> parse_socks_request(std::string_view request) {
  if (request.size() <= kHead || request.size() != socks_request_size(request)) return std::nullopt;
  if (byte_at(request, 0) != kVersion || byte_at(request, 1) != kConnect || byte_at(request, 2) != 0 ||
      request.size() == kHead + 1)
    return std::nullopt;
  const std::optional<std::string> host = canonical_host(host_text(request));
  const auto port =
      static_cast<std::uint16_t>(byte_at(request, request.size() - 2) << 8 | byte_at(request, request.size() - 1));
  if (!host || port == 0) return std::nullopt;
  return HostPort{*host, port};
}

std::string socks_reply(SocksReply reply) {
  // The address that was bound is nobody's business: all zeroes.
  std::string bytes(10, '\0');
  bytes[0] = static_cast<char>(kVersion);
  bytes[1] = static_cast<char>(reply);
  bytes[3] = static_cast<char>(kIpv4);
  return bytes;
}

}  // namespace escrow::sandbox
