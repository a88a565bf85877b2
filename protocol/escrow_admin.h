#pragma once

#include "protocol/escrow_common.h"

/// Grants, policy, audit and status: escrow/grants/…, escrow/policy/…, escrow/audit/…, escrow/status. See
/// protocol/README.md.
namespace escrow::protocol {

struct GrantsListResult {
  std::vector<Grant> grants;
  std::optional<std::vector<std::string>> notes;  ///< damaged entries of the store
  static void fields(auto& f, auto& self) {
    f.required("grants", self.grants);
    f.optional("notes", self.notes);
  }
  bool operator==(const GrantsListResult&) const = default;
};

/// The result is the Grant with its id. A deny needs no nonce.
struct GrantsAddParams {
  std::optional<std::string> nonce;
  Grant grant;
  static void fields(auto& f, auto& self) {
    f.optional("nonce", self.nonce);
    f.required("grant", self.grant);
  }
  bool operator==(const GrantsAddParams&) const = default;
};

/// One of the two.
struct GrantsRevokeParams {
  std::optional<std::string> grantId;
  std::optional<bool> all;
  bool operator==(const GrantsRevokeParams&) const = default;
};
bool from_json(const json::value& value, GrantsRevokeParams& out, const Path& path);
json::value to_json(const GrantsRevokeParams& params);

struct GrantsRevokeResult {
  std::int64_t revoked = 0;
  static void fields(auto& f, auto& self) { f.required("revoked", self.revoked); }
  bool operator==(const GrantsRevokeResult&) const = default;
};

/// For a plugin's own view; the result is a NonceResult (escrow_review.h). A credential in it means that an agent
/// asks, which is refused.
struct GrantsNonceParams : OptionalCredential {
  Grant grant;
  static void fields(auto& f, auto& self) {
    OptionalCredential::fields(f, self);
    f.required("grant", self.grant);
  }
  bool operator==(const GrantsNonceParams&) const = default;
};

struct Restriction {
  std::string kind, text;
  static void fields(auto& f, auto& self) {
    f.required("kind", self.kind);
    f.required("text", self.text);
  }
  bool operator==(const Restriction&) const = default;
};

/// The policy in force and where each of its values came from.
struct PolicyGetResult {
  json::object policy;
  std::map<std::string, std::string> origins;  ///< key path → `file:line`, or `built-in`
  std::string backend;
  bool available = false;  ///< a sandbox can be set up here
  std::string message;
  std::vector<Restriction> restrictions;
  std::string grantsPath;
  static void fields(auto& f, auto& self) {
    f.required("policy", self.policy);
    f.required("origins", self.origins);
    f.required("backend", self.backend);
    f.required("available", self.available);
    f.required("message", self.message);
    f.required("restrictions", self.restrictions);
    f.required("grantsPath", self.grantsPath);
  }
  bool operator==(const PolicyGetResult&) const = default;
};

/// Where an action would run.
enum class Venue { cage, host };
constexpr auto wire_names(Venue) {
  return std::array<WireName<Venue>, 2>{{{Venue::cage, "cage"}, {Venue::host, "host"}}};
}

struct PolicyExplainParams {
  Subject subject;
  std::optional<Autonomy> autonomy;
  std::optional<Venue> venue;  ///< absent: cage
  static void fields(auto& f, auto& self) {
    f.required("subject", self.subject);
    f.optional("autonomy", self.autonomy);
    f.optional("venue", self.venue);
  }
  bool operator==(const PolicyExplainParams&) const = default;
};

/// Nothing was asked for, so a prompt is called by its name here.
enum class Verdict { allow, prompt, deny };
constexpr auto wire_names(Verdict) {
  return std::array<WireName<Verdict>, 3>{
      {{Verdict::allow, "allow"}, {Verdict::prompt, "prompt"}, {Verdict::deny, "deny"}}};
}

struct PolicyExplainResult {
  Verdict decision = Verdict::deny;
  std::string clause, reason;
  Risk risk;
  std::vector<std::string> trace;  ///< each layer and rule that was looked at, and what decided
  static void fields(auto& f, auto& self) {
    f.required("decision", self.decision);
    f.required("clause", self.clause);
    f.required("reason", self.reason);
    f.required("risk", self.risk);
    f.required("trace", self.trace);
  }
  bool operator==(const PolicyExplainResult&) const = default;
};

struct PolicyReloadResult {
  std::string policyVersion;
  std::vector<std::string> notes;  ///< loosenings that were refused, and the like
  static void fields(auto& f, auto& self) {
    f.required("policyVersion", self.policyVersion);
    f.required("notes", self.notes);
  }
  bool operator==(const PolicyReloadResult&) const = default;
};

struct AuditQueryParams {
  std::optional<std::int64_t> max;  ///< absent: 100
  std::optional<std::string> event;
  static void fields(auto& f, auto& self) {
    f.optional("max", self.max);
    f.optional("event", self.event);
  }
  bool operator==(const AuditQueryParams&) const = default;
};

struct AuditQueryResult {
  std::vector<json::object> entries;  ///< oldest first
  static void fields(auto& f, auto& self) { f.required("entries", self.entries); }
  bool operator==(const AuditQueryResult&) const = default;
};

struct AuditVerifyParams {
  std::optional<std::string> anchor;  ///< a hash that must be in the chain
  static void fields(auto& f, auto& self) { f.optional("anchor", self.anchor); }
  bool operator==(const AuditVerifyParams&) const = default;
};

struct AuditVerifyResult {
  bool ok = false;
  std::int64_t entries = 0;
  std::string lastHash;
  std::optional<std::string> problem;
  static void fields(auto& f, auto& self) {
    f.required("ok", self.ok);
    f.required("entries", self.entries);
    f.required("lastHash", self.lastHash);
    f.optional("problem", self.problem);
  }
  bool operator==(const AuditVerifyResult&) const = default;
};

enum class EnforcementLevel { sandbox, policy_only };
constexpr auto wire_names(EnforcementLevel) {
  return std::array<WireName<EnforcementLevel>, 2>{
      {{EnforcementLevel::sandbox, "sandbox"}, {EnforcementLevel::policy_only, "policy-only"}}};
}

/// Sandboxes that wait for a command. Times in milliseconds from a command's arrival to its own begin, of the last warm
/// hand-offs.
struct PoolState {
  std::int64_t ready = 0, wanted = 0;
  std::int64_t warm = 0, cold = 0;  ///< commands that found one ready, and that did not
  std::int64_t slow = 0;            ///< warm ones that took longer than `goalMs`
  double typicalMs = 0, worstMs = 0;
  std::int64_t goalMs = 0;
  static void fields(auto& f, auto& self) {
    f.required("ready", self.ready);
    f.required("wanted", self.wanted);
    f.required("warm", self.warm);
    f.required("cold", self.cold);
    f.required("slow", self.slow);
    f.required("typicalMs", self.typicalMs);
    f.required("worstMs", self.worstMs);
    f.required("goalMs", self.goalMs);
  }
  bool operator==(const PoolState&) const = default;
};

/// The result of escrow/status, and the notification escrow/status/changed.
struct Status {
  std::string version, policyVersion, mode;
  bool locked = false;
  EnforcementLevel enforcement = EnforcementLevel::policy_only;
  std::int64_t pending = 0;            ///< matters that wait for the person
  std::vector<std::string> running;    ///< execIds
  std::int64_t agents = 0;             ///< registered
  std::optional<std::string> message;  ///< what is wrong, and what to do
  std::optional<PoolState> pool;       ///< absent where there is no sandbox
  static void fields(auto& f, auto& self) {
    f.required("version", self.version);
    f.required("policyVersion", self.policyVersion);
    f.required("mode", self.mode);
    f.required("locked", self.locked);
    f.required("enforcement", self.enforcement);
    f.required("pending", self.pending);
    f.required("running", self.running);
    f.required("agents", self.agents);
    f.optional("pool", self.pool);
    f.optional("message", self.message);
  }
  bool operator==(const Status&) const = default;
};

}  // namespace escrow::protocol
