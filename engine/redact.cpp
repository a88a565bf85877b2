#include "engine/redact.h"

#include <algorithm>
#include <string>

#include "engine/change_view.h"
#include "engine/diff_rule_table.h"
#include "engine/line_cursor.h"
#include "engine/line_pattern.h"
#include "engine/rules.h"
#include "engine/secrets.h"
#include "engine/unicode_scan.h"

namespace escrow::engine {
namespace {

/// A terminal's text without what moves or colours it, and where each byte came from.
struct PlainText {
  std::string text;
  std::vector<std::size_t> origins;  // empty: the text has no controls, and is itself

  std::string_view view(std::string_view whole) const { return origins.empty() ? whole : std::string_view(text); }
  std::size_t origin(std::size_t at) const { return origins.empty() ? at : origins[at]; }
};

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') || byte == 0x7f;
}

/// The length of the escape sequence at `at` (ECMA-48). Of an operating-system command only the frame: its text, such
/// as the address of a link, is text.
std::size_t escape_length(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  const auto in = [&](char from, char to) { return end < text.size() && text[end] >= from && text[end] <= to; };
  if (text[at] != '\x1b' || end >= text.size()) return 1;
  if (text[end] == ']') return 2;
  if (text[end] == '[') {
    ++end;
    while (in('0', '?')) ++end;
  }
  while (in(' ', '/')) ++end;
  return in('@', '~') || in('0', '?') ? end + 1 - at : end - at;
}

PlainText without_controls(std::string_view text) {
  PlainText plain;
  if (std::none_of(text.begin(), text.end(), is_control)) return plain;
  for (std::size_t at = 0; at < text.size();) {
    if (is_control(text[at])) {
      at += escape_length(text, at);
      continue;
    }
    plain.text += text[at];
    plain.origins.push_back(at++);
  }
  return plain;
}

/// A line that can stand between the BEGIN and END of a key: base64, a header, nothing; perhaps numbered, indented,
/// quoted, or marked by a diff.
bool is_key_body(std::string_view coloured) {
  static constexpr std::string_view kHeaders[] = {
      "Proc-Type:",    "DEK-Info:",      "Comment:",     "Version:",        "Encryption:",
      "Public-Lines:", "Private-Lines:", "Private-MAC:", "Key-Derivation:", "Argon2-"};
  constexpr std::string_view kAround = " \t\r\"',+|>\\";
  const PlainText plain = without_controls(coloured);
  std::string_view line = plain.view(coloured);
  while (line.ends_with("\\n") || line.ends_with("\\r")) line.remove_suffix(2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  if (digits > 0 && digits < line.size() && std::string_view(":-\t |").find(line[digits]) != std::string_view::npos)
    line.remove_prefix(digits + 1);
  const std::size_t first = line.find_first_not_of(kAround);
  if (first == std::string_view::npos) return true;
  line = line.substr(first, line.find_last_not_of(kAround) - first + 1);
  if (std::any_of(std::begin(kHeaders), std::end(kHeaders), [&](auto header) { return line.starts_with(header); }))
    return true;
  return std::all_of(line.begin(), line.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
           c == '=' || c == '-';
  });
}

/// Where the block of a private key ends: after the line with its END, or before the newline of the last line that can
/// be part of it (a text may well name the first line of a key without being one). `from` is the start of a line within
/// the block.
struct KeyEnd {
  std::size_t at = 0;
  bool open = false;  ///< the text ended within the block
};

KeyEnd end_of_key(std::string_view text, std::size_t from) {
  while (from < text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = text.substr(from, end - from);
    if (line.find("-----END") != std::string_view::npos) return {end, false};
    if (!is_key_body(line)) return {from > 0 ? from - 1 : 0, false};
    from = end + 1;
  }
  return {text.size(), true};
}

void append_escape(std::string& out, char32_t c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const int digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
  out += c < 0x100 ? "\\x" : c < 0x10000 ? "\\u" : "\\U";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kDigits[(c >> shift) & 0xF];
}

bool must_escape(char32_t c) {
  return c < 0x20 ? c != '\n' && c != '\t' : c == 0x7f || is_invisible(c);
}

void add_signal(std::vector<Signal>& out, std::string_view rule, std::uint32_t line, std::string message) {
  const DiffRule* known = find_diff_rule(rule);
  Signal signal{.rule = std::string(rule),
                .file = {},
                .line = line,
                .end_line = line,
                .severity = known->severity,
                .weight = known->weight,
                .message = std::move(message),
                .cwe = {}};
  if (signal.message.empty()) signal.message = known->message;
  out.push_back(std::move(signal));
}

const LineMatcher& instruction_matcher() {
  static const LineMatcher matcher{instruction_patterns()};
  return matcher;
}

void scan_line(std::string_view text, std::uint32_t number, std::vector<Signal>& out) {
  const PlainText plain = without_controls(text);
  for (const SecretMatch& match : find_secrets(plain.view(text), BareValues::count)) {
    add_signal(out, "secret-literal", number, describe_secret(plain.view(text), match) + " in the output");
  }
  if (const auto hidden = find_hidden_characters(text, HiddenText::in_prose))
    add_signal(out, "hidden-unicode", number, *hidden);
}

/// Orders to a model in one line of prose.
bool gives_orders(std::string_view text) {
  std::vector<PatternHit> hits;
  const PathFacts prose{.language = Language::prose, .roles = kDocs, .lower = {}};
  const KindMask kinds(text.size(), static_cast<char>(TextKind::code));
  instruction_matcher().match(
      prose, text, [&]() -> const KindMask& { return kinds; }, hits);
  return !hits.empty();
}

/// Two lines as the sentence that a wrapped text makes of them; empty if they are none.
std::string wrapped(std::string_view first, std::string_view second) {
  constexpr std::size_t kLongestWrapped = 400;
  constexpr std::string_view kMarks = " \t\r#*>/|-";
  const std::size_t start = second.find_first_not_of(kMarks);
  if (first.empty() || start == std::string_view::npos || first.size() + second.size() > kLongestWrapped) return {};
  return std::string(without_cr(first)) + ' ' + std::string(second.substr(start));
}

}  // namespace

