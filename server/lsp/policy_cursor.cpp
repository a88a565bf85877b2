#include "server/lsp/policy_cursor.h"

#include <algorithm>
#include <vector>

#include "server/store/policy_keys.h"

// A small reader of the YAML that people write into policy files: block mappings and lists by indentation, flow
// mappings and lists by their brackets. It reads up to the cursor and remembers the keys that are open there; what it
// does not understand it passes over.

namespace escrow::server::lsp {
namespace {

/// One open collection or key.
struct Open {
  enum class Kind { block_key, block_item, flow_map, flow_list };
  Kind kind;
  std::size_t indent = 0;  ///< of block ones
  std::string key;         ///< of a block_key; the key being read in a flow_map
  std::size_t colon = 0;   ///< of a block_key
};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

class CursorReader {
 public:
  CursorReader(std::string_view text, std::size_t offset) : text_(text), offset_(std::min(offset, text.size())) {}

  PolicyCursor read() {
    for (std::size_t line = 0; line <= offset_ && line <= text_.size();) {
      const std::size_t end = std::min(text_.find('\n', line), text_.size());
      read_line(line, std::min(end, offset_), end);
      if (end >= offset_ || end == text_.size()) break;
      line = end + 1;
    }
    return finish();
  }

 private:
  bool in_flow() const {
    return !open_.empty() && (open_.back().kind == Open::Kind::flow_map || open_.back().kind == Open::Kind::flow_list);
  }

  /// `stop` is the end of what is read: the line's end, or the cursor. `end` is the line's.
  void read_line(std::size_t begin, std::size_t stop, std::size_t end) {
    std::size_t at = begin;
    if (in_flow()) return read_flow(at, stop);
    std::size_t indent = 0;
    while (at < end && text_[at] == ' ') ++at, ++indent;
    const bool cursor_here = stop < end || end >= offset_;
    if (at >= end || text_[at] == '#') {
      // A blank line: where the cursor stands says how deep it is.
      if (cursor_here && offset_ >= begin) close_down_to(offset_ - begin, false);
      return;
    }
    read_block(at, indent, stop, end);
  }

  void read_block(std::size_t at, std::size_t indent, std::size_t stop, std::size_t end) {
    while (at < end && text_[at] == '-' && (at + 1 == end || text_[at + 1] == ' ')) {
      close_down_to(indent, true);
      open_.push_back({Open::Kind::block_item, indent, {}, 0});
      ++at, ++indent;
      while (at < end && text_[at] == ' ') ++at, ++indent;
    }
    close_down_to(indent, false);
    if (at < end && (text_[at] == '{' || text_[at] == '[')) return read_flow(at, stop);
    const std::size_t colon = key_end(at, end);
    if (colon == std::string_view::npos || colon >= stop) return;  // a key that is being typed
    open_.push_back({Open::Kind::block_key, indent, unquoted(text_.substr(at, colon - at)), colon});
    read_flow(colon + 1, stop);
  }

  /// The `:` that ends a plain or quoted key, or npos.
  std::size_t key_end(std::size_t at, std::size_t end) const {
    for (std::size_t i = at; i < end; ++i) {
      if (text_[i] == '#') return std::string_view::npos;
      if (text_[i] == ':' && (i + 1 == text_.size() || text_[i + 1] == ' ' || text_[i + 1] == '\n')) return i;
    }
    return std::string_view::npos;
  }

  /// A list may stand at the indent of its key, an item's siblings at its own.
  void close_down_to(std::size_t indent, bool is_item) {
    const auto stays = [&](const Open& one) {
      if (one.indent < indent) return true;
      return is_item && one.indent == indent && one.kind == Open::Kind::block_key;
    };
    while (!open_.empty() && !stays(open_.back())) open_.pop_back();
  }

