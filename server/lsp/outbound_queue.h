#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
  using Number = std::uint64_t;  // counts up: the order of sending

  void forget(Number number);
  bool drop_oldest(const std::set<Number>& droppable);
  std::set<Number>* droppable(const Outgoing& message);

  Limits limits_{};
  std::map<Number, Outgoing> messages_;
  std::map<std::string, Number, std::less<>> latest_;  // by coalesce_key
  std::set<Number> first_, second_;                    // droppable ones
  std::size_t bytes_ = 0;
  Number next_ = 0;
};

}  // namespace escrow::server::lsp
