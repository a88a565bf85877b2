#pragma once

#include <string>
#include <vector>

namespace escrow::sandbox {

/// The hosts a guest wanted and did not get: each once, in order, bounded. Pure.
class RefusedTargets {
 public:
  /// `host:port`. Takes the place of a bare `host` asked for before.
  void add(const std::string& host, unsigned short port);
  /// Only the name was asked for: no news if one of its ports is known already. Names that programs ask for of
  /// themselves (this machine's, reverse lookups) do not count.
  void add_name(const std::string& host);
  const std::vector<std::string>& list() const { return list_; }

 private:
  static constexpr std::size_t kMost = 64;
  std::vector<std::string> list_;
};

}  // namespace escrow::sandbox
