#pragma once

#include <string>
#include <string_view>

namespace escrow::server {

/// One stream of a command's output on its way to a model: recognised secrets are replaced, line by line.
///
/// A secret may be cut by a chunk's border, so a line is held until its end, or until it is longer than any secret is.
class LineRedactor {
 public:
  /// What may be handed on now.
  std::string take(std::string_view bytes);
  /// The rest, when nothing follows.
  std::string finish();

 private:
  std::string held_;
};

}  // namespace escrow::server
