#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lazy_regex.h"
#include "engine/removed_protection.h"
#include "engine/rules.h"

// A protection can stay in its place and hold less: a removed line and an added one that differ in one spot are
// compared there.
//   1. a condition has one term fewer, or one more that lets in;
//   2. a pattern loses an anchor (alone or as an item of a list), or a class of characters becomes "anything";
//   3. a limit is raised by an order of magnitude, or to no limit at all, or a bound moves by a step;
//   4. an argument list becomes one text for a shell.

namespace escrow::engine {
namespace {

constexpr std::size_t kMaxPairedLines = 12;  // larger blocks are rewrites, and pairing is quadratic
constexpr int kDoubtful = 35;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// --- One spot in which two lines differ
// ---------------------------------------------------------------------------------

struct Edit {
  std::string_view before, now;     // the lines
  std::string_view was, is;         // what differs
  std::string_view prefix, suffix;  // what does not
};

/// The spot in which two lines differ. Looks into the lines, which must outlive it.
Edit compare_lines(std::string_view before, std::string_view now) {
  Edit edit{before, now, {}, {}, {}, {}};
  const std::size_t shorter = std::min(edit.before.size(), edit.now.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && edit.before[head] == edit.now[head]) ++head;
  while (tail < shorter - head && edit.before[edit.before.size() - 1 - tail] == edit.now[edit.now.size() - 1 - tail])
    ++tail;
  edit.prefix = before.substr(0, head);
  edit.suffix = before.substr(before.size() - tail);
  edit.was = before.substr(head, before.size() - head - tail);
  edit.is = now.substr(head, now.size() - head - tail);
  return edit;
}

/// Neither line is rewritten by more than half.
bool is_small(const Edit& edit) {
  const std::size_t same = trimmed(edit.prefix).size() + trimmed(edit.suffix).size();
  const std::size_t longest = std::max(trimmed(edit.before).size(), trimmed(edit.now).size());
  return same * 2 >= longest;
}

// --- 1. Terms of a condition
// --------------------------------------------------------------------------------------------

struct Terms {
  std::vector<std::string> all;
  std::size_t ands = 0, ors = 0;
};

/// The text between the condition's word and its block: `if (a && b) {` → `a && b`.
std::string_view condition_of(std::string_view line) {
  static const LazyRegex head(
      R"re(^\s*\}?\s*(?:(?:else\s+if|elif|elsif|if|unless|while|return|guard|when|assert)\b\s*|[\w.$*>-]+\s*:?=\s*|(?:const|let|var|bool|boolean|auto|val)\s+\w+\s*:?=\s*)(.*))re");
  std::string_view text = trimmed(head.capture(line));
  while (!text.empty() && (text.back() == '{' || text.back() == ':' || text.back() == ';' || is_blank(text.back())))
    text.remove_suffix(1);
  if (text.ends_with(" then")) text.remove_suffix(5);
  return text;
}

/// Parentheses tell terms apart, and say nothing about what they check.
std::string bare_term(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!is_blank(c) && c != '(' && c != ')') out += c;
  }
  return out;
}

Terms terms_of(std::string_view condition) {
  static const LazyRegex link(R"re(&&|\|\||\band\b|\bor\b)re");
  Terms terms;
  std::size_t from = 0, begin = 0, end = 0;
  while (link.find(condition, from, begin, end)) {
    const bool is_and = condition[begin] == '&' || condition[begin] == 'a';
    (is_and ? terms.ands : terms.ors) += 1;
    terms.all.push_back(bare_term(condition.substr(from, begin - from)));
    from = end;
  }
  terms.all.push_back(bare_term(condition.substr(from)));
  std::erase_if(terms.all, [](const std::string& term) { return term.empty(); });
  std::sort(terms.all.begin(), terms.all.end());
  return terms;
}

/// Terms that are not what the check is about: whether there was an error, whether the value is there at all.
bool is_formality(const std::string& term) {
  static const LazyRegex regex(
      R"re((?i)^!?(?:\w*err(?:or)?\w*|ok|e|ex)(?:[!=]=+(?:nil|null))?$|errors\.(?:Is|As)|[!=]==?(?:nil|null|None|undefined|NULL|nullptr)$|^\w+isnotNone$|^!?debug)re");
  return regex.matches(term);
}

/// `limit && size > limit`: the term only asks whether another one can be asked.
bool is_precondition(const std::string& term, const Terms& of) {
  return std::any_of(of.all.begin(), of.all.end(), [&](const std::string& other) {
    return other.size() > term.size() && other.find(term) != std::string::npos;
  });
}

