#include "engine/brace_expand.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// bash reads a group from left to right: it opens at the first `{` that has a `}` of its own with a comma or `..`
// between them at the same depth; a `}` before that is text (`{a},b}` is `a}` and `b`). What follows the group is
// expanded by itself, and the results are joined each with each.

namespace escrow::engine {
namespace {

constexpr std::size_t kMaxWords = 512;
constexpr std::size_t kMaxCells = 64 * 1024;
constexpr int kMaxDepth = 32;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool is_plain(const Cells& cells, std::size_t at, char c) {
  return at < cells.size() && cells[at].mark == Mark::plain && cells[at].c == c;
}

Cells slice(const Cells& cells, std::size_t from, std::size_t to) {
  return {cells.begin() + static_cast<std::ptrdiff_t>(from), cells.begin() + static_cast<std::ptrdiff_t>(to)};
}

/// The `}` of the group whose content begins at `at`.
std::size_t find_close(const Cells& cells, std::size_t at) {
  int level = 0;
  bool divided = false;
  for (std::size_t i = at; i < cells.size(); ++i) {
    if (is_plain(cells, i, '}') && level == 0 && divided) return i;
    if (is_plain(cells, i, '{')) {
      ++level;
    } else if (is_plain(cells, i, '}')) {
      level = std::max(0, level - 1);
    } else if (level == 0) {
      const bool dots = is_plain(cells, i, '.') && is_plain(cells, i + 1, '.') && !is_plain(cells, i + 2, '}');
      if (is_plain(cells, i, ',') || (dots && i + 2 < cells.size())) divided = true;
    }
  }
  return kNone;
}

/// A `{` that opens a group, with its end; kNone if there is none.
struct Group {
  std::size_t open = kNone, close = kNone;
};

Group find_first_group(const Cells& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!is_plain(cells, i, '{') || (i == 0 && is_plain(cells, 1, '}'))) continue;
    if (const std::size_t close = find_close(cells, i + 1); close != kNone) return {i, close};
  }
  return {};
}

struct RangeEnd {
  std::string_view text;
  bool letter = false;
  std::int64_t value = 0;
};

std::optional<std::int64_t> read_number(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && std::isdigit(static_cast<unsigned char>(text[1])) != 0)
    text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<RangeEnd> read_end(std::string_view text) {
  if (text.size() == 1 && std::isalpha(static_cast<unsigned char>(text[0])) != 0)
    return RangeEnd{text, true, static_cast<unsigned char>(text[0])};
  const std::optional<std::int64_t> number = read_number(text);
  if (!number) return std::nullopt;
  return RangeEnd{text, false, *number};
}

bool is_padded(std::string_view text) {
  return (text.size() > 1 && text[0] == '0') || (text.size() > 2 && text.starts_with("-0"));
}

std::string padded(std::int64_t value, std::size_t width) {
  std::string digits = std::to_string(value < 0 ? -value : value);
  const std::size_t sign = value < 0 ? 1 : 0;
  if (digits.size() + sign < width) digits.insert(0, width - sign - digits.size(), '0');
  return value < 0 ? "-" + digits : digits;
}

class Expander {
 public:
  std::vector<Cells> expand(const Cells& cells, int depth) {
    const Group group = find_first_group(cells);
    if (group.open == kNone) return {cells};
    if (depth >= kMaxDepth) {
      complete_ = false;
      return {cells};
    }
    std::vector<Cells> middles = inside(cells, group, depth);
    for (Cells& middle : middles) {
      middle.insert(middle.begin(), cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(group.open));
    }
    if (group.close + 1 == cells.size()) return middles;
    return join(middles, expand(slice(cells, group.close + 1, cells.size()), depth + 1));
  }

  bool complete() const { return complete_; }

