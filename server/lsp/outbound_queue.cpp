#include "server/lsp/outbound_queue.h"

#include <utility>

namespace escrow::server::lsp {

bool OutboundQueue::push(Outgoing message) {
  const auto older = message.coalesce_key.empty() ? latest_.end() : latest_.find(message.coalesce_key);
  if (older != latest_.end() && bytes_ > limits_.coalesce_above) forget(older->second);
  append(std::move(message));
  while (bytes_ > limits_.drop_above && (drop_oldest(first_) || drop_oldest(second_))) {
  }
  return bytes_ <= limits_.give_up_above;
}

std::optional<std::string> OutboundQueue::pop() {
  if (messages_.empty()) return std::nullopt;
  std::string body = std::move(messages_.front().body);
  bytes_ -= body.size();
  messages_.front().body.clear();
  forget(messages_.begin());
  return body;
}

void OutboundQueue::append(Outgoing message) {
  bytes_ += message.body.size();
  const Position position = messages_.insert(messages_.end(), std::move(message));
  if (!position->coalesce_key.empty()) latest_[position->coalesce_key] = position;
  if (std::deque<Position>* list = droppable(*position)) list->push_back(position);
}

void OutboundQueue::forget(Position position) {
  bytes_ -= position->body.size();
  const auto latest = latest_.find(position->coalesce_key);
  if (latest != latest_.end() && latest->second == position) latest_.erase(latest);
  // Droppable messages leave oldest first, by pop as by drop, so this one stands at the front.
  if (std::deque<Position>* list = droppable(*position)) list->pop_front();
  messages_.erase(position);
}

bool OutboundQueue::drop_oldest(std::deque<Position>& droppable) {
  if (droppable.empty()) return false;
  forget(droppable.front());
  return true;
}

std::deque<OutboundQueue::Position>* OutboundQueue::droppable(const Outgoing& message) {
  switch (message.weight) {
    case Outgoing::Weight::required:
      return nullptr;
    case Outgoing::Weight::droppable_first:
      return &first_;
    case Outgoing::Weight::droppable:
      return &second_;
  }
  return nullptr;
}

}  // namespace escrow::server::lsp
