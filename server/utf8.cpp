#include "server/utf8.h"

#include <cstddef>

namespace escrow::server {
namespace {

using Byte = unsigned char;

Byte byte_at(std::string_view text, std::size_t at) {
  return static_cast<Byte>(text[at]);
}

bool continues(std::string_view text, std::size_t at, Byte low = 0x80, Byte high = 0xBF) {
  return at < text.size() && byte_at(text, at) >= low && byte_at(text, at) <= high;
}

/// Length of the well-formed sequence at `at`; 0 if there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const Byte lead = byte_at(text, at);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(text, at + 1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const Byte low = lead == 0xE0 ? 0xA0 : 0x80;
    const Byte high = lead == 0xED ? 0x9F : 0xBF;
    return continues(text, at + 1, low, high) && continues(text, at + 2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const Byte low = lead == 0xF0 ? 0x90 : 0x80;
    const Byte high = lead == 0xF4 ? 0x8F : 0xBF;
    return continues(text, at + 1, low, high) && continues(text, at + 2) && continues(text, at + 3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = sequence_length(bytes, at);
    if (length == 0) {
      out += "\uFFFD";
      ++at;
    } else {
      out += bytes.substr(at, length);
      at += length;
    }
  }
  return out;
}

}  // namespace escrow::server
