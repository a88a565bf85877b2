#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Globs over workspace-relative paths, and the built-in list of what a guest may never see. Pure.
namespace escrow::sandbox {

enum class LetterCase { exact, ignored };

/// `*` and `?` stay within one segment, `**` spans segments, `[a-z]` and `[!a-z]` are classes, `\` quotes.
/// A pattern without a slash is matched against the last segment, one with a slash against the whole path or any
/// tail of it that starts at a segment; a leading slash anchors it at the root.
bool matches_glob(std::string_view pattern, std::string_view path, LetterCase letter_case = LetterCase::exact);

/// How a path that may hold a secret is to be judged.
enum class Secrecy {
  open,         ///< nothing secret by name
  masked,       ///< secret by name
  look_inside,  ///< secret if its text says so: a PEM file may be a key or a certificate
};

/// What the built-in lists say of a workspace-relative path. Case-insensitive.
Secrecy secrecy_of(std::string_view path);

/// Does the beginning of a `look_inside` file hold a private key or an authentication token?
bool holds_secret(std::string_view text);

/// Paths of HOME (relative) that hold credentials; used for hard-link detection and within tool directories.
const std::vector<std::string>& home_secrets();

}  // namespace escrow::sandbox
