// library: escrow_quick
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/policy.h"
#include "engine/policy_lint.h"
#include "server/store/policy_yaml.h"

using namespace escrow;

/// A policy file as a workspace's. Whatever it says, its problems have a place, what is said of it is one plain line,
/// and what is in force afterwards is nowhere looser than without it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = server::parse_policy(text, "p", engine::LayerKind::workspace);
  for (const auto& problem : parsed.problems) {
    if (problem.line < 1 || problem.column < 1 || problem.message.empty()) std::abort();
    if (problem.message.find_first_of("\n\x1b") != std::string::npos) std::abort();
  }
  if (!parsed.problems.empty()) return 0;
  (void)engine::lint_layer(parsed.layer);
  const engine::Policy before = engine::builtin_policy();
  const engine::Policy after = engine::merge_layers({parsed.layer});
  if (after.mode > before.mode || after.autonomy > before.autonomy) std::abort();
  if (after.network_allow.size() > before.network_allow.size()) std::abort();
  if (after.env_allow != before.env_allow || after.read != before.read || after.write != before.write) std::abort();
  if (after.allow_policy_only_runner || after.review_expiry_ms > before.review_expiry_ms) std::abort();
  for (const auto& rule : after.rules)
    if (rule.effect == engine::RuleEffect::allow) std::abort();
  for (const auto& [name, band] : before.risk_bands) {
    const auto& now = after.risk_bands.at(name);
    if (now.auto_merge > band.auto_merge || now.human_review < band.human_review) std::abort();
    if (now.max_score.value_or(100) > band.max_score.value_or(100)) std::abort();
    if (now.min_score.value_or(0) > band.min_score.value_or(0)) std::abort();
  }
  // Merged a second time, as the ratchet does, it says nothing new.
  if (engine::merge_layers({parsed.layer}).version != after.version) std::abort();
  return 0;
}
