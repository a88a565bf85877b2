#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace escrow::engine {

/// A path as git prints it in double quotes (`core.quotePath`): C escapes and three-digit octal bytes.
struct QuotedPath {
  std::string path;
  std::size_t consumed = 0;  ///< bytes of the input, both quotes included
};

/// Reads a quoted path at the start of `text`; empty if the quoting is broken or `text` does not start with `"`.
std::optional<QuotedPath> read_quoted_path(std::string_view text);

/// The path as git would print it: quoted only where it must be.
std::string quote_path(std::string_view path);

}  // namespace escrow::engine
