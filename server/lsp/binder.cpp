#include "server/lsp/binder.h"

#include <algorithm>
#include <cassert>

namespace escrow::server::lsp {
namespace {

template <class Table>
auto find_in(const Table& table, std::string_view method) {
  const auto found = table.find(method);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace

const Binder::RequestHandler* Binder::find_request(std::string_view method) const {
  return find_in(requests_, method);
}

const Binder::NotificationHandler* Binder::find_notification(std::string_view method) const {
  return find_in(notifications_, method);
}

std::vector<std::string> Binder::methods(std::string_view prefix) const {
  std::vector<std::string> out;
  const auto add = [&](const auto& table) {
    for (const auto& [name, handler] : table) {
      if (name.starts_with(prefix)) out.push_back(name);
    }
  };
  add(requests_);
  add(notifications_);
  std::sort(out.begin(), out.end());
  return out;
}

void Binder::add_request(std::string_view method, RequestHandler handler) {
  [[maybe_unused]] const bool added = requests_.emplace(method, std::move(handler)).second;
  assert(added && "a method is bound once");
}

void Binder::add_notification(std::string_view method, NotificationHandler handler) {
  [[maybe_unused]] const bool added = notifications_.emplace(method, std::move(handler)).second;
  assert(added && "a method is bound once");
}

}  // namespace escrow::server::lsp
