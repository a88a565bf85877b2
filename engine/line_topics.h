#pragma once

#include <cstdint>
#include <string_view>

namespace escrow::engine {

/// What a line may be about, told by plain words in one pass: the rules ask this before any expression of theirs.
enum class Topic : std::uint8_t {
  scanner_mark,
  hash_or_random,
  socket,
  shell,
  wiring,
  download,
  run_of_file,
  harvest,
  sending,
  decoder,
  execution,
  verified,
  equality,
  reference,
  access,
  identity,
  validation,
  constant,
  condition,
  assertion,
  test_mark,
};
using TopicMask = std::uint32_t;
constexpr TopicMask bit(Topic topic) {
  return TopicMask{1} << static_cast<unsigned>(topic);
}

/// Every topic with one of its words in the line. Says too much rather than too little.
TopicMask topics_of(std::string_view line);

}  // namespace escrow::engine
