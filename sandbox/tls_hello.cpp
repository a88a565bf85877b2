#include "sandbox/tls_hello.h"

#include <cstdint>
#include <optional>

#include "sandbox/ascii.h"

namespace escrow::sandbox {
namespace {

using State = TlsHello::State;

constexpr unsigned kHandshake = 22, kClientHello = 1, kServerName = 0, kHostName = 0;

/// Takes numbers and pieces off the front. Once one is missing, everything after it is too.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  std::size_t number(std::size_t width) {
    const std::string_view bytes = take(width);
    std::size_t value = 0;
    for (char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }
  std::string_view take(std::size_t size) {
    good_ = good_ && size <= rest_.size();
    if (!good_) return {};
    const std::string_view piece = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return piece;
  }
  /// A piece behind its own length.
  std::string_view vector(std::size_t width) { return take(number(width)); }

  bool good() const { return good_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

/// The handshake bytes of the records so far, and whether they are all of the first message.
struct Joined {
  State state = State::incomplete;
  std::string message;
};

Joined join_records(std::string_view bytes) {
  Joined joined;
  while (!bytes.empty()) {
    if (static_cast<unsigned char>(bytes[0]) != kHandshake || (bytes.size() > 1 && bytes[1] != 3))
      return {joined.message.empty() ? State::not_tls : State::malformed, {}};
    FieldReader reader(bytes.substr(0, 5));
    reader.take(3);
    const std::size_t length = reader.number(2);
    if (!reader.good()) return joined;
    if (length == 0 || length > (1u << 14)) return {State::malformed, {}};
    if (bytes.size() < 5 + length) return joined;
    joined.message += bytes.substr(5, length);
    if (joined.message.size() >= 4) {
      FieldReader head(joined.message);
      if (head.number(1) != kClientHello) return {State::malformed, {}};
      const std::size_t whole = head.number(3) + 4;
      if (whole > kMaxTlsHello) return {State::malformed, {}};
      if (joined.message.size() > whole) return {State::malformed, {}};
      if (joined.message.size() == whole) return {State::complete, std::move(joined.message)};
    }
    bytes.remove_prefix(5 + length);
  }
  return joined;
}

/// The one host name of the extension.
std::optional<std::string> host_name(std::string_view extension) {
  FieldReader outer(extension);
  FieldReader list(outer.vector(2));
  if (!outer.good() || !outer.at_end()) return std::nullopt;
  const bool is_host = list.number(1) == kHostName;
  const std::string_view name = list.vector(2);
  if (!list.good() || !list.at_end() || !is_host || name.empty()) return std::nullopt;
  return lowered(name);
}

}  // namespace

TlsHello read_tls_hello(std::string_view bytes) {
  const Joined joined = join_records(bytes);
  if (joined.state != State::complete) return {joined.state, {}};
  FieldReader hello(std::string_view(joined.message).substr(4));
  hello.take(2 + 32);  // version, random
  hello.vector(1);     // session
  hello.vector(2);     // ciphers
  hello.vector(1);     // compression
  TlsHello result{State::complete, {}};
  if (hello.good() && hello.at_end()) return result;
  FieldReader extensions(hello.vector(2));
  if (!hello.good() || !hello.at_end()) return {State::malformed, {}};
  while (!extensions.at_end()) {
    const std::size_t type = extensions.number(2);
    const std::string_view body = extensions.vector(2);
    if (!extensions.good()) return {State::malformed, {}};
    if (type != kServerName) continue;
    const std::optional<std::string> name = host_name(body);
    if (!name || !result.server_name.empty()) return {State::malformed, {}};
    result.server_name = *name;
  }
  return result;
}

}  // namespace escrow::sandbox
