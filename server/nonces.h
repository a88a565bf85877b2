#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "server/error.h"

namespace escrow::server {

/// Single-use proofs that a click came from the person's surface.
///
/// Bound to (subject, revision, verb); random; short-lived. Sent only inside code actions, lenses and the person's own
/// views, so an agent on another connection has none. The code actions of one place are asked for again and again while
/// the cursor moves: a matter keeps one unspent nonce, until it is spent or expires. Loop thread only.
class Nonces {
 public:
  static constexpr std::int64_t kLifeMs = 10 * 60 * 1000;

  std::string issue(const std::string& subject, int revision, const std::string& verb, std::int64_t now_ms);
  /// `nonce_invalid` if unknown, spent, expired, or issued for something else.
  Result<void> spend(const std::string& nonce, const std::string& subject, int revision, const std::string& verb,
                     std::int64_t now_ms);

 private:
  struct Issued {
    std::string key;
    std::int64_t expires_ms = 0;
  };
  void drop_expired(std::int64_t now_ms);

  std::map<std::string, Issued> by_nonce_;
  std::map<std::string, std::string> by_key_;
};

}  // namespace escrow::server