struct TermChange {
  std::vector<std::string> gone, come;
};

TermChange compare_terms(const Terms& before, const Terms& now) {
  TermChange change;
  std::set_difference(before.all.begin(), before.all.end(), now.all.begin(), now.all.end(),
                      std::back_inserter(change.gone));
  std::set_difference(now.all.begin(), now.all.end(), before.all.begin(), before.all.end(),
                      std::back_inserter(change.come));
  return change;
}

void find_changed_terms(const FileView& file, const HunkView& hunk, std::size_t added, const Edit& edit,
                        Findings& findings) {
  const std::string_view old_condition = condition_of(edit.before), new_condition = condition_of(edit.now);
  if (old_condition.empty() || new_condition.empty()) return;
  const Terms before = terms_of(old_condition), now = terms_of(new_condition);
  const TermChange change = compare_terms(before, now);
  // Only a term that went or came, and nothing else.
  if (change.gone.empty() == change.come.empty()) return;
  if (change.gone.size() == before.all.size() || change.come.size() == now.all.size()) return;
  const auto& moved = change.gone.empty() ? change.come : change.gone;
  const Terms& whole = change.gone.empty() ? now : before;
  const bool says_nothing = std::all_of(moved.begin(), moved.end(), [&](const std::string& term) {
    return is_formality(term) || is_precondition(term, whole);
  });
  if (says_nothing) return;
  const bool refuses = denies_soon(hunk, added, LineKind::removed) && edit.now.find("return ") == std::string::npos;
  const bool access = is_about_access(file, hunk, added);
  const bool fewer_refusals = refuses && ((!change.gone.empty() && before.ors > now.ors && before.ands == now.ands) ||
                                          (!change.come.empty() && now.ands > before.ands && before.ors == now.ors));
  const bool more_ways_in = !refuses && access &&
                            ((!change.gone.empty() && before.ands > now.ands && before.ors == now.ors) ||
                             (!change.come.empty() && now.ors > before.ors && before.ands == now.ands));
  const std::uint32_t line = hunk.lines()[added].new_line;
  if (more_ways_in || (fewer_refusals && access)) {
    findings.add(file,
                 {.rule = "auth-check-removed", .line = line, .message = "the access check demands less than before"});
  } else if (fewer_refusals) {
    findings.add(file, {.rule = "validation-removed",
                        .line = line,
                        .weight = change.gone.empty() ? kDoubtful : 0,
                        .message = "the check refuses less than before"});
  }
}

/// `|| too_long(x)` on a line of its own that is gone, in a condition that refuses.
void find_removed_terms(const FileView& file, const HunkView& hunk, const ChangedBlock& block, Findings& findings) {
  static const LazyRegex leading(R"re(^\s*(?:\|\||or\b)\s*\S)re");
  static const LazyRegex leading_and(R"re(^\s*(?:&&|and\b)\s*\S)re");
  constexpr std::size_t kLongestCondition = 12;
  const std::size_t first = block.removed.front();
  const std::string text = hunk.text_of(first);
  const bool is_or = leading.matches(text), is_and = !is_or && leading_and.matches(text);
  if (!is_or && !is_and) return;
  static const LazyRegex body(R"re(^\s*(?:\|\||&&|or\b|and\b)\s*(.*?)\s*[({:)]*\s*$)re");
  const std::string_view term = body.capture(text);
  const bool stays = std::any_of(hunk.lines().begin(), hunk.lines().end(), [&](const DiffLine& line) {
    return line.kind != LineKind::removed && !term.empty() && line.text.find(term) != std::string::npos;
  });
  if (stays) return;
  bool refuses = false;
  for (std::size_t i = first, seen = 0; i < hunk.lines().size() && seen < kLongestCondition && !refuses; ++i) {
    if (hunk.lines()[i].kind == LineKind::removed) continue;
    refuses = denies_soon(hunk, i, LineKind::removed);
    ++seen;
  }
  if (is_or && refuses) {
    findings.add(file, {.rule = "validation-removed",
                        .line = hunk.lines()[first].new_line,
                        .message = "the check refuses less than before"});
  } else if (is_and && !refuses && is_about_access(file, hunk, first)) {
    findings.add(file, {.rule = "auth-check-removed",
                        .line = hunk.lines()[first].new_line,
                        .message = "the access check demands less than before"});
  }
}

// --- 2. Patterns
// --------------------------------------------------------------------------------------------------------

