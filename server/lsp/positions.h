#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/lsp_documents.h"

/// Between bytes of UTF-8 text and LSP positions (LSP 3.17, "Position"). Pure.
///
/// Lines end in \n, \r\n or \r. A column past the end of its line is the end of the line, a line past the last is the
/// end of the text, and a column inside a character is the character's start: no input is an error. A byte that is not
/// UTF-8 counts as one unit.
namespace escrow::server::lsp {

enum class PositionEncoding { utf8, utf16, utf32 };

/// As in `capabilities.positionEncoding`.
std::string_view name_of(PositionEncoding encoding);

/// utf-8 if the client offers it, else utf-16, which every client knows (and some know nothing else).
PositionEncoding choose_encoding(const std::optional<std::vector<std::string>>& offered);

/// The column of a byte offset in a line (without its end).
std::uint32_t to_column(std::string_view line, std::size_t byte, PositionEncoding encoding);
/// The byte offset of a column in a line (without its end).
std::size_t to_byte(std::string_view line, std::uint32_t column, PositionEncoding encoding);

/// Where the lines of a text are. Refers to the text, which must outlive it unchanged.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);

  /// At least 1: a text that is empty, or ends in a line end, has an empty last line.
  std::size_t line_count() const { return starts_.size(); }
  /// Without its end. Lines past the last are empty.
  std::string_view line(std::size_t number) const;
  /// The first byte of a line; past the last, the size of the text.
  std::size_t line_start(std::size_t number) const;

  std::size_t to_offset(protocol::Position position, PositionEncoding encoding) const;
  protocol::Position to_position(std::size_t offset, PositionEncoding encoding) const;

  /// From the start of line `first` to the end of line `last`, its line end not included.
  protocol::Range lines(std::size_t first, std::size_t last, PositionEncoding encoding) const;

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

/// Applies didChange events in their order, each to what the one before left. A range whose end lies before its start
/// is taken with the two exchanged.
void apply_changes(std::string& text, std::span<const protocol::TextDocumentContentChangeEvent> changes,
                   PositionEncoding encoding);

}  // namespace escrow::server::lsp
