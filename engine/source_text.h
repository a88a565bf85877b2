#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/path_class.h"

namespace escrow::engine {

/// What each byte of a line belongs to.
enum class TextKind : char { code = 'c', string = 's', comment = '#' };

/// One character of TextKind a byte of the line.
using KindMask = std::string;

/// A light tokenizer: tells code, strings and comments apart in consecutive lines of one file.
///
/// It starts in the dark (a hunk may begin inside a comment), so it is a guess, and rules must not need more than a
/// good one. Linear; one instance per hunk side.
class SourceText {
 public:
  explicit SourceText(Language language);

  /// Kinds of the next line's bytes; state (block comments, long strings) carries over.
  KindMask classify(std::string_view line);

 private:
  struct Block {
    std::string_view close;
    TextKind kind = TextKind::comment;
  };

  std::size_t continue_block(std::string_view line, KindMask& mask);
  std::size_t read_token(std::string_view line, std::size_t at, KindMask& mask);
  std::size_t read_string(std::string_view line, std::size_t at, KindMask& mask) const;
  std::size_t open_block(std::string_view line, std::size_t at, std::string_view open, Block block, KindMask& mask);
  bool starts_line_comment(std::string_view line, std::size_t at) const;

  Language language_;
  std::string_view open_close_;  // what ends the block we are in; empty outside
  TextKind open_kind_ = TextKind::comment;
};

}  // namespace escrow::engine
