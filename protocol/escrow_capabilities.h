#pragma once

#include "protocol/escrow_admin.h"

/// `experimental.escrow` of the handshake, on either side. See protocol/README.md.
namespace escrow::protocol {

inline constexpr std::int32_t kProtocolVersion = 1;
inline constexpr std::string_view kReviewScheme = "escrow-review";

struct EscrowClientCapabilities {
  std::int32_t version = kProtocolVersion;
  std::optional<std::vector<std::string>> notifications;  ///< review, grants, exec, status
  std::optional<bool> reviewUi, verifiedApply;
  static void fields(auto& f, auto& self) {
    f.required("version", self.version);
    f.optional("notifications", self.notifications);
    f.optional("reviewUi", self.reviewUi);
    f.optional("verifiedApply", self.verifiedApply);
  }
  bool operator==(const EscrowClientCapabilities&) const = default;
};

struct SandboxCapabilities {
  std::string backend;   ///< bubblewrap, seatbelt, none
  bool network = false;  ///< an allow-list of hosts can be given
  bool overlay = false, seccomp = false;
  std::int32_t landlock = 0;  ///< ABI; 0: none
  std::vector<std::string> limits;
  static void fields(auto& f, auto& self) {
    f.required("backend", self.backend);
    f.required("network", self.network);
    f.required("overlay", self.overlay);
    f.required("seccomp", self.seccomp);
    f.required("landlock", self.landlock);
    f.required("limits", self.limits);
  }
  bool operator==(const SandboxCapabilities&) const = default;
};

struct ServerLimits {
  std::int64_t maxMessageBytes = 0, maxOutputBytes = 0, decisionTimeoutMs = 0;
  static void fields(auto& f, auto& self) {
    f.required("maxMessageBytes", self.maxMessageBytes);
    f.required("maxOutputBytes", self.maxOutputBytes);
    f.required("decisionTimeoutMs", self.decisionTimeoutMs);
  }
  bool operator==(const ServerLimits&) const = default;
};

struct EscrowServerCapabilities {
  std::int32_t version = kProtocolVersion;
  std::vector<std::string> methods, commands;
  std::string reviewScheme{kReviewScheme};
  EnforcementLevel enforcement = EnforcementLevel::policy_only;
  SandboxCapabilities sandbox;
  ServerLimits limits;
  static void fields(auto& f, auto& self) {
    f.required("version", self.version);
    f.required("methods", self.methods);
    f.required("commands", self.commands);
    f.required("reviewScheme", self.reviewScheme);
    f.required("enforcement", self.enforcement);
    f.required("sandbox", self.sandbox);
    f.required("limits", self.limits);
  }
  bool operator==(const EscrowServerCapabilities&) const = default;
};

/// `experimental.escrow` of a client; empty if it has none. One of a wrong shape is an error, as anywhere.
Result<std::optional<EscrowClientCapabilities>> read_client_capabilities(const json::value& experimental);

}  // namespace escrow::protocol
