#pragma once

#include <optional>
#include <string>
#include <string_view>

/// File URIs (RFC 8089) and paths. Pure.
namespace escrow::server::lsp {

/// The absolute path of a `file:` URI, percent-decoded: `file:///a%20b` is `/a b`. Empty for another scheme, another
/// host, a relative path, a broken escape, or an escaped NUL. Nothing else is interpreted: dots and links are for those
/// who open the file.
std::optional<std::string> to_path(std::string_view uri);

/// What two spellings of one document share: the path with its dots resolved by name and a drive letter in lower case
/// (`file:///c%3A/x`, `file:///C:/./x`), or for other schemes the URI as it is. For comparing, never for opening.
std::string document_key(std::string_view uri);
std::string path_key(std::string_view path);

/// The URI of an absolute path, escaped as VS Code does it, so that most clients find their own spelling.
std::string to_uri(std::string_view path);

/// Decodes `%XX`; empty for a broken escape.
std::optional<std::string> percent_decode(std::string_view text);
/// Escapes everything but unreserved characters (RFC 3986, section 2.3) and '/'.
std::string percent_encode(std::string_view text);

}  // namespace escrow::server::lsp
