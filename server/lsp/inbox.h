#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <variant>

#include "protocol/message.h"

namespace escrow::server::lsp {

/// What came in and was not dispatched yet, in order of receipt. Any thread.
class Inbox {
 public:
  struct End {};
  /// A request its sender cancelled before its turn.
  struct Cancelled {
    protocol::Id id;
  };
  using Item = std::variant<protocol::Message, protocol::BadMessage, Cancelled, End>;

  explicit Inbox(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Waits while more than max_bytes stand before it, unless the inbox is closed. Once closed, items are dropped.
  void push(Item item, std::size_t bytes);
  /// `$/cancelRequest`: a request that waits here will come out as Cancelled, in its turn. Otherwise the
  /// notification goes to the head of the queue, to overtake what the request in flight has nothing to do with.
  void cancel(const protocol::Id& id, protocol::Notification notification, std::size_t bytes);
  std::optional<Item> pop();
  /// Nothing more is taken; whoever waits in push goes on.
  void close();

 private:
  struct Entry {
    Item item;
    std::size_t bytes;
  };
  const std::size_t max_bytes_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Entry> entries_;  // the rest is guarded by mutex_
  std::size_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace escrow::server::lsp
