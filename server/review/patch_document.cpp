#include "server/review/patch_document.h"

#include <algorithm>

namespace escrow::server {
namespace {

std::uint32_t newlines(const std::string& text) {
  return static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Where one file stands in the text, and where each of its new-file lines does.
struct FilePlace {
  const engine::FilePatch* file = nullptr;
  std::uint32_t first = 0;  ///< 1-based line of its header
  struct Line {
    std::uint32_t new_line, text_line;
    engine::LineKind kind;
  };
  std::vector<Line> lines;
};

FilePlace place_file(const engine::FilePatch& file, std::uint32_t first) {
  FilePlace place{.file = &file, .first = first, .lines = {}};
  engine::FilePatch header = file;
  header.hunks.clear();
  std::uint32_t at = first + newlines(engine::print_file_patch(header));
  for (const auto& hunk : file.hunks) {
    ++at;
    for (const auto& line : hunk.lines) {
      place.lines.push_back({.new_line = line.new_line, .text_line = at, .kind = line.kind});
      at += line.no_newline ? 2 : 1;
    }
  }
  return place;
}

std::uint32_t line_of(const FilePlace& place, const engine::Signal& signal) {
  std::uint32_t context = 0, removed = 0;
  for (const auto& line : place.lines) {
    if (line.new_line != signal.line) continue;
    if (line.kind == engine::LineKind::added) return line.text_line;
    if (line.kind == engine::LineKind::removed && removed == 0) removed = line.text_line;
    if (line.kind == engine::LineKind::context && context == 0) context = line.text_line;
  }
  if (removed != 0) return removed;
  return context != 0 ? context : place.first;
}

}  // namespace

std::vector<std::uint32_t> patch_text_lines(const engine::Patch& patch, const std::vector<engine::Signal>& signals) {
  std::vector<FilePlace> places;
  auto at = static_cast<std::uint32_t>(patch.preamble.size()) + 1;
  for (const auto& file : patch.files) {
    places.push_back(place_file(file, at));
    at += newlines(engine::print_file_patch(file));
  }
  std::vector<std::uint32_t> lines;
  for (const auto& signal : signals) {
    const auto place = std::find_if(places.begin(), places.end(),
                                    [&](const FilePlace& each) { return each.file->path() == signal.file; });
    lines.push_back(place == places.end() ? 1 : line_of(*place, signal));
  }
  return lines;
}

}  // namespace escrow::server
