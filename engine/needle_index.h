#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace escrow::engine {

/// Finds which of many fixed words occur in a text, in one pass (Aho–Corasick over folded bytes).
///
/// Rules name the words without which they cannot match, so that a regular expression is compiled and run only on
/// lines that hold one. ASCII letters compare without case. Immutable once built, so safe on any thread.
class NeedleIndex {
 public:
  using Id = std::uint16_t;

  /// `id` is what `scan` reports for the word; several words may share one.
  void add(std::string_view word, Id id);

  /// Call once, after the last `add`.
  void build();

  /// Calls `found(id)` for each occurrence; an id may come up several times.
  template <class Found>
  void scan(std::string_view text, Found&& found) const {
    State state = 0;
    for (const char c : text) {
      state = next_[state * width_ + class_[static_cast<unsigned char>(c)]];
      for (std::uint32_t i = first_[state]; i < first_[state + 1]; ++i) found(ids_[i]);
    }
  }

  /// Bit `id` for each word that occurs; ids below 32 only. Faster than `scan`, and for the same words.
  std::uint32_t mask_of(std::string_view text) const {
    State state = 0;
    std::uint32_t mask = 0;
    for (const char c : text) {
      state = next_[state * width_ + class_[static_cast<unsigned char>(c)]];
      mask |= masks_[state];
    }
    return mask;
  }

 private:
  using State = std::uint32_t;
  struct Word {
    std::string_view text;
    Id id;
  };

  /// A state while the words are put in: its own edges only.
  struct Node {
    std::vector<std::pair<std::uint8_t, std::uint16_t>> edges;  // class → state
    std::vector<Id> ids;
  };

  void assign_classes();
  std::vector<Node> build_trie() const;
  void fill_table(std::vector<Node>& nodes);
  void flatten(const std::vector<Node>& nodes);

  std::vector<Word> words_;
  std::array<std::uint8_t, 256> class_{};  // bytes no word holds share class 0
  std::uint32_t width_ = 1;                // number of classes
  std::vector<std::uint16_t> next_;        // state × class → state
  std::vector<std::uint32_t> first_;       // state → its first entry in ids_
  std::vector<Id> ids_;
  std::vector<std::uint32_t> masks_;  // state → its ids as bits
};

}  // namespace escrow::engine
