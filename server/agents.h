#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/error.h"

namespace escrow::server {

/// Who an agent says it is, and the proof that it is the one that registered.
struct Credential {
  std::string agent_id;
  std::string token;
};

struct AgentInfo {
  std::string name;
  std::string version;
  std::string session;
  std::vector<std::string> roots;  ///< absolute; empty: the workspace's
};

struct RegisteredAgent {
  Credential credential;
  std::string session;
};

/// The agents of this server. Tokens are random, compared in constant time, and die with the agent. Loop thread only.
class Agents {
 public:
  RegisteredAgent add(AgentInfo info);
  /// `unknown_agent` for a wrong id or token, alike.
  Result<const AgentInfo*> find(const Credential& credential) const;
  void remove(const std::string& agent_id) { agents_.erase(agent_id); }
  std::size_t size() const { return agents_.size(); }

  /// Idempotency: the answer already given to (agent, call), by body.
  /// @return true if this call is new; false if it was seen with the same body; `state_conflict` with another body.
  Result<bool> claim_call(const std::string& agent_id, const std::string& call_id, const std::string& body_hash);

 private:
  struct Entry {
    AgentInfo info;
    std::string token;
    std::map<std::string, std::string> calls;  ///< call id → body hash
  };
  std::map<std::string, Entry> agents_;
};

}  // namespace escrow::server
