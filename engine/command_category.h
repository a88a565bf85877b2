#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The categories of commands and small sets of them.
namespace escrow::engine {

/// Order decides which category names the clause when one finding carries several: the gravest meaning first.
enum class Category : std::uint8_t {
  guard_tamper,
  remote_code,
  exfiltration,
  obfuscation,
  destructive,
  env_hijack,
  credential_access,
  privilege,
  persistence,
  inline_code,
  package_install,
  system,
  path_escape,
  network,
  build_test,
  workspace_write,
  read_only
};

inline constexpr std::size_t kCategoryCount = 17;

using CategorySet = std::uint32_t;

constexpr CategorySet bit(Category category) {
  return CategorySet{1} << static_cast<unsigned>(category);
}
constexpr CategorySet operator|(Category a, Category b) {
  return bit(a) | bit(b);
}
constexpr CategorySet operator|(CategorySet a, Category b) {
  return a | bit(b);
}

/// The kebab-case id.
std::string_view id_of(Category category);

/// Ids of a set, sorted; a calm id (`read-only`, `workspace-write`) is left out where a set also holds graver ones
/// that imply it.
std::vector<std::string> ids_of(CategorySet set);

}  // namespace escrow::engine
