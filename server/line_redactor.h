#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace escrow::server {

/// One stream of a command's output on its way to a model: recognised secrets are replaced, line by line.
///
/// A secret may be cut by a chunk's border, so what could be the beginning of one is held until its end, or until it is
/// longer than any secret is. A private key's lines are hidden up to its end, whatever chunks they come in.
class LineRedactor {
 public:
  enum class Hold {
    line,  ///< a pipe: an unfinished line waits for its end
    word,  ///< a terminal: it waits only while it ends inside a word, since a prompt has no end
  };

  explicit LineRedactor(Hold hold = Hold::line) : hold_(hold) {}

  /// What may be handed on now.
  std::string take(std::string_view bytes);
  /// The rest, when nothing follows.
  std::string finish();

 private:
  std::size_t ready() const;

  Hold hold_;
  std::string held_;
  bool in_key_ = false;
};

}  // namespace escrow::server
