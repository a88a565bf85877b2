#pragma once

#include <vector>

/// Brace expansion as bash does it (`{a,b}`, `{1..9..2}`, `{01..10}`), on text whose quoting is already resolved.
namespace escrow::engine {

/// How a character of a word came to be.
enum class Mark : unsigned char {
  plain,     ///< unquoted: may be syntax
  quoted,    ///< quoted or escaped: never syntax
  nothing,   ///< a pair of quotes around nothing: the word stands even if it is empty
  opaque,    ///< stands for an expansion that is not known, or is the value of a variable
  separator  ///< unquoted blank of a variable's value: splits the word
};

struct Cell {
  char c;
  Mark mark;
};
using Cells = std::vector<Cell>;

struct BraceExpansion {
  std::vector<Cells> words;  ///< never empty
  bool complete = true;      ///< false: there are more, too many to list
};

/// The words of one word, in bash's order. A group that bash leaves alone (`{a}`, `{1..x}`) stays as text.
BraceExpansion expand_braces(const Cells& word);

}  // namespace escrow::engine