  void read_flow(std::size_t at, std::size_t stop) {
    std::string word;
    for (; at < stop; ++at) {
      const char c = text_[at];
      if (c == '"' || c == '\'') {
        const std::size_t close = text_.find(c, at + 1);
        if (close == std::string_view::npos || close >= stop) return;
        word = text_.substr(at + 1, close - at - 1);
        at = close;
      } else if (c == '#' && at > 0 && text_[at - 1] == ' ') {
        return;
      } else if (c == '{' || c == '[') {
        open_.push_back({c == '{' ? Open::Kind::flow_map : Open::Kind::flow_list, 0, {}, 0});
        word.clear();
      } else if ((c == '}' || c == ']') && in_flow()) {
        open_.pop_back();
        word.clear();
      } else if (c == ',' && in_flow()) {
        open_.back().key.clear();
        word.clear();
      } else if (c == ':' && in_flow() && open_.back().kind == Open::Kind::flow_map) {
        open_.back().key = word;
        word.clear();
      } else if (is_word(c)) {
        word += c;
      }
    }
  }

  static std::string unquoted(std::string_view key) {
    while (!key.empty() && (key.front() == '"' || key.front() == '\'')) key.remove_prefix(1);
    while (!key.empty() && (key.back() == '"' || key.back() == '\'' || key.back() == ' ')) key.remove_suffix(1);
    return std::string(key);
  }

  /// The open keys as the table spells them; the last one apart where the cursor is at its value.
  PolicyCursor finish() {
    PolicyCursor out;
    find_word(out);
    std::vector<std::string> names;
    for (const Open& one : open_) {
      if (one.kind == Open::Kind::block_key) names.push_back(one.key);
      if (one.kind == Open::Kind::flow_map && !one.key.empty()) names.push_back(one.key);
      if (!is_list_mark(one, names)) continue;
      names.back() += "[]";
    }
    const bool value = !open_.empty() && is_at_value();
    if (value && !names.empty()) {
      out.at = PolicyCursor::At::value;
      out.name = names.back();
      names.pop_back();
      while (out.name.ends_with("[]")) out.name.resize(out.name.size() - 2);
    } else {
      out.name = std::string(text_.substr(out.begin, out.end - out.begin));
    }
    for (const auto& name : names) out.section = join(out.section, name);
    return out;
  }

  static bool is_list_mark(const Open& one, const std::vector<std::string>& names) {
    return (one.kind == Open::Kind::block_item || one.kind == Open::Kind::flow_list) && !names.empty() &&
           !names.back().ends_with("[]");
  }

  bool is_at_value() const {
    const Open& last = open_.back();
    switch (last.kind) {
      case Open::Kind::flow_map:
        return !last.key.empty();
      case Open::Kind::flow_list:
        return true;
      case Open::Kind::block_item:
        return false;
      case Open::Kind::block_key:
        // On the key's own line; below it, deeper, a new key begins.
        return text_.substr(last.colon, offset_ - last.colon).find('\n') == std::string_view::npos;
    }
    return false;
  }

  void find_word(PolicyCursor& out) const {
    out.begin = out.end = offset_;
    while (out.begin > 0 && is_word(text_[out.begin - 1])) --out.begin;
    while (out.end < text_.size() && is_word(text_[out.end])) ++out.end;
  }

  /// One step down, through an author's own name where the table has one.
  static std::string join(const std::string& section, const std::string& name) {
    const std::string prefix = section.empty() ? "" : section + ".";
    std::string bare = name;
    while (bare.ends_with("[]")) bare.resize(bare.size() - 2);
    const auto* above = section.empty() ? nullptr : find_policy_key(section);
    if (above != nullptr && above->shape == KeyShape::named) return prefix + "*";
    return prefix + name;
  }

  std::string_view text_;
  std::size_t offset_;
  std::vector<Open> open_;
};

}  // namespace

std::string PolicyCursor::path() const {
  const std::string prefix = section.empty() ? "" : section + ".";
  const auto* above = section.empty() ? nullptr : find_policy_key(section);
  return prefix + (above != nullptr && above->shape == KeyShape::named ? "*" : name);
}

PolicyCursor find_policy_cursor(std::string_view text, std::size_t offset) {
  // A key is read to its colon before the cursor: on the key itself the cursor is behind nothing yet.
  return CursorReader(text, offset).read();
}

}  // namespace escrow::server::lsp
