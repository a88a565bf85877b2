#include "server/nonces.h"

#include "server/hash.h"

namespace escrow::server {
namespace {

std::string key_of(const std::string& subject, int revision, const std::string& verb) {
  return subject + '\n' + std::to_string(revision) + '\n' + verb;
}

}  // namespace

std::string Nonces::issue(const std::string& subject, int revision, const std::string& verb, std::int64_t now_ms) {
  drop_expired(now_ms);
  const std::string key = key_of(subject, revision, verb);
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    by_nonce_.at(known->second).expires_ms = now_ms + kLifeMs;
    return known->second;
  }
  std::string nonce = random_token();
  by_nonce_[nonce] = {.key = key, .expires_ms = now_ms + kLifeMs};
  by_key_[key] = nonce;
  return nonce;
}

Result<void> Nonces::spend(const std::string& nonce, const std::string& subject, int revision, const std::string& verb,
                           std::int64_t now_ms) {
  drop_expired(now_ms);
  const auto found = by_nonce_.find(nonce);
  if (found == by_nonce_.end() || found->second.key != key_of(subject, revision, verb)) {
    return Error{
        ErrorKind::nonce_invalid,
        "this approval is not valid any more (used, expired, or for another revision): ask for the code actions "
        "again"};
  }
  by_key_.erase(found->second.key);
  by_nonce_.erase(found);
  return {};
}

void Nonces::drop_expired(std::int64_t now_ms) {
  for (auto it = by_nonce_.begin(); it != by_nonce_.end();) {
    if (it->second.expires_ms > now_ms) {
      ++it;
      continue;
    }
    by_key_.erase(it->second.key);
    it = by_nonce_.erase(it);
  }
}

}  // namespace escrow::server
