#include "server/cli/plain_line.h"

#include "engine/redact.h"

namespace escrow::server::cli {
namespace {

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

}  // namespace

std::string plain_line(std::string_view text, std::size_t max) {
  std::string out;
  std::size_t columns = 0;
  for (const char c : engine::make_visible(text)) {
    if (starts_character(c) && ++columns > max) return out + "…";
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c == '\t' ? ' ' : c;
    }
  }
  return out;
}

}  // namespace escrow::server::cli
