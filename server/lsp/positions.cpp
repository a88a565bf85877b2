#include "server/lsp/positions.h"

#include <algorithm>
#include <cassert>

namespace escrow::server::lsp {
namespace {

/// One character: its bytes, and its length in the encoding.
struct Step {
  std::size_t bytes;
  std::uint32_t units;
};

bool is_trail_byte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::size_t claimed_length(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 1;
}

/// Bytes of the character at `at`; 1 for a byte that starts none.
std::size_t character_bytes(std::string_view line, std::size_t at) {
  const std::size_t length = claimed_length(static_cast<unsigned char>(line[at]));
  if (at + length > line.size()) return 1;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_trail_byte(line[at + i])) return 1;
  }
  return length;
}

Step step_at(std::string_view line, std::size_t at, PositionEncoding encoding) {
  const std::size_t bytes = character_bytes(line, at);
  switch (encoding) {
    case PositionEncoding::utf8:
      return {bytes, static_cast<std::uint32_t>(bytes)};
    case PositionEncoding::utf16:
      return {bytes, bytes == 4 ? 2U : 1U};
    case PositionEncoding::utf32:
      return {bytes, 1U};
  }
  assert(false && "encoding out of range");
  return {bytes, 1U};
}

}  // namespace

std::string_view name_of(PositionEncoding encoding) {
  switch (encoding) {
    case PositionEncoding::utf8:
      return "utf-8";
    case PositionEncoding::utf16:
      return "utf-16";
    case PositionEncoding::utf32:
      return "utf-32";
  }
  return "utf-16";
}

PositionEncoding choose_encoding(const std::optional<std::vector<std::string>>& offered) {
  const bool has_utf8 = offered && std::find(offered->begin(), offered->end(), "utf-8") != offered->end();
  return has_utf8 ? PositionEncoding::utf8 : PositionEncoding::utf16;
}

std::uint32_t to_column(std::string_view line, std::size_t byte, PositionEncoding encoding) {
  std::uint32_t column = 0;
  for (std::size_t at = 0; at < std::min(byte, line.size());) {
    const Step step = step_at(line, at, encoding);
    if (at + step.bytes > byte) break;
    at += step.bytes;
    column += step.units;
  }
  return column;
}

std::size_t to_byte(std::string_view line, std::uint32_t column, PositionEncoding encoding) {
  std::size_t at = 0;
  std::uint32_t units = 0;
  while (at < line.size() && units < column) {
    const Step step = step_at(line, at, encoding);
    if (step.units > column - units) break;
    at += step.bytes;
    units += step.units;
  }
  return at;
}

LineIndex::LineIndex(std::string_view text) : text_(text), starts_{0} {
  for (std::size_t i = text.find_first_of("\r\n"); i != std::string_view::npos; i = text.find_first_of("\r\n", i)) {
    i += text.substr(i, 2) == "\r\n" ? 2 : 1;
    starts_.push_back(i);
  }
}

std::string_view LineIndex::line(std::size_t number) const {
  const std::size_t start = line_start(number);
  std::string_view line = text_.substr(start, line_start(number + 1) - start);
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::size_t LineIndex::line_start(std::size_t number) const {
  return number < starts_.size() ? starts_[number] : text_.size();
}

std::size_t LineIndex::to_offset(protocol::Position position, PositionEncoding encoding) const {
  return line_start(position.line) + to_byte(line(position.line), position.character, encoding);
}

protocol::Position LineIndex::to_position(std::size_t offset, PositionEncoding encoding) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto number = static_cast<std::size_t>(after - starts_.begin()) - 1;
  const std::uint32_t column = to_column(line(number), offset - starts_[number], encoding);
  return {static_cast<std::uint32_t>(number), column};
}

protocol::Range LineIndex::lines(std::size_t first, std::size_t last, PositionEncoding encoding) const {
  const std::size_t bottom = std::min(last, line_count() - 1);
  const std::size_t top = std::min(first, bottom);
  const std::string_view end = line(bottom);
  return {{static_cast<std::uint32_t>(top), 0},
          {static_cast<std::uint32_t>(bottom), to_column(end, end.size(), encoding)}};
}

void apply_changes(std::string& text, std::span<const protocol::TextDocumentContentChangeEvent> changes,
                   PositionEncoding encoding) {
  for (const protocol::TextDocumentContentChangeEvent& change : changes) {
    if (!change.range) {
      text = change.text;
      continue;
    }
    const LineIndex index(text);
    const std::size_t one = index.to_offset(change.range->start, encoding);
    const std::size_t other = index.to_offset(change.range->end, encoding);
    const std::size_t start = std::min(one, other);
    const std::size_t end = std::max(one, other);
    text.replace(start, end - start, change.text);
  }
}

}  // namespace escrow::server::lsp
