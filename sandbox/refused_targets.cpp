#include "sandbox/refused_targets.h"

#include <algorithm>
#include <string_view>

#include "sandbox/egress_rules.h"

namespace escrow::sandbox {
namespace {

bool is_own_name(std::string_view host) {
  return host.find('.') == std::string_view::npos || host.ends_with(".arpa") || host.ends_with(".local") ||
         host.ends_with(".localhost") || host.ends_with(".localdomain");
}

}  // namespace

void RefusedTargets::add(const std::string& host, unsigned short port) {
  const std::string target = to_string(HostPort{host, port});
  if (std::find(list_.begin(), list_.end(), target) != list_.end()) return;
  const auto bare = std::find(list_.begin(), list_.end(), host);
  if (bare != list_.end())
    *bare = target;
  else if (list_.size() < kMost)
    list_.push_back(target);
}

void RefusedTargets::add_name(const std::string& host) {
  if (is_own_name(host) || list_.size() >= kMost) return;
  const auto known = [&](const std::string& entry) { return entry == host || entry.starts_with(host + ":"); };
  if (std::none_of(list_.begin(), list_.end(), known)) list_.push_back(host);
}

}  // namespace escrow::sandbox
