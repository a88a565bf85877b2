#include "server/lsp/inbox.h"

#include <algorithm>

namespace escrow::server::lsp {

void Inbox::push(Item item, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  // The end takes no room, and may be told by the loop itself, which must not wait for the loop.
  const bool is_end = std::holds_alternative<End>(item);
  room_.wait(lock, [&] { return is_end || closed_ || bytes_ <= max_bytes_; });
  if (closed_) return;
  entries_.push_back({std::move(item), bytes});
  bytes_ += bytes;
}

void Inbox::cancel(const protocol::Id& id, protocol::Notification notification, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  const auto waiting = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    const auto* message = std::get_if<protocol::Message>(&entry.item);
    const auto* request = message ? std::get_if<protocol::Request>(message) : nullptr;
    return request && request->id == id;
  });
  if (waiting != entries_.end()) {
    waiting->item = Cancelled{id};
    return;
  }
  entries_.push_front({protocol::Message(std::move(notification)), bytes});
  bytes_ += bytes;
}

std::optional<Inbox::Item> Inbox::pop() {
  const std::lock_guard lock(mutex_);
  if (entries_.empty()) return std::nullopt;
  Item item = std::move(entries_.front().item);
  bytes_ -= entries_.front().bytes;
  entries_.pop_front();
  room_.notify_all();
  return item;
}

void Inbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  entries_.clear();
  bytes_ = 0;
  room_.notify_all();
}

}  // namespace escrow::server::lsp
