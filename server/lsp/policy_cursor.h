#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Where in a policy file a cursor stands. Pure; for text that is being typed and may be no YAML yet.
namespace escrow::server::lsp {

struct PolicyCursor {
  enum class At { key, value };
  At at = At::key;
  /// The section the cursor is in, as the table of keys spells it: `rules[]`, `checks.*`, empty at the top. On a key or
  /// its value, the key's name is in `name`.
  std::string section;
  std::string name;                ///< of the key under the cursor, or whose value it is; empty for a new key
  std::size_t begin = 0, end = 0;  ///< bytes of the word under the cursor
  /// `section` and `name` together, as the table spells them.
  std::string path() const;
};

PolicyCursor find_policy_cursor(std::string_view text, std::size_t offset);

}  // namespace escrow::server::lsp
