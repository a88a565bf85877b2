#include "engine/needle_index.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace escrow::engine {
namespace {

unsigned char fold(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 'A' && byte <= 'Z' ? static_cast<unsigned char>(byte - 'A' + 'a') : byte;
}

}  // namespace

void NeedleIndex::add(std::string_view word, Id id) {
  assert(!word.empty());
  words_.push_back({word, id});
}

void NeedleIndex::build() {
  assign_classes();
  std::vector<Node> nodes = build_trie();
  fill_table(nodes);
  flatten(nodes);
}

void NeedleIndex::assign_classes() {
  for (const Word& word : words_) {
    for (const char c : word.text) {
      std::uint8_t& slot = class_[fold(c)];
      if (slot == 0) slot = static_cast<std::uint8_t>(width_++);
    }
  }
  for (std::size_t upper = 'A'; upper <= 'Z'; ++upper) {
    class_[upper] = class_[upper - 'A' + 'a'];
  }
}

std::vector<NeedleIndex::Node> NeedleIndex::build_trie() const {
  std::vector<Node> nodes(1);
  for (const Word& word : words_) {
    State state = 0;
    for (const char c : word.text) {
      const std::uint8_t key = class_[fold(c)];
      const auto& edges = nodes[state].edges;
      const auto edge = std::find_if(edges.begin(), edges.end(), [&](const auto& entry) { return entry.first == key; });
      if (edge != edges.end()) {
        state = edge->second;
        continue;
      }
      const auto next = static_cast<std::uint16_t>(nodes.size());
      assert(nodes.size() < std::numeric_limits<std::uint16_t>::max());
      nodes[state].edges.emplace_back(key, next);
      nodes.emplace_back();
      state = next;
    }
    auto& ids = nodes[state].ids;
    if (std::find(ids.begin(), ids.end(), word.id) == ids.end()) ids.push_back(word.id);
  }
  return nodes;
}

/// Breadth first: a state's row is that of the state its failure leads to, with its own edges put over it.
void NeedleIndex::fill_table(std::vector<Node>& nodes) {
  next_.assign(nodes.size() * width_, 0);
  std::vector<State> failure(nodes.size(), 0), queue{0};
  queue.reserve(nodes.size());
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const State state = queue[head];
    const auto row = next_.begin() + static_cast<std::ptrdiff_t>(std::size_t{state} * width_);
    const auto fallback = next_.begin() + static_cast<std::ptrdiff_t>(std::size_t{failure[state]} * width_);
    if (state != 0) std::copy_n(fallback, width_, row);
    for (const auto& [key, target] : nodes[state].edges) {
      // The row still holds where the failure would go with this byte.
      failure[target] = row[key];
      row[key] = target;
      const std::vector<Id>& inherited = nodes[failure[target]].ids;
      nodes[target].ids.insert(nodes[target].ids.end(), inherited.begin(), inherited.end());
      queue.push_back(target);
    }
  }
}

void NeedleIndex::flatten(const std::vector<Node>& nodes) {
  first_.reserve(nodes.size() + 1);
  for (const Node& node : nodes) {
    first_.push_back(static_cast<std::uint32_t>(ids_.size()));
    ids_.insert(ids_.end(), node.ids.begin(), node.ids.end());
    std::uint32_t& mask = masks_.emplace_back(0);
    for (const Id id : node.ids) {
      if (id < 32) mask |= std::uint32_t{1} << id;
    }
  }
  first_.push_back(static_cast<std::uint32_t>(ids_.size()));
}

}  // namespace escrow::engine
