#pragma once

#include <string>
#include <string_view>

namespace escrow::sandbox {

/// ASCII letters lower case, every other byte as it is.
inline std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace escrow::sandbox
