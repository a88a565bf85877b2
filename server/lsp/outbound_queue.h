#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "server/lsp/connection.h"

namespace escrow::server::lsp {

/// Messages that wait for a client to read. Takes them always, and thins them when the client falls behind.
///
/// A value without lock or thread; see Transport.
class OutboundQueue {
 public:
  struct Limits {
    /// Backlog from which a newer message of the same coalesce_key replaces an older one. Below it everything goes
    /// out as it was said.
    std::size_t coalesce_above = std::size_t{256} << 10;
    /// Backlog from which droppable messages go: progress reports first, then command output, oldest first.
    std::size_t drop_above = std::size_t{8} << 20;
    /// Backlog at which the client is taken for dead.
    std::size_t give_up_above = std::size_t{256} << 20;
  };

  OutboundQueue() = default;
  explicit OutboundQueue(Limits limits) : limits_(limits) {}

  /// False when the backlog is over give_up_above: the client does not read.
  bool push(Outgoing message);
  /// The oldest body.
  std::optional<std::string> pop();

  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return messages_.size(); }

 private:
  using Messages = std::list<Outgoing>;
  using Position = Messages::iterator;

  void append(Outgoing message);
  void forget(Position position);
  bool drop_oldest(std::deque<Position>& droppable);
  std::deque<Position>* droppable(const Outgoing& message);

  Limits limits_{};
  Messages messages_;
  std::map<std::string, Position, std::less<>> latest_;  // by coalesce_key
  std::deque<Position> first_, second_;                  // droppable ones, oldest first
  std::size_t bytes_ = 0;
};

}  // namespace escrow::server::lsp
