#pragma once

#include "protocol/escrow_common.h"

/// escrow/agent/register, escrow/agent/end, escrow/toolCall. See protocol/README.md.
namespace escrow::protocol {

struct RegisterParams {
  std::string name;
  std::optional<std::string> version, session;
  std::optional<std::vector<Uri>> roots;
  static void fields(auto& f, auto& self) {
    f.required("name", self.name);
    f.optional("version", self.version);
    f.optional("session", self.session);
    f.optional("roots", self.roots);
  }
  bool operator==(const RegisterParams&) const = default;
};

struct RegisterResult {
  std::string agentId, token, policyVersion;
  static void fields(auto& f, auto& self) {
    f.required("agentId", self.agentId);
    f.required("token", self.token);
    f.required("policyVersion", self.policyVersion);
  }
  bool operator==(const RegisterResult&) const = default;
};

/// The result is null.
using EndParams = AgentCredential;

/// Who runs the action if it is allowed: Escrow, in the cage; or the agent itself, on the host.
enum class Runner { escrow, agent };
constexpr auto wire_names(Runner) {
  return std::array<WireName<Runner>, 2>{{{Runner::escrow, "escrow"}, {Runner::agent, "agent"}}};
}

/// Whether the request stays open until a person has decided.
enum class Wait { none, human };
constexpr auto wire_names(Wait) {
  return std::array<WireName<Wait>, 2>{{{Wait::none, "none"}, {Wait::human, "human"}}};
}

struct ToolCallParams : AgentCredential {
  std::string callId, tool;
  json::value input;  ///< the tool's own arguments; shown to the person, never judged in place of the subject
  Subject subject;
  std::optional<Runner> runner;  ///< absent: agent
  std::optional<Autonomy> autonomy;
  std::optional<std::string> intent;
  std::optional<double> confidence;  ///< 0..1
  std::optional<Wait> wait;          ///< absent: none
  std::optional<std::int64_t> timeoutMs;
  std::optional<Uri> document;  ///< where to show a pending call that is about no file
  std::optional<ProgressToken> workDoneToken;
  static void fields(auto& f, auto& self) {
    AgentCredential::fields(f, self);
    f.required("callId", self.callId);
    f.required("tool", self.tool);
    f.optional("input", self.input);
    f.required("subject", self.subject);
    f.optional("runner", self.runner);
    f.optional("autonomy", self.autonomy);
    f.optional("intent", self.intent);
    f.optional("confidence", self.confidence);
    f.optional("wait", self.wait);
    f.optional("timeoutMs", self.timeoutMs);
    f.optional("document", self.document);
    f.optional("workDoneToken", self.workDoneToken);
  }
  bool operator==(const ToolCallParams&) const = default;
};

/// What an allowed execution is held to.
struct Constraints {
  std::string profile;
  std::vector<std::string> network;  ///< hosts it may reach; empty: none
  Writable writable = Writable::overlay;
  static void fields(auto& f, auto& self) {
    f.required("profile", self.profile);
    f.required("network", self.network);
    f.required("writable", self.writable);
  }
  bool operator==(const Constraints&) const = default;
};

struct ToolCallAllowed {
  Risk risk;
  std::optional<std::string> clause, grantId;
  std::string executionToken;  ///< single use
  std::int64_t expiresAt = 0;  ///< of the token
  Constraints constraints;
  static void fields(auto& f, auto& self) {
    f.constant("decision", "allow");
    f.required("risk", self.risk);
    f.optional("clause", self.clause);
    f.optional("grantId", self.grantId);
    f.required("executionToken", self.executionToken);
    f.required("expiresAt", self.expiresAt);
    f.required("constraints", self.constraints);
  }
  bool operator==(const ToolCallAllowed&) const = default;
};

struct ToolCallDenied {
  Risk risk;
  std::string clause, reason;
  std::string forAgent;  ///< what would be allowed instead, in words for the model
  std::vector<Remedy> remedies;
  static void fields(auto& f, auto& self) {
    f.constant("decision", "deny");
    f.required("risk", self.risk);
    f.required("clause", self.clause);
    f.required("reason", self.reason);
    f.required("forAgent", self.forAgent);
    f.required("remedies", self.remedies);
  }
  bool operator==(const ToolCallDenied&) const = default;
};

struct ToolCallPending {
  Risk risk;
  std::string reviewId;
  std::int32_t revision = 1;
  std::int64_t expiresAt = 0;
  static void fields(auto& f, auto& self) {
    f.constant("decision", "pending");
    f.required("risk", self.risk);
    f.required("reviewId", self.reviewId);
    f.required("revision", self.revision);
    f.required("expiresAt", self.expiresAt);
  }
  bool operator==(const ToolCallPending&) const = default;
};

using ToolCallResult = std::variant<ToolCallAllowed, ToolCallDenied, ToolCallPending>;
bool from_json(const json::value& value, ToolCallResult& out, const Path& path);
json::value to_json(const ToolCallResult& result);

}  // namespace escrow::protocol