 private:
  std::vector<Cells> inside(const Cells& cells, const Group& group, int depth) {
    const Cells content = slice(cells, group.open + 1, group.close);
    const bool listed = std::any_of(content.begin(), content.end(),
                                    [](const Cell& cell) { return cell.mark == Mark::plain && cell.c == ','; });
    if (listed) return list(content, depth);
    std::vector<Cells> out = range(content);
    if (out.empty()) out.push_back(slice(cells, group.open, group.close + 1));
    return out;
  }

  std::vector<Cells> list(const Cells& content, int depth) {
    std::vector<Cells> out;
    int level = 0;
    std::size_t from = 0;
    for (std::size_t i = 0; i <= content.size(); ++i) {
      if (is_plain(content, i, '{')) ++level;
      if (is_plain(content, i, '}') && level > 0) --level;
      if (i < content.size() && !(is_plain(content, i, ',') && level == 0)) continue;
      for (Cells& word : expand(slice(content, from, i), depth + 1)) add(out, std::move(word));
      from = i + 1;
    }
    return out;
  }

  /// The terms of `1..9..2`; empty if it is no range.
  std::vector<Cells> range(const Cells& content) {
    std::string text;
    for (const Cell& cell : content) {
      if (cell.mark != Mark::plain) return {};
      text.push_back(cell.c);
    }
    const std::string_view whole = text;
    const std::size_t dots = whole.find("..");
    if (dots == std::string_view::npos) return {};
    const std::string_view rest = whole.substr(dots + 2);
    const std::size_t more = rest.find("..");
    const bool stepped = more != std::string_view::npos && more + 2 < rest.size();
    const std::optional<RangeEnd> from = read_end(whole.substr(0, dots));
    const std::optional<RangeEnd> to = read_end(stepped ? rest.substr(0, more) : rest);
    const std::optional<std::int64_t> step = stepped ? read_number(rest.substr(more + 2)) : 1;
    if (!from || !to || !step || from->letter != to->letter) return {};
    return terms(*from, *to, *step);
  }

  std::vector<Cells> terms(const RangeEnd& from, const RangeEnd& to, std::int64_t step) {
    const bool pads = !from.letter && (is_padded(from.text) || is_padded(to.text));
    const std::size_t width = pads ? std::max(from.text.size(), to.text.size()) : 0;
    constexpr std::int64_t kFar = std::int64_t{1} << 40;
    const auto is_far = [](std::int64_t n) { return n > kFar || n < -kFar; };
    if (is_far(from.value) || is_far(to.value) || is_far(step)) {
      complete_ = false;
      return {};
    }
    if (step == 0) step = 1;
    if ((from.value > to.value) != (step < 0)) step = -step;
    std::vector<Cells> out;
    for (std::int64_t n = from.value; step > 0 ? n <= to.value : n >= to.value; n += step) {
      Cells term;
      const std::string text = from.letter ? std::string(1, static_cast<char>(n)) : padded(n, width);
      for (const char c : text) term.push_back({c, Mark::quoted});
      if (!add(out, std::move(term))) break;
    }
    return out;
  }

  std::vector<Cells> join(const std::vector<Cells>& heads, const std::vector<Cells>& tails) {
    std::vector<Cells> out;
    for (const Cells& head : heads) {
      for (const Cells& tail : tails) {
        Cells word = head;
        word.insert(word.end(), tail.begin(), tail.end());
        if (!add(out, std::move(word))) return out;
      }
    }
    return out;
  }

  bool add(std::vector<Cells>& out, Cells&& word) {
    cells_ += word.size();
    if (out.size() >= kMaxWords || cells_ > kMaxCells) {
      complete_ = false;
      return false;
    }
    out.push_back(std::move(word));
    return true;
  }

  std::size_t cells_ = 0;
  bool complete_ = true;
};

}  // namespace

BraceExpansion expand_braces(const Cells& word) {
  Expander expander;
  BraceExpansion out;
  out.words = expander.expand(word, 0);
  out.complete = expander.complete();
  if (out.words.empty()) out.words.push_back(word);
  return out;
}

}  // namespace escrow::engine