bool is_about_pattern(std::string_view line) {
  static const LazyRegex regex(
      R"re((?i)regex|\bre\.\w+\(|_re\b|\bmatch\w*|\.test\(|=~|pattern|\bpreg_|\bgrep\b|%r[{|(]|=\s*/|\(/[^/]|:\s*/[^/])re");
  return regex.matches(line);
}

/// Ends of a text that the pattern pins down.
std::size_t count_anchors(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char before = i == 0 ? '"' : text[i - 1];
    const char after = i + 1 < text.size() ? text[i + 1] : '"';
    if (text[i] == '^' && (before == '"' || before == '\'' || before == '/' || before == '`' || before == '(' ||
                           before == '{' || before == '|'))
      ++count;
    if (text[i] == '$' && before != '\\' &&
        (after == '"' || after == '\'' || after == '/' || after == '`' || after == ')' || after == '|' || after == '}'))
      ++count;
    if (text[i] == '\\' && (after == 'A' || after == 'z' || after == 'Z')) ++count;
  }
  return count;
}

std::string without_anchors(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (text[i] == '\\' && (next == 'A' || next == 'z' || next == 'Z'))
      ++i;
    else if (text[i] != '^' && text[i] != '$')
      out += text[i];
  }
  return out;
}

void find_looser_pattern(const FileView& file, const HunkView& hunk, std::size_t added, const Edit& edit,
                         Findings& findings) {
  static const LazyRegex class_of_characters(R"re(\[[^\]]+\]|\\[wdhH])re");
  static const LazyRegex anything(R"re((?:^|[^\\\])])\.[*+]|\\S[*+]|\[\\s\\S\])re");
  static const LazyRegex whole(R"re(\bfullmatch\s*\(|\.matches\s*\()re");
  static const LazyRegex part(R"re(\bre\.(?:match|search)\s*\(|\b\w+\.(?:match|search|find|lookingAt)\s*\()re");
  const std::uint32_t line = hunk.lines()[added].new_line;
  const auto report = [&](std::string_view message) {
    findings.add(file, {.rule = "validation-removed", .line = line, .message = std::string(message)});
  };
  if (whole.matches(edit.before) && !whole.matches(edit.now) && part.matches(edit.now) && edit.was.size() <= 16)
    return report("a match of the whole text became one of a part");
  if (!is_about_pattern(edit.before) || !is_about_pattern(edit.now)) return;
  const bool fewer_anchors = count_anchors(edit.before) > count_anchors(edit.now);
  if (fewer_anchors && without_anchors(edit.before) == without_anchors(edit.now))
    return report("the pattern no longer covers the whole text");
  if (!is_small(edit)) return;
  constexpr std::size_t kSpot = 24;  // bytes; a pattern that is longer elsewhere is another pattern
  if (edit.was.size() > kSpot || edit.is.size() > kSpot) return;
  if (fewer_anchors) return report("the pattern no longer covers the whole text");
  if (class_of_characters.matches(edit.was) && !class_of_characters.matches(edit.is) && anything.matches(edit.now) &&
      !anything.matches(edit.before))
    report("the pattern now lets any character through");
}

