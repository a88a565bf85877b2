#include "engine/needle_index.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace escrow::engine {
namespace {

constexpr std::uint16_t kNoState = std::numeric_limits<std::uint16_t>::max();

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
  std::vector<std::vector<Id>> outputs;
  assign_classes();
  build_trie(outputs);
  link_failures(outputs);
  flatten(outputs);
}

void NeedleIndex::assign_classes() {
  for (const Word& word : words_) {
    for (const char c : word.text) {
      std::uint8_t& slot = class_[fold(c)];
      if (slot == 0) slot = static_cast<std::uint8_t>(width_++);
    }
  }
  for (int upper = 'A'; upper <= 'Z'; ++upper) {
    class_[static_cast<std::size_t>(upper)] = class_[static_cast<std::size_t>(upper - 'A' + 'a')];
  }
}

void NeedleIndex::build_trie(std::vector<std::vector<Id>>& outputs) {
  std::size_t bytes = 1;
  for (const Word& word : words_) bytes += word.text.size();
  next_.reserve(bytes * width_);  // at most one state a byte: no copying while it grows
  next_.assign(width_, kNoState);
  outputs.resize(1);
  for (const Word& word : words_) {
    State state = 0;
    for (const char c : word.text) {
      std::size_t slot = state * width_ + class_[fold(c)];
      if (next_[slot] == kNoState) {
        assert(outputs.size() < kNoState);
        next_[slot] = static_cast<std::uint16_t>(outputs.size());
        next_.insert(next_.end(), width_, kNoState);
        outputs.emplace_back();
      }
      state = next_[slot];
    }
    if (std::find(outputs[state].begin(), outputs[state].end(), word.id) == outputs[state].end()) {
      outputs[state].push_back(word.id);
    }
  }
}

/// Breadth first, so that the state a failure leads to is complete before it is used.
void NeedleIndex::link_failures(std::vector<std::vector<Id>>& outputs) {
  std::vector<State> failure(outputs.size(), 0), queue;
  for (std::uint32_t c = 0; c < width_; ++c) {
    std::uint16_t& target = next_[c];
    if (target == kNoState) {
      target = 0;
    } else {
      queue.push_back(target);
    }
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const State state = queue[head];
    for (std::uint32_t c = 0; c < width_; ++c) {
      std::uint16_t& target = next_[state * width_ + c];
      const std::uint16_t fallback = next_[failure[state] * width_ + c];
      if (target == kNoState) {
        target = fallback;
        continue;
      }
      failure[target] = fallback;
      outputs[target].insert(outputs[target].end(), outputs[fallback].begin(), outputs[fallback].end());
      queue.push_back(target);
    }
  }
}

void NeedleIndex::flatten(const std::vector<std::vector<Id>>& outputs) {
  for (const std::vector<Id>& ids : outputs) {
    first_.push_back(static_cast<std::uint32_t>(ids_.size()));
    ids_.insert(ids_.end(), ids.begin(), ids.end());
  }
  first_.push_back(static_cast<std::uint32_t>(ids_.size()));
}

}  // namespace escrow::engine
