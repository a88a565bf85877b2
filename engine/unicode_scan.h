#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace escrow::engine {

/// One code point and its length in bytes. An invalid byte is a code point of its own: 0xFFFD, length 1.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;
};
CodePoint read_code_point(std::string_view text);

/// Prose may hold what scripts need (joiners, direction marks); code may not.
enum class HiddenText { in_code, in_prose };

/// Names the first bidirectional control, invisible or tag character that changes what a reader sees; empty if none.
/// Emoji sequences, joiners inside scripts that use them and marks beside right-to-left letters are no trouble.
std::optional<std::string> find_hidden_characters(std::string_view text, HiddenText scope);

/// Names a word that mixes Latin letters with look-alikes of another script; empty if none.
std::optional<std::string> find_lookalike_word(std::string_view text);

/// True for characters that are shown as escapes wherever a person must see the whole text.
bool is_invisible(char32_t c);

/// `U+202E`.
std::string name_of_code_point(char32_t c);

}  // namespace escrow::engine
