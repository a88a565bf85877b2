#pragma once

#include <string>
#include <string_view>

#include "engine/level.h"

/// How text looks on a terminal. Plain words without colours, so that nothing is said by colour alone.
namespace escrow::server::cli {

enum class Color { off, on };
enum class Tone { plain, bold, dim, green, yellow, red, alarm };

Tone tone_of(engine::Level level);
Tone tone_of(engine::Lane lane);
Tone tone_of(engine::Verdict verdict);

class Style {
 public:
  explicit Style(Color color) : color_(color) {}

  std::string paint(Tone tone, std::string_view text) const;
  std::string bold(std::string_view text) const { return paint(Tone::bold, text); }
  std::string dim(std::string_view text) const { return paint(Tone::dim, text); }
  /// The name of an enumerator in its tone.
  template <class E>
  std::string name(E value) const {
    return paint(tone_of(value), engine::name_of(value));
  }

 private:
  Color color_;
};

/// Columns that `text` takes: code points, combining and wide ones counted as one each.
std::size_t columns(std::string_view text);

/// `text` filled with spaces to `width` columns; never cut.
std::string padded(std::string_view text, std::size_t width);

/// `1 file`, `3 files`.
std::string counted(std::size_t count, std::string_view noun);

}  // namespace escrow::server::cli
