#include "server/agents.h"

#include <openssl/crypto.h>

#include "server/hash.h"

namespace escrow::server {
namespace {

/// A looping or hostile agent must not grow the table without end.
constexpr std::size_t kMaxCallsRemembered = 4096;

bool same_token(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

RegisteredAgent Agents::add(AgentInfo info) {
  const Credential credential{.agent_id = "agent-" + random_token().substr(0, 12), .token = random_token()};
  if (info.session.empty()) info.session = credential.agent_id;
  const std::string session = info.session;
  agents_[credential.agent_id] = {.info = std::move(info), .token = credential.token, .calls = {}};
  return {.credential = credential, .session = session};
}

Result<const AgentInfo*> Agents::find(const Credential& credential) const {
  const auto found = agents_.find(credential.agent_id);
  if (found == agents_.end() || !same_token(found->second.token, credential.token)) {
    return Error{ErrorKind::unknown_agent, "unknown agent or wrong token: call escrow/agent/register first"};
  }
  return &found->second.info;
}

Result<bool> Agents::claim_call(const std::string& agent_id, const std::string& call_id, const std::string& body_hash) {
  auto& calls = agents_.at(agent_id).calls;
  const auto [entry, fresh] = calls.try_emplace(call_id, body_hash);
  if (fresh && calls.size() > kMaxCallsRemembered) {
    calls.erase(entry);
    return Error{ErrorKind::limit_exceeded,
                 "this agent has used " + std::to_string(kMaxCallsRemembered) + " call ids: end it and register again"};
  }
  if (!fresh && entry->second != body_hash) {
    return Error{ErrorKind::state_conflict, "callId " + call_id + " was already used with another body"};
  }
  return fresh;
}

}  // namespace escrow::server
