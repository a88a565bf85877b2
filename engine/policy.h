#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/level.h"
#include "engine/own_rules.h"
#include "engine/policy_origin.h"

/// Layered policy as data. Layers are read from YAML by server/store/config; merging is pure and lives here.
namespace escrow::engine {

enum class RuleEffect { allow, prompt, deny };
BOOST_DESCRIBE_ENUM(RuleEffect, allow, prompt, deny)

struct PolicyRule {
  std::string id;
  RuleEffect effect = RuleEffect::deny;
  std::vector<std::string> command;           ///< leading words; empty if the rule is not about commands
  std::string network;                        ///< host[:port]; empty if the rule is not about the network
  std::string path;                           ///< glob; empty if the rule is not about files
  std::string tool;                           ///< tool name; empty if any
  std::vector<std::string> match, not_match;  ///< the rule's own examples
  Origin origin;
  bool operator==(const PolicyRule&) const = default;
};

struct RiskBand {
  std::optional<int> min_score, max_score;
  std::vector<std::string> actions;
  bool human_review = false;
  bool auto_merge = false;
  bool operator==(const RiskBand&) const = default;
};

/// A band as one file writes it: what is absent is left as it was.
struct RiskBandChange {
  std::optional<int> min_score, max_score;
  std::optional<std::vector<std::string>> actions;
  std::optional<bool> human_review;
  std::optional<bool> auto_merge;
  bool operator==(const RiskBandChange&) const = default;
};

struct CheckSetting {
  std::string run;
  std::int64_t timeout_ms = 300'000;
  bool required = false;
  bool operator==(const CheckSetting&) const = default;
};

/// One file's worth: every value optional, absent means "say nothing".
struct PolicyLayer {
  LayerKind kind = LayerKind::user;
  std::string file;
  std::optional<Mode> mode;
  std::optional<Autonomy> autonomy;                  ///< a ceiling
  std::map<std::string, RiskBandChange> risk_bands;  ///< low, medium, high
  std::optional<std::vector<std::string>> always_on;
  std::map<std::string, CheckSetting> checks;
  std::vector<PolicyRule> rules;
  std::vector<OwnRule> own_rules;
  std::map<std::string, std::string> limits;  ///< wall, memory, pids, output, file-size: as written
  std::vector<std::string> env_allow, mask, read, write;
  std::vector<std::string> network_allow;
  std::optional<double> sample_rate;
  std::optional<std::int64_t> review_expiry_ms;
  std::optional<bool> allow_policy_only_runner;
  std::map<std::string, int> lines;  ///< key path → 1-based line in `file`
  bool operator==(const PolicyLayer&) const = default;
};

/// The effective policy.
struct Policy {
  std::string version;  ///< changes whenever the meaning does; shown to agents as policyVersion
  Mode mode = Mode::enforce;
  Autonomy autonomy = Autonomy::medium;  ///< default for requests that name none, and never exceeded if capped
  bool autonomy_capped = false;
  std::map<std::string, RiskBand> risk_bands;
  std::vector<std::string> always_on;
  std::map<std::string, CheckSetting> checks;
  std::vector<PolicyRule> rules;
  OwnRules own_rules;
  std::map<std::string, std::string> limits;
  std::vector<std::string> env_allow, mask, read, write;
  std::vector<std::string> network_allow;
  double sample_rate = 0.07;
  std::int64_t review_expiry_ms = 86'400'000;
  bool allow_policy_only_runner = false;
  std::map<std::string, Origin> origins;  ///< key path → where the effective value came from
  std::vector<std::string> notes;         ///< refused loosenings and the like, in plain words
};

/// What holds with no file at all.
Policy builtin_policy();

/// built-in < user < workspace < system. A workspace layer only tightens: a loosening value is dropped and noted. A
/// ceiling on autonomy holds whichever layer sets it: the lowest counts.
Policy merge_layers(const std::vector<PolicyLayer>& layers);

/// What holds while a policy file cannot be read, and could have forbidden anything: each action asks a person.
/// `readable` are the layers that could be read; the rule that decides is called kBrokenPolicyRule.
Policy strict_policy(const std::vector<PolicyLayer>& readable);
inline constexpr const char* kBrokenPolicyRule = "policy.broken";

}  // namespace escrow::engine
