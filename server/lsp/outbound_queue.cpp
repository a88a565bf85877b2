#include "server/lsp/outbound_queue.h"

#include <utility>

namespace escrow::server::lsp {

bool OutboundQueue::push(Outgoing message) {
  const auto older = message.coalesce_key.empty() ? latest_.end() : latest_.find(message.coalesce_key);
  if (older != latest_.end() && bytes_ > limits_.coalesce_above) forget(older->second);
  const Number number = next_++;
  bytes_ += message.body.size();
  if (!message.coalesce_key.empty()) latest_[message.coalesce_key] = number;
  if (std::set<Number>* numbers = droppable(message)) numbers->insert(number);
  messages_.emplace(number, std::move(message));
  while (bytes_ > limits_.drop_above && (drop_oldest(first_) || drop_oldest(second_))) {
  }
  return bytes_ <= limits_.give_up_above;
}

std::optional<std::string> OutboundQueue::pop() {
  if (messages_.empty()) return std::nullopt;
  const auto oldest = messages_.begin();
  std::string body = std::move(oldest->second.body);
  bytes_ -= body.size();
  oldest->second.body.clear();
  forget(oldest->first);
  return body;
}

void OutboundQueue::forget(Number number) {
  const auto found = messages_.find(number);
  bytes_ -= found->second.body.size();
  const auto latest = latest_.find(found->second.coalesce_key);
  if (latest != latest_.end() && latest->second == number) latest_.erase(latest);
  if (std::set<Number>* numbers = droppable(found->second)) numbers->erase(number);
  messages_.erase(found);
}

bool OutboundQueue::drop_oldest(const std::set<Number>& droppable) {
  if (droppable.empty()) return false;
  forget(*droppable.begin());
  return true;
}

std::set<OutboundQueue::Number>* OutboundQueue::droppable(const Outgoing& message) {
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
