#include "engine/command_category.h"

#include <algorithm>
#include <array>

namespace escrow::engine {
namespace {

constexpr std::array<std::string_view, kCategoryCount> kIds = {
    "guard-tamper",      "remote-code", "exfiltration", "obfuscation",     "destructive",     "env-hijack",
    "credential-access", "privilege",   "persistence",  "inline-code",     "package-install", "system",
    "path-escape",       "network",     "build-test",   "workspace-write", "read-only"};

}  // namespace

std::string_view id_of(Category category) {
  return kIds[static_cast<std::size_t>(category)];
}

std::vector<std::string> ids_of(CategorySet set) {
  if ((set & ~bit(Category::read_only)) != 0) set &= ~bit(Category::read_only);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    if ((set & (CategorySet{1} << i)) != 0) out.emplace_back(kIds[i]);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace escrow::engine
