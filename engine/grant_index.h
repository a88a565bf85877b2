#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/grant.h"

namespace escrow::engine {

struct ActionJudgement;

/// Grants filed by what they could speak of, so that a look-up among thousands reads a handful.
///
/// An immutable value: built when the store was read, then shared by every look-up. Expired grants stay in it; whether
/// one is in force is asked at each look-up.
class GrantIndex {
 public:
  GrantIndex() = default;
  explicit GrantIndex(std::vector<Grant> grants);

  const std::vector<Grant>& all() const { return grants_; }
  /// Every grant that could speak about the action, in the order given: a superset of those that do.
  std::vector<const Grant*> about(const Action& action, const ActionJudgement& judged) const;

 private:
  std::vector<Grant> grants_;
  /// By tool and the first thing its match names (`shell make`, `network docs.example.org`); a grant without one, or
  /// with a pattern there, is filed under its tool alone.
  std::map<std::string, std::vector<std::size_t>, std::less<>> filed_;
};

}  // namespace escrow::engine
