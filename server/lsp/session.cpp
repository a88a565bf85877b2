#include "server/lsp/session.h"

#include "server/store/config.h"

namespace escrow::server::lsp {

std::pair<std::string, std::string> Session::place_of(const std::string& path) const {
  std::pair<std::string, std::string> best;
  if (!broker) return best;
  for (const auto& root : broker->roots()) {
    if (path.compare(0, root.size() + 1, root + "/") == 0 && root.size() > best.first.size()) {
      best = {root, path.substr(root.size() + 1)};
    }
  }
  return best;
}

Result<void> Session::reload_policy() {
  auto policy = load_policy(places, broker->roots());
  if (!policy) return policy.error();
  const engine::Policy& now = broker->policy();
  if (policy->version != now.version || policy->notes != now.notes) broker->set_policy(std::move(*policy));
  return {};
}

std::string Session::text_of(const std::string& path) const {
  if (const Document* open = documents.find_path(path)) return open->text;
  const auto [root, relative] = place_of(path);
  if (root.empty()) return {};
  const auto image = tree->read(root, relative);
  return image ? image->content : std::string();
}

}  // namespace escrow::server::lsp
