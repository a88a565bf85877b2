#include "engine/quoted_path.h"

#include <array>

namespace escrow::engine {
namespace {

struct Escape {
  char letter;
  char byte;
};
constexpr std::array<Escape, 9> kEscapes{{{'a', '\a'},
                                          {'b', '\b'},
                                          {'t', '\t'},
                                          {'n', '\n'},
                                          {'v', '\v'},
                                          {'f', '\f'},
                                          {'r', '\r'},
                                          {'"', '"'},
                                          {'\\', '\\'}}};

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

std::optional<char> byte_of_octal(std::string_view digits) {
  if (digits.size() < 3 || digits[0] > '3') return std::nullopt;
  int value = 0;
  for (char c : digits.substr(0, 3)) {
    if (!is_octal(c)) return std::nullopt;
    value = value * 8 + (c - '0');
  }
  return static_cast<char>(static_cast<unsigned char>(value));
}

std::optional<char> byte_of_letter(char letter) {
  for (const Escape& escape : kEscapes) {
    if (escape.letter == letter) return escape.byte;
  }
  return std::nullopt;
}

std::optional<char> letter_of_byte(char byte) {
  for (const Escape& escape : kEscapes) {
    if (escape.byte == byte) return escape.letter;
  }
  return std::nullopt;
}

bool needs_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\';
}

}  // namespace

std::optional<QuotedPath> read_quoted_path(std::string_view text) {
  if (text.empty() || text[0] != '"') return std::nullopt;
  QuotedPath out;
  std::size_t i = 1;
  while (i < text.size() && text[i] != '"') {
    if (text[i] != '\\') {
      out.path += text[i++];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    const bool octal = is_octal(text[i]);
    const std::optional<char> byte = octal ? byte_of_octal(text.substr(i)) : byte_of_letter(text[i]);
    if (!byte) return std::nullopt;
    out.path += *byte;
    i += octal ? 3 : 1;
  }
  if (i == text.size()) return std::nullopt;
  out.consumed = i + 1;
  return out;
}

std::string quote_path(std::string_view path) {
  std::string out = "\"";
  bool quoted = false;
  for (char c : path) {
    if (!needs_escape(c)) {
      out += c;
      continue;
    }
    quoted = true;
    out += '\\';
    if (const auto letter = letter_of_byte(c)) {
      out += *letter;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      for (int shift : {6, 3, 0}) out += static_cast<char>('0' + ((byte >> shift) & 7));
    }
  }
  return quoted ? out + '"' : std::string(path);
}

}  // namespace escrow::engine
