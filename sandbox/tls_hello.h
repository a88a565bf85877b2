#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace escrow::sandbox {

/// What the first bytes of a connection tell of TLS (RFC 8446 section 4.1.2, RFC 6066 section 3).
struct TlsHello {
  enum class State {
    incomplete,  ///< more bytes are needed
    not_tls,     ///< something else
    malformed,   ///< it begins as TLS and goes on as nothing that two readers would read alike
    complete
  };
  State state = State::incomplete;
  std::string server_name;  ///< lower case; empty if the client names none
  bool operator==(const TlsHello&) const = default;
};

/// A hello longer than this is malformed.
inline constexpr std::size_t kMaxTlsHello = 64u << 10;

/// Reads a ClientHello, in however many records it comes. Pure.
TlsHello read_tls_hello(std::string_view bytes);

}  // namespace escrow::sandbox
