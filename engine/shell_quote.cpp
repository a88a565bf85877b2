#include <algorithm>
#include <string_view>

#include "engine/shell.h"

namespace escrow::engine {
namespace {

bool is_safe(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./:,@%+=").find(static_cast<char>(c)) != std::string_view::npos;
}

bool is_control(unsigned char c) {
  return c < 0x20 || c == 0x7F;
}

/// `$'…'` for text whose control characters must be seen.
std::string ansi_quote(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_control(byte)) {
      out += "\\x";
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    } else {
      if (c == '\'' || c == '\\') out.push_back('\\');
      out.push_back(c);
    }
  }
  return out + "'";
}

std::string quote(std::string_view text, bool first) {
  const bool safe = !text.empty() && std::all_of(text.begin(), text.end(),
                                                 [](char c) { return is_safe(static_cast<unsigned char>(c)); });
  // `a=b` as the first word would be an assignment.
  if (safe && !(first && text.find('=') != std::string_view::npos)) return std::string(text);
  if (std::any_of(text.begin(), text.end(), [](char c) { return is_control(static_cast<unsigned char>(c)); }))
    return ansi_quote(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out.push_back(c);
  }
  return out + "'";
}

}  // namespace

std::string quote_argv(const std::vector<std::string>& argv) {
  std::string out;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (i > 0) out.push_back(' ');
    out += quote(argv[i], i == 0);
  }
  return out;
}

}  // namespace escrow::engine
