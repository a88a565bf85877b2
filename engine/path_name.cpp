#include "engine/path_name.h"

#include <cstddef>

#include "engine/text.h"

namespace escrow::engine {

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

std::string lenient_path(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  const auto trim = [&] {
    const std::size_t slash = out.rfind('/');
    const std::size_t from = slash == std::string::npos ? 0 : slash + 1;
    const std::string_view component = std::string_view(out).substr(from);
    if (component == "." || component == "..") return;
    while (out.size() > from && (out.back() == '.' || out.back() == ' ')) out.pop_back();
  };
  for (const char c : path) {
    if (c == '/') trim();
    out.push_back(lower(c));
  }
  trim();
  return out;
}

}  // namespace escrow::engine
