#include "server/store/json_places.h"

#include <algorithm>
#include <boost/json/stream_parser.hpp>

namespace escrow::server {
namespace {

/// Walks over valid JSON without building anything.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  bool is(char c) {
    blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!is(c)) return false;
    ++at_;
    return true;
  }

  /// The characters between the quotes, as written. Keys of ours hold no escapes.
  std::string string() {
    if (!take('"')) return {};
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    std::string out(text_.substr(begin, at_ - begin));
    take('"');
    return out;
  }

  /// Calls `member(key, offset of its value)`, which must walk over the value; `element` the same for arrays.
  template <class Member>
  void object(Member member) {
    if (!take('{')) return;
    while (at_ < text_.size() && !take('}')) {
      const std::string key = string();
      take(':');
      blanks();
      member(key, at_);
      if (!take(',') && !is('}')) return;
    }
  }

  template <class Element>
  void array(Element element) {
    if (!take('[')) return;
    while (at_ < text_.size() && !take(']')) {
      blanks();
      element(at_);
      if (!take(',') && !is(']')) return;
    }
  }

  /// Over a whole value; nesting is counted, not recursed into.
  void value() {
    blanks();
    std::size_t depth = 0;
    do {
      blanks();
      if (at_ >= text_.size()) return;
      const char c = text_[at_];
      if (c == '"') {
        string();
      } else {
        depth += c == '{' || c == '[' ? 1 : 0;
        depth -= (c == '}' || c == ']') && depth > 0 ? 1 : 0;
        scalar_or_mark();
      }
    } while (depth > 0);
  }

 private:
  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  void scalar_or_mark() {
    static constexpr std::string_view kMarks = "{}[],:";
    if (kMarks.find(text_[at_]) != std::string_view::npos) {
      ++at_;
      return;
    }
    while (at_ < text_.size() && std::string_view("{}[],: \t\r\n\"").find(text_[at_]) == std::string_view::npos) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void note_member(JsonElement& element, const std::string& key, std::size_t offset) {
  // An escaped key could be one that is there already.
  const bool again = !element.members.emplace(key, offset).second || key.find('\\') != std::string::npos;
  if (again && element.repeated.empty()) element.repeated = key;
}

JsonElement read_element(Walker& walker, std::size_t offset) {
  JsonElement out;
  out.offset = offset;
  if (!walker.is('{')) {
    walker.value();
    return out;
  }
  walker.object([&](const std::string& key, std::size_t at) {
    note_member(out, key, at);
    walker.value();
  });
  return out;
}

}  // namespace

std::string place_of_offset(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return std::to_string(line) + ":" + std::to_string(column);
}

std::size_t end_of_json(std::string_view text) {
  boost::json::parse_options options;
  options.allow_invalid_utf8 = true;
  boost::json::stream_parser parser({}, options);
  boost::system::error_code error;
  const std::size_t read = parser.write_some(text.data(), text.size(), error);
  return std::min(read, text.size());
}

JsonMembers find_members(std::string_view text, std::string_view array) {
  JsonMembers out;
  Walker walker(text);
  walker.object([&](const std::string& key, std::size_t at) {
    note_member(out.root, key, at);
    if (key != array || !walker.is('[')) return walker.value();
    walker.array([&](std::size_t offset) { out.elements.push_back(read_element(walker, offset)); });
  });
  return out;
}

}  // namespace escrow::server