/// `/^https:\/\/app\.example$/,` or `r"^https://app",` on a line of its own: the pattern without its quotes.
std::string_view listed_pattern(std::string_view line) {
  static const LazyRegex regex(R"re(^\s*(?:-\s+)?(?:[rb]{0,2}["'`](.*)["'`]|/(.*)/[a-z]*)\s*,?\s*$)re");
  std::array<std::string_view, 3> groups;
  if (!regex.capture_all(line, groups)) return {};
  return groups[1].empty() ? groups[2] : groups[1];
}

/// The list that the line stands in says what may pass: its name is above, or in the hunk's heading.
bool is_in_allow_list(const HunkView& hunk, std::size_t index) {
  static const LazyRegex name(
      R"re((?i)(?:allow|permit|trust|accept|valid|safe|white|origin|redirect|host|pattern|domain|regex)\w*["']?\s*(?::[^=]*)?(?::|=>?|\()\s*(?:new\s+\w+\s*\()?\s*[\[{(]?\s*$)re");
  constexpr std::size_t kFarthest = 12;  // lines
  for (std::size_t i = index, seen = 0; i-- > 0 && seen < kFarthest; ++seen) {
    if (hunk.lines()[i].kind != LineKind::removed && name.matches(hunk.lines()[i].text)) return true;
  }
  return name.matches(hunk.hunk().section);
}

void find_looser_list_item(const FileView& file, const HunkView& hunk, std::size_t added, const Edit& edit,
                           Findings& findings) {
  if (edit.before.find_first_of("^$") == std::string_view::npos) return;
  const std::string_view before = listed_pattern(edit.before), now = listed_pattern(edit.now);
  if (before.empty() || now.empty()) return;
  // An anchor stands at an end of the text; the quotes that count_anchors looks for are cut off here.
  const auto pinned = [](std::string_view text) { return int{text.front() == '^'} + int{text.back() == '$'}; };
  if (pinned(before) <= pinned(now) || !is_in_allow_list(hunk, added)) return;
  if (without_anchors(before).find(without_anchors(now)) == std::string::npos) return;
  findings.add(file, {.rule = "validation-removed",
                      .line = hunk.lines()[added].new_line,
                      .message = "a pattern of the list no longer covers the whole text"});
}

// --- 3. Limits
// -----------------------------------------------------------------------------------------------------------

const LazyRegex& upper_limit() {
  static const LazyRegex regex(
      R"re((?i)(?:^|[^a-z])(?:max|limit|quota|rate_?limit|throttle|attempts?|retries|depth|upper|maxmemory|cap|capacity|burst|lives|ttl|expir\w*|timeout)|[a-z](?:Max|Limit|Quota|Attempts|Depth|Expir\w*|Ttl|TTL)|_(?:max|limit|quota|attempts|depth|size|len|length|bytes)\b|(?:Size|Length|Bytes)\b)re");
  return regex;
}

const LazyRegex& lower_limit() {
  static const LazyRegex regex(
      R"re((?i)(?:^|[^a-z])min(?:imum)?(?:_|[A-Z]|\b)\w*|[a-z]Min[A-Z]|iterations?|rounds?\b|salt_?rounds|\bcost\b|key_?(?:size|length|bits)|modulus|\bbits\b|work_?factor|\btokenLength\b|entropy)re");
  return regex;
}

/// A value that means "no limit".
bool is_boundless(std::string_view text) {
  static const LazyRegex regex(
      R"re(^\s*(?:\w+(?:\.|::))*(?:INT_MAX|U?INT(?:8|16|32|64)?_MAX|U?LL?ONG_MAX|SIZE_MAX|LONG_MAX|MAX_VALUE|MAX_SAFE_INTEGER|Infinity|POSITIVE_INFINITY|MaxInt(?:8|16|32|64)?|MaxUint(?:8|16|32|64)?|inf|maxsize|usize::MAX|MAX|None|null|nil|undefined|-1|0)\)?\s*$)re");
  return regex.matches(text);
}

/// The number, with `_` and `'` between digits left out; negative if the text is no number.
double number_in(std::string_view text) {
  std::string digits;
  for (const char c : trimmed(text)) {
    if (c == '_' || c == '\'') continue;
    digits += c;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size() && !digits.empty() ? value : -1;
}

bool is_number_part(char c) {
  return (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// Widens the differing spots to whole words: `1[0]` against `1[000]` is 10 against 1000.
void widen_to_words(Edit& edit) {
  const auto is_word = [](char c) { return is_number_part(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::size_t left = 0, right = 0;
  while (left < edit.prefix.size() && is_word(edit.prefix[edit.prefix.size() - 1 - left])) ++left;
  while (right < edit.suffix.size() && is_word(edit.suffix[right])) ++right;
  const auto widen = [&](std::string_view line, std::string_view spot) {
    const auto at = static_cast<std::size_t>(spot.data() - line.data()) - left;
    return line.substr(at, spot.size() + left + right);
  };
  edit.was = widen(edit.before, edit.was);
  edit.is = widen(edit.now, edit.is);
}

void find_raised_limit(const FileView& file, const HunkView& hunk, std::size_t added, Edit edit, Findings& findings) {
  constexpr double kFarBeyond = 10;
  widen_to_words(edit);
  const double before = number_in(edit.was), now = number_in(edit.is);
  if (before < 0) return;
  const bool upper = upper_limit().matches(edit.prefix), lower = lower_limit().matches(edit.prefix);
  const bool raised = now >= before * kFarBeyond && before > 0;
  const bool lowered = now >= 0 && now * 2 <= before && before > 1;
  std::string_view message;
  if (upper && !lower && before > 0 && is_boundless(edit.is)) {
    message = "the limit is gone";
  } else if (upper && !lower && raised) {
    message = "the limit is raised by far";
  } else if (lower && lowered) {
    message = "less is demanded than before";
  } else {
    return;
  }
  findings.add(file, {.rule = "validation-removed",
                      .line = hunk.lines()[added].new_line,
                      .weight = kDoubtful,
                      .message = std::string(message)});
}

/// `if (n < kHeader)` that becomes `if (n < kHeader - 1)`: the bound moved, and the check refuses less.
void find_shifted_bound(const FileView& file, const HunkView& hunk, std::size_t added, const Edit& edit,
                        Findings& findings) {
  static const LazyRegex step(R"re(^\s*[-+]\s*\d+\s*$)re");
  static const LazyRegex bound(R"re(([<>])=?\s*[\w.>()\[\]-]*[\w)\]]\s*$)re");
  const bool grew = edit.was.empty() && step.matches(edit.is), shrank = edit.is.empty() && step.matches(edit.was);
  if ((!grew && !shrank) || !denies_soon(hunk, added, LineKind::removed)) return;
  const std::string_view side = bound.capture(edit.prefix);
  if (side.empty()) return;
  const bool plus = trimmed(grew ? edit.is : edit.was).front() == '+';
  const bool higher = plus == grew;
  if ((side == ">") != higher) return;
  findings.add(file, {.rule = "validation-removed",
                      .line = hunk.lines()[added].new_line,
                      .weight = kDoubtful,
                      .message = "the bound moved, and lets more through"});
}

// --- 4. Argument lists
// --------------------------------------------------------------------------------------------------

void find_joined_arguments(const FileView& file, const HunkView& hunk, std::size_t added, const Edit& edit,
                           Findings& findings) {
  static const LazyRegex list(R"re((?:\[|\{|\()\s*["']([a-z][\w./-]*)["']\s*,\s*["'])re");
  static const LazyRegex variable(R"re(\$\{?\w|#\{|\+\s*\w|\.\s*\$|%s|%candidate|\{\w+\}|%\w+%)re");
  const std::string_view program = list.capture(edit.before);
  if (program.empty() || list.matches(edit.now)) return;
  const std::string joined = std::string(program) + " ";
  const std::size_t at = edit.now.find(joined);
  const bool in_string = at != std::string::npos && at > 0 &&
                         (edit.now[at - 1] == '"' || edit.now[at - 1] == '\'' || edit.now[at - 1] == '`');
  if (!in_string || !variable.matches(edit.now.substr(at))) return;
  findings.add(file, {.rule = "shell-exec",
                      .line = hunk.lines()[added].new_line,
                      .message = "an argument list became one text for a shell"});
}

/// The added line that is most like `before`; npos if there is none.
std::size_t most_alike(const HunkView& hunk, const ChangedBlock& block, std::string_view before) {
  constexpr std::size_t kLongest = 400;  // bytes; longer lines are data
  std::size_t best = std::string::npos, alike = 0;
  if (before.size() > kLongest) return best;
  for (const std::size_t a : block.added) {
    const std::string& text = hunk.lines()[a].text;
    if (text.size() > kLongest) continue;
    const Edit edit = compare_lines(before, text);
    const std::size_t same = trimmed(edit.prefix).size() + trimmed(edit.suffix).size() + 1;
    if (same <= alike) continue;
    alike = same;
    best = a;
  }
  return best;
}

void compare_conditions(const FileView& file, const HunkView& hunk, std::size_t removed, std::size_t added,
                        Findings& findings) {
  const std::string before = hunk.text_of(removed), now = hunk.text_of(added);
  const Edit edit = compare_lines(before, now);
  if (edit.was.empty() && edit.is.empty()) return;
  find_joined_arguments(file, hunk, added, edit, findings);
  const bool is_test = file.facts.has(kTest);
  if (!is_test) find_looser_pattern(file, hunk, added, edit, findings);
  if (!is_test) find_looser_list_item(file, hunk, added, edit, findings);
  if (!is_small(edit)) return;
  if (is_condition(before)) find_changed_terms(file, hunk, added, edit, findings);
  if (!is_test && is_condition(before)) find_shifted_bound(file, hunk, added, edit, findings);
  if (!is_test) find_raised_limit(file, hunk, added, edit, findings);
}

}  // namespace

void find_loosened_conditions(const FileView& file, const HunkView& hunk, const ChangedBlock& block,
                              Findings& findings) {
  if (block.removed.empty()) return;
  if (block.added.empty()) find_removed_terms(file, hunk, block, findings);
  if (block.removed.size() > kMaxPairedLines || block.added.size() > kMaxPairedLines) return;
  for (const std::size_t r : block.removed) {
    const std::string& before = hunk.lines()[r].text;
    constexpr std::size_t kShortest = 6;  // bytes; a brace is alike to every other brace
    if (trimmed(before).size() < kShortest) continue;
    const std::size_t added = most_alike(hunk, block, before);
    if (added != std::string::npos) compare_conditions(file, hunk, r, added, findings);
  }
}

}  // namespace escrow::engine
