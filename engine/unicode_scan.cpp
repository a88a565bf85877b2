#include "engine/unicode_scan.h"

#include <algorithm>
#include <array>

#include "engine/text.h"

// CVE-2021-42574 (bidirectional controls) and CVE-2021-42694 (homoglyphs) are the reasons for this file. Ranges are
// from Unicode 15: DerivedCoreProperties (Default_Ignorable_Code_Point), PropList (Bidi_Control) and the confusables
// data, the latter cut to letters that pass for Latin ones in common fonts.

namespace escrow::engine {
namespace {

bool is_bidi_control(char32_t c) {
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}
bool is_direction_mark(char32_t c) {
  return c == 0x200E || c == 0x200F || c == 0x061C;
}
bool is_tag(char32_t c) {
  return c >= 0xE0000 && c <= 0xE007F;
}
bool is_joiner(char32_t c) {
  return c == 0x200C || c == 0x200D;
}

bool is_blank_filler(char32_t c) {
  return c == 0x200B || c == 0x2060 || (c >= 0x2061 && c <= 0x2064) || c == 0xFEFF || c == 0x00AD || c == 0x180E ||
         c == 0x3164 || c == 0x115F || c == 0x1160 || c == 0xFFA0 || (c >= 0xE0100 && c <= 0xE01EF) ||
         (c >= 0xFFF9 && c <= 0xFFFB) || c == 0x2800 || c == 0x034F;
}

/// Hebrew, Arabic, Syriac, Thaana, N'Ko and their presentation forms.
bool is_right_to_left(char32_t c) {
  return (c >= 0x0590 && c <= 0x08FF) || (c >= 0xFB1D && c <= 0xFEFC);
}

/// Scripts whose spelling needs joiners: Arabic and the Indic ones; and everything emoji.
bool uses_joiners(char32_t c) {
  return is_right_to_left(c) || (c >= 0x0900 && c <= 0x0DFF) || (c >= 0x0E00 && c <= 0x109F) ||
         (c >= 0x1780 && c <= 0x17FF) || c >= 0x1F000 || (c >= 0x2190 && c <= 0x2BFF) || c == 0xFE0F;
}

constexpr std::array<char32_t, 52> kLookalikes{
    // Cyrillic
    0x0430, 0x0435, 0x043E, 0x0440, 0x0441, 0x0443, 0x0445, 0x0455, 0x0456, 0x0458, 0x04BB, 0x0501, 0x051B, 0x051D,
    0x0410, 0x0412, 0x0415, 0x041A, 0x041C, 0x041D, 0x041E, 0x0420, 0x0421, 0x0422, 0x0425, 0x0405, 0x0406, 0x0408,
    0x04AE, 0x050C,
    // Greek
    0x03BF, 0x03BD, 0x0391, 0x0392, 0x0395, 0x0396, 0x0397, 0x0399, 0x039A, 0x039C, 0x039D, 0x039F, 0x03A1, 0x03A4,
    0x03A7, 0x03A5,
    // Armenian, Latin small script g, dotless i and others that pass for ASCII
    0x0578, 0x057D, 0x0581, 0x0585, 0x0261, 0x026A};

bool is_lookalike(char32_t c) {
  // Fullwidth and mathematical letters are Latin in another dress.
  if ((c >= 0xFF21 && c <= 0xFF5A) || (c >= 0x1D400 && c <= 0x1D7FF)) return true;
  return std::find(kLookalikes.begin(), kLookalikes.end(), c) != kLookalikes.end();
}

bool is_latin_letter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_word_part(char32_t c) {
  return is_latin_letter(c) || (c >= '0' && c <= '9') || c == '_' || (c >= 0x00C0 && c < 0x2000) || c >= 0x2C00;
}

std::optional<std::string> trouble(std::string_view what, char32_t c) {
  return std::string(what) + " " + name_of_code_point(c);
}

/// The words of a line, with what scripts their letters are from.
struct WordScan {
  bool latin = false, lookalike = false, foreign = false;
  char32_t first = 0;
  bool is_suspicious() const { return latin && lookalike && !foreign; }
};

}  // namespace

CodePoint read_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {0xFFFD, 1};
  auto value = static_cast<char32_t>(lead & (0x7Fu >> length));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {0xFFFD, 1};
    value = (value << 6) | (byte & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {0xFFFD, 1};
  return {value, length};
}

std::optional<std::string> find_hidden_characters(std::string_view text, HiddenText scope) {
  char32_t before = 0;
  bool right_to_left = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = read_code_point(text.substr(at));
    at += point.length;
    const char32_t c = point.value;
    right_to_left = right_to_left || is_right_to_left(c);
    if (c == 0x202D || c == 0x202E || (is_bidi_control(c) && scope == HiddenText::in_code))
      return trouble("bidirectional control", c);
    // Flags of regions spell their name in tags after a black flag.
    if (is_tag(c) && before != 0x1F3F4 && !is_tag(before)) return trouble("invisible tag character", c);
    if (scope == HiddenText::in_code) {
      if (is_direction_mark(c) && !right_to_left) return trouble("direction mark", c);
      if (is_joiner(c) && !uses_joiners(before)) return trouble("invisible joiner", c);
      if (is_blank_filler(c)) return trouble("invisible character", c);
    }
    before = c;
  }
  return std::nullopt;
}

std::optional<std::string> find_lookalike_word(std::string_view text) {
  WordScan word;
  for (std::size_t at = 0; at <= text.size();) {
    const CodePoint point = at < text.size() ? read_code_point(text.substr(at)) : CodePoint{' ', 1};
    at += point.length;
    const char32_t c = point.value;
    if (!is_word_part(c)) {
      if (word.is_suspicious()) return trouble("a Latin word with the look-alike letter", word.first);
      word = {};
      continue;
    }
    word.latin = word.latin || is_latin_letter(c);
    if (is_lookalike(c)) {
      if (!word.lookalike) word.first = c;
      word.lookalike = true;
    } else if (c >= 0x0370) {
      // A letter that passes for no Latin one shows the reader which script this is.
      word.foreign = true;
    }
  }
  return std::nullopt;
}

bool is_invisible(char32_t c) {
  return is_bidi_control(c) || is_direction_mark(c) || is_tag(c) || is_joiner(c) || is_blank_filler(c) ||
         (c >= 0x80 && c < 0xA0) || c == 0x2028 || c == 0x2029;
}

std::string name_of_code_point(char32_t c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string digits;
  for (auto value = static_cast<std::uint32_t>(c); value != 0 || digits.size() < 4; value >>= 4) {
    digits.insert(digits.begin(), kDigits[value & 0xF]);
  }
  return "U+" + digits;
}

}  // namespace escrow::engine
