// library: escrow_sandbox

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sandbox/egress_rules.h"
#include "sandbox/proxy_request.h"
#include "sandbox/socks_request.h"
#include "sandbox/tls_hello.h"

// What a guest sends the proxy. A target that is read has one spelling, and reads as itself again; what is sent on
// names no other host and no second request.

namespace {

using namespace escrow::sandbox;

void must(bool holds) {
  if (!holds) std::abort();
}

void check_target(const HostPort& target) {
  must(target.port != 0);
  must(canonical_host(target.host) == target.host);
  must(parse_host_port(to_string(target)) == target);
}

void check_http(std::string_view bytes) {
  const auto request = parse_proxy_request(bytes);
  if (!request) return;
  check_target(request->target);
  must(request->tunnel == request->forward.empty());
  must(request->forward.find('\0') == std::string::npos);
  if (!request->tunnel) must(request->forward.find("\r\n\r\n") == request->forward.size() - 4);
}

void check_tls(std::string_view bytes) {
  const TlsHello hello = read_tls_hello(bytes);
  // A hello that is whole stays the same however much follows later, unless it is said to be no hello.
  if (hello.state != TlsHello::State::complete) must(hello.server_name.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      check_http(bytes);
      break;
    case 1:
      must(socks_request_size(bytes) > 0 && socks_greeting_size(bytes) > 0);
      if (const auto target = parse_socks_request(bytes)) check_target(*target);
      (void)offers_no_authentication(bytes);
      break;
    case 2:
      check_tls(bytes);
      break;
    default:
      if (const auto host = canonical_host(bytes)) must(canonical_host(*host) == host);
      (void)is_egress_rule(bytes);
  }
  return 0;
}
