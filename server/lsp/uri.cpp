#include "server/lsp/uri.h"

#include <filesystem>

#include "protocol/ascii.h"

namespace escrow::server::lsp {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

std::optional<unsigned> hex_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_unreserved(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

/// The part after `file:`, without an empty or local host.
std::optional<std::string_view> local_part(std::string_view uri) {
  constexpr std::string_view kScheme = "file:";
  if (protocol::to_lower_ascii(uri.substr(0, kScheme.size())) != kScheme) return std::nullopt;
  std::string_view rest = uri.substr(kScheme.size());
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const std::string host = protocol::to_lower_ascii(rest.substr(0, slash));
    if (!host.empty() && host != "localhost") return std::nullopt;
    rest.remove_prefix(slash);
  }
  return rest.substr(0, rest.find_first_of("?#"));
}

}  // namespace

std::optional<std::string> to_path(std::string_view uri) {
  const std::optional<std::string_view> part = local_part(uri);
  if (!part || !part->starts_with('/')) return std::nullopt;
  std::optional<std::string> path = percent_decode(*part);
  if (!path || path->find('\0') != std::string::npos) return std::nullopt;
  return path;
}

std::string document_key(std::string_view uri) {
  const std::optional<std::string> path = to_path(uri);
  return path ? path_key(*path) : std::string(uri);
}

std::string path_key(std::string_view path) {
  std::string key = std::filesystem::path(path).lexically_normal().string();
  if (key.size() >= 3 && is_letter(key[1]) && key[2] == ':')
    key[1] = protocol::to_lower_ascii(key.substr(1, 1)).front();
  return key;
}

std::string to_uri(std::string_view path) {
  return "file://" + percent_encode(path);
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const std::optional<unsigned> high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c) || c == '/') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHexDigits[byte >> 4U];
    out += kHexDigits[byte & 0xFU];
  }
  return out;
}

}  // namespace escrow::server::lsp