std::string redact_piece(std::string_view text, bool& in_key) {
  const PlainText plain = without_controls(text);
  std::string out;
  std::size_t copied = 0;
  if (in_key) {
    const KeyEnd end = end_of_key(text, 0);
    // The newline before a line that is no part of the block went with the last piece.
    if (!end.open && end.at == 0 && !text.empty()) out += '\n';
    copied = end.at;
    in_key = end.open;
  }
  for (const SecretMatch& found : find_secrets(plain.view(text), BareValues::count)) {
    SecretMatch match = found;
    match.begin = plain.origin(found.begin);
    match.end = plain.origin(found.end - 1) + 1;
    if (match.begin < copied) continue;
    out += text.substr(copied, match.begin - copied);
    if (match.kind == "private key" || match.kind == "PuTTY private key") {
      out += "[redacted private key]";
      const std::size_t line_end = std::min(text.find('\n', match.end), text.size());
      const bool whole = text.substr(match.end, line_end - match.end).find("-----END") != std::string_view::npos;
      const KeyEnd end = whole ? KeyEnd{line_end, false} : end_of_key(text, line_end + 1);
      copied = std::min(end.at, text.size());
      in_key = end.open;
      continue;
    }
    out += plain.view(text).substr(found.begin, shown_prefix(found));
    out += "…[redacted]";
    copied = match.end;
  }
  out += text.substr(copied);
  return out;
}

std::string redact(std::string_view text) {
  bool in_key = false;
  return redact_piece(text, in_key);
}

std::string make_visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = read_code_point(text.substr(at));
    const bool invalid = point.value == 0xFFFD && point.length == 1;
    if (invalid) {
      append_escape(out, static_cast<unsigned char>(text[at]));
    } else if (must_escape(point.value)) {
      append_escape(out, point.value);
    } else {
      out += text.substr(at, point.length);
    }
    at += point.length;
  }
  return out;
}

std::string one_line(std::string_view text, std::size_t max) {
  constexpr std::string_view kEllipsis = "…";
  std::string out;
  for (const char c : make_visible(text)) {
    out += c == '\n' || c == '\t' ? ' ' : c;
  }
  if (out.size() <= max) return out;
  std::size_t end = max > kEllipsis.size() ? max - kEllipsis.size() : 0;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;
  out.resize(end);
  return max >= kEllipsis.size() ? out + std::string(kEllipsis) : out;
}

std::vector<Signal> scan_output(std::string_view text) {
  std::vector<Signal> out;
  LineCursor cursor(text);
  bool told = false;             // of orders in the line before, which then are no news in this one
  std::optional<bool> foreseen;  // whether this line gives orders, if that was asked already
  while (!cursor.at_end()) {
    const auto number = static_cast<std::uint32_t>(cursor.number());
    const std::string_view line = cursor.next();
    scan_line(line, number, out);
    const bool orders = foreseen ? *foreseen : gives_orders(line);
    foreseen.reset();
    bool split = false;
    if (!orders && !told && !cursor.at_end()) {
      foreseen = gives_orders(cursor.peek());
      split = !*foreseen && gives_orders(wrapped(line, cursor.peek()));
    }
    if (orders || split) add_signal(out, "prompt-injection", number, "");
    told = orders || split;
  }
  return out;
}

}  // namespace escrow::engine
