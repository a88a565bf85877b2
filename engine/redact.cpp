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

/// The fixed part of a provider's format says what it was; a free value says nothing.
std::size_t shown_prefix(const SecretMatch& match, std::size_t size) {
  const bool free_value = match.certainty == SecretCertainty::assigned || match.kind == "password in a URL" ||
                          match.kind == "basic credentials" || match.kind == "bearer token" ||
                          match.kind == "registry password" || match.kind == "Azure storage key";
  return free_value || size < 16 ? 0 : 4;
}

/// The block that a private key's first line opens is as secret as the line.
std::size_t end_of_key_block(std::string_view text, std::size_t from) {
  const std::size_t end = text.find("-----END", from);
  if (end == std::string_view::npos) return text.size();
  return std::min(text.find('\n', end), text.size());
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
  for (const SecretMatch& match : find_secrets(text, BareValues::count)) {
    add_signal(out, "secret-literal", number, describe_secret(text, match) + " in the output");
  }
  if (const auto hidden = find_hidden_characters(text, HiddenText::in_prose))
    add_signal(out, "hidden-unicode", number, *hidden);
  std::vector<PatternHit> hits;
  const PathFacts prose{.language = Language::prose, .roles = kDocs, .lower = {}};
  const KindMask kinds(text.size(), static_cast<char>(TextKind::code));
  instruction_matcher().match(
      prose, text, [&]() -> const KindMask& { return kinds; }, hits);
  if (!hits.empty()) add_signal(out, "prompt-injection", number, "");
}

}  // namespace

std::string redact(std::string_view text) {
  std::string out;
  std::size_t copied = 0;
  for (const SecretMatch& match : find_secrets(text, BareValues::count)) {
    if (match.begin < copied) continue;
    out += text.substr(copied, match.begin - copied);
    if (match.kind == "private key") {
      out += "[redacted private key]";
      copied = end_of_key_block(text, match.end);
      continue;
    }
    out += text.substr(match.begin, shown_prefix(match, match.end - match.begin));
    out += "…[redacted]";
    copied = match.end;
  }
  out += text.substr(copied);
  return out;
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
  while (!cursor.at_end()) {
    const auto number = static_cast<std::uint32_t>(cursor.number());
    scan_line(cursor.next(), number, out);
  }
  return out;
}

}  // namespace escrow::engine
