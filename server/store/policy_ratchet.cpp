#include "server/store/policy_ratchet.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "server/store/atomic_file.h"
#include "server/store/policy_yaml.h"
#include "server/store/private_directory.h"

namespace escrow::server {
namespace {

/// The remembered text begins with the root it is of: file names alone could collide.
std::string heading(const std::string& root) {
  return "# remembered for " + root + "\n";
}

/// FNV-1a: tells roots apart, guards nothing.
std::string name_of_root(const std::string& root) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : root) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(hash >> shift) & 15];
  return out;
}

/// The remembered text without its heading; nothing if none is.
std::optional<std::string> remembered_text(const Places& places, const std::string& root) {
  auto text = read_file(ratchet_file(places, root));
  const std::string head = heading(root);
  if (!text || !text->starts_with(head)) return std::nullopt;
  return text->substr(head.size());
}

/// Without what the other layer holds word for word; merging it twice would only repeat it.
template <class Rule>
void erase_equal_rules(std::vector<Rule>& rules, const std::vector<Rule>& known) {
  std::erase_if(rules, [&](Rule rule) {
    return std::any_of(known.begin(), known.end(), [&](const Rule& other) {
      rule.origin = other.origin;
      return rule == other;
    });
  });
}

engine::PolicyLayer without(engine::PolicyLayer layer, const engine::PolicyLayer& known) {
  erase_equal_rules(layer.rules, known.rules);
  erase_equal_rules(layer.own_rules, known.own_rules);
  return layer;
}

}  // namespace

std::string ratchet_file(const Places& places, const std::string& root) {
  return places.state_dir + "/workspace-policies/" + name_of_root(root) + ".yaml";
}

RatchetState compare_with_remembered(const Places& places, const std::string& root, const std::string& text,
                                     const std::optional<engine::PolicyLayer>& current,
                                     const std::vector<engine::PolicyLayer>& others) {
  const auto remembered = remembered_text(places, root);
  if (!remembered) return {.beyond = {}, .moves_up = current.has_value()};
  if (current && *remembered == text) return {};
  const std::string file = ratchet_file(places, root);
  auto parsed = parse_policy(*remembered, file, engine::LayerKind::workspace);
  // A newer Escrow may read a file less willingly than the one that remembered it; nothing is held then.
  if (!parsed.problems.empty()) return {.beyond = {}, .moves_up = current.has_value()};
  const engine::PolicyLayer beyond = without(std::move(parsed.layer), current.value_or(engine::PolicyLayer{}));
  std::vector<engine::PolicyLayer> layers = others;
  if (current) layers.push_back(*current);
  const std::string alone = engine::merge_layers(layers).version;
  layers.push_back(beyond);
  if (engine::merge_layers(layers).version == alone) return {.beyond = {}, .moves_up = current.has_value()};
  return {.beyond = beyond, .moves_up = false};
}

Result<void> remember_workspace_policy(const Places& places, const std::string& root, const std::string& text) {
  const std::string file = ratchet_file(places, root);
  if (text.empty()) {
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) return io_error("cannot remove " + file);
    return {};
  }
  if (auto made = make_private_directory(places.state_dir); !made) return made;
  if (auto made = make_private_directory(std::filesystem::path(file).parent_path().string()); !made) return made;
  return write_file_atomically(file, heading(root) + text);
}

}  // namespace escrow::server
