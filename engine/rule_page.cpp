#include "engine/rule_page.h"

#include <algorithm>

#include "engine/command_category.h"
#include "engine/decision_table.h"
#include "engine/diff_rule_table.h"
#include "engine/evaluate.h"
#include "engine/explain.h"
#include "engine/lane.h"
#include "engine/rule_examples.h"
#include "engine/text.h"

namespace escrow::engine {
namespace {

std::string code_block(std::string_view language, std::string_view text) {
  return "```" + std::string(language) + "\n" + std::string(text) + "```\n";
}

std::string in_code(std::string_view text) {
  return "`" + std::string(text) + "`";
}

/// In lines of at most 120 columns.
std::string wrapped(std::string_view text) {
  constexpr std::size_t kColumns = 120;
  std::string out;
  std::size_t column = 0;
  for (const auto& word : split_words(text)) {
    const bool fits = column + 1 + word.size() <= kColumns;
    if (column > 0) out += fits ? ' ' : '\n';
    column = (column > 0 && fits ? column + 1 : 0) + word.size();
    out += word;
  }
  return out;
}

std::string heading(const RuleText& text) {
  return "# " + in_code(text.id) + ": " + std::string(text.title) + "\n\n" + wrapped(text.why) + "\n\n";
}

std::string linked_cwes(std::string_view cwes) {
  std::string out;
  for (const auto& cwe : split_words(cwes)) {
    out += (out.empty() ? "" : ", ") + ("[" + cwe + "](" + cwe_page(cwe) + ")");
  }
  return out;
}

std::string row(std::string_view name, std::string_view value) {
  return value.empty() ? std::string() : "| " + std::string(name) + " | " + std::string(value) + " |\n";
}

// ---- Diff rules

std::string_view what_alone_does(const DiffRule& rule) {
  if (rule.is_context) return "it adds to other findings and never moves a change into a higher lane";
  switch (lane_of(rule.weight)) {
    case Lane::low:
      return "alone it leaves a change in the low lane";
    case Lane::medium:
      return "alone it puts a change into the medium lane";
    case Lane::high:
      return "alone it puts a change into the high lane";
  }
  return {};
}

std::string facts_of(const DiffRule& rule) {
  return "| about | proposed changes |\n|---|---|\n" + row("severity", name_of(rule.severity)) +
         row("weight", std::to_string(rule.weight) + " of 100: " + std::string(what_alone_does(rule))) +
         row("weakness", linked_cwes(rule.cwe)) + "\n";
}

PatchEvaluation judged(const ExampleChange& change) {
  return evaluate(parse_diff(to_diff(change, ExampleForm::real)), {.confidence = change.confidence}, builtin_policy());
}

/// `path:line: severity: message` of the rule's own finding.
std::string finding_line_of(const PatchEvaluation& verdict, std::string_view rule) {
  for (const Signal& signal : verdict.risk.signals) {
    if (signal.rule != rule) continue;
    return signal.file + (signal.line == 0 ? "" : ":" + std::to_string(signal.line)) + ": " +
           std::string(name_of(signal.severity)) + ": " + signal.message + "\n";
  }
  return {};
}

std::string note_on(const ExampleChange& change) {
  std::string out;
  if (change.lines.find(kShownToken) != std::string_view::npos) {
    out += in_code(kShownToken) + " stands for a whole token, which no page of ours spells out. ";
  }
  if (change.lines.find(kShownHidden) != std::string_view::npos) {
    out += in_code(kShownHidden) + " stands for that character, which could not be seen here. ";
  }
  if (change.repeat > 1) out += "The last line stands there " + std::to_string(change.repeat) + " times. ";
  if (change.confidence) out += "The agent's confidence is " + std::to_string(*change.confidence).substr(0, 3) + ". ";
  if (out.empty()) return out;
  out.back() = '\n';
  return out + "\n";
}

std::string shown(const ExampleChange& change) {
  return note_on(change) + code_block("diff", to_diff(change, ExampleForm::shown)) + "\n";
}

std::string verdict_text(const PatchEvaluation& verdict, std::string_view rule) {
  return code_block("", finding_line_of(verdict, rule)) + "\nThe change is in the " +
         std::string(name_of(verdict.lane)) + " lane, with " + std::to_string(verdict.risk.score) + " of 100.\n\n";
}

constexpr std::string_view kAcceptChange =
    "A person accepts it, never an agent: *Approve this hunk* on its lines, or *Approve all*; in a terminal\n"
    "`escrow review show ID`, then `escrow review approve ID`. What is approved is this very text: an edit asks "
    "again.\n";

std::string_view who_decides(const DiffRule& rule) {
  if (rule.is_context) return "There is nothing to accept: this alone decides nothing.\n";
  switch (lane_of(rule.weight)) {
    case Lane::low:
      return "There is nothing to accept: alone it leaves the change in the low lane, which applies by itself.\n";
    case Lane::medium:
      return "In the medium lane the change applies after the deep checks. Where the policy sets `human_review: true` "
             "for\nthat band, or where other findings lift the change into the high lane, a person decides.\n\n";
    case Lane::high:
      return "";
  }
  return {};
}

std::string acceptance_of(const DiffRule& rule) {
  std::string out = "## To accept it\n\n" + std::string(who_decides(rule));
  if (!rule.is_context && lane_of(rule.weight) != Lane::low) out += kAcceptChange;
  return out + "\n";
}

std::string diff_rule_page(const DiffRule& rule, const RuleText& text, const DiffRuleExample& example) {
  return heading(text) + facts_of(rule) + "## Found\n\n" + shown(example.fires) +
         verdict_text(judged(example.fires), rule.id) + "## Not found\n\n" + shown(example.silent) +
         acceptance_of(rule);
}

// ---- Command categories

/// The place the examples speak of.
Evaluation judged(std::string_view command) {
  ActionContext context;
  context.venue = Venue::cage;
  context.workspace_root = "/home/ada/app";
  context.home = "/home/ada";
  return evaluate(ShellAction{std::string(command), context.workspace_root}, context, builtin_policy());
}

std::string joined_codes(const std::vector<std::string>& ids) {
  std::string out;
  for (const auto& id : ids) out += (out.empty() ? "" : ", ") + in_code(id);
  return out;
}

std::string command_text(std::string_view command) {
  const auto verdict = judged(command).decision;
  return code_block("sh", std::string(command) + "\n") + "\nLevel " + std::string(name_of(verdict.risk.level)) + " (" +
         joined_codes(verdict.risk.categories) + "): in the sandbox, at medium autonomy, the answer is *" +
         std::string(name_of(verdict.verdict)) + "*.\n\n";
}

/// `allow-npm-install`: what an id may hold of the words.
std::string rule_id_of(std::string_view match) {
  std::string id = "allow";
  for (const auto& word : split_words(match)) {
    std::string plain;
    for (const char c : word) {
      const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (kept || (!plain.empty() && plain.back() != '-')) plain += kept ? lower(c) : '-';
    }
    if (plain.ends_with('-')) plain.pop_back();
    if (!plain.empty()) id += "-" + plain;
  }
  return id;
}

std::string policy_entry(std::string_view match, std::string_view example) {
  std::string list;
  for (const auto& word : split_words(match)) list += (list.empty() ? "" : ", ") + word;
  return code_block("yaml", "rules:\n  - id: " + rule_id_of(match) + "\n    effect: allow\n    command: [" + list +
                                "]\n    match: [\"" + std::string(example) + "\"]\n");
}

/// Words that stand in a shell line, in YAML and between quotes as they are.
bool is_plain(std::string_view match) {
  return match.find_first_of("'\"\\{}[]#&*!|>%`$;()<,?") == std::string_view::npos;
}

constexpr std::string_view kAcceptCommand =
    "A person answers the question: *Allow once*, *Allow for this session*, *Always allow here*. An agent cannot.\n";
constexpr std::string_view kNotRemembered = "This one can only be allowed once: to remember it would allow too much.\n";
constexpr std::string_view kNeverLifted =
    "Nothing lifts the level critical: no click, no grant, no policy. What an agent needs of it a person runs.\n"
    "The same category at a lower level asks, and can be allowed once, for the session or here.\n";
constexpr std::string_view kHostToo =
    "\nThe sandbox has no network all the same: allow the host as well, where it is refused, or ahead with\n"
    "`escrow grants allow network --match HOST:443`.\n";

std::string remembered(std::string_view command) {
  const auto match = suggest_match(ShellAction{std::string(command), "/home/ada/app"});
  if (match.empty()) return std::string(kNotRemembered);
  if (!is_plain(match)) return {};
  return "To remember it: `escrow grants allow shell --match '" + match +
         "'`,\nor a rule in your own policy (`~/.config/escrow/policy.yaml`; a workspace's file can only "
         "tighten):\n\n" +
         policy_entry(match, command);
}

std::string acceptance_of(const CategoryExample& example) {
  const auto decision = judged(example.fires).decision;
  std::string out = "## To accept it\n\n";
  if (decision.verdict == Verdict::allow) {
    return out +
           "There is nothing to accept: in the sandbox it is allowed unasked, unless autonomy is low. On the "
           "host,\nwithout the sandbox, whatever is more than reading asks.\n";
  }
  if (decision.verdict == Verdict::deny) return out + std::string(kNeverLifted);
  out += std::string(kAcceptCommand) + remembered(example.fires);
  const auto& categories = decision.risk.categories;
  const bool leaves = std::find(categories.begin(), categories.end(), "network") != categories.end();
  return leaves ? out + std::string(kHostToo) : out;
}

std::string category_page(const RuleText& text, const CategoryExample& example) {
  return heading(text) + "| about | commands |\n|---|---|\n" +
         row("clause", in_code("command." + std::string(text.id))) + "\n## Meets it\n\n" + command_text(example.fires) +
         "## Does not\n\n" + command_text(example.silent) + acceptance_of(example);
}

// ---- What cannot be read

constexpr std::string_view kUnreadExample = R"(--- a/src/clock.py
+++ b/src/clock.py
@@ -1,2 +1,9 @@
 import time
+start = time.monotonic()
)";
constexpr std::string_view kReadExample = R"(--- a/src/clock.py
+++ b/src/clock.py
@@ -1,1 +1,2 @@
 import time
+start = time.monotonic()
)";

std::string unread_page() {
  const PatchEvaluation verdict = evaluate(parse_diff(kUnreadExample), {}, builtin_policy());
  std::string issue;
  for (const std::string& note : verdict.notes) {
    if (note != kUnreadRule) issue = note;
  }
  return heading(unread_text()) + "| about | proposed changes |\n|---|---|\n" + row("severity", name_of(Level::high)) +
         row("score", "at least " + std::to_string(verdict.risk.score) + " of 100: the change is in the high lane") +
         "\n## Found\n\n" + code_block("", kUnreadExample) + "\nThe heading speaks of more lines than there are:\n\n" +
         code_block("", issue + "\n") + "\n## Not found\n\n" + code_block("", kReadExample) + "\n## To accept it\n\n" +
         wrapped(
             "Make the diff again, with `git diff` or `diff -u`, and leave it as it is: a hunk that was shortened by "
             "hand no longer has the length that its heading gives. What then can be read is judged line by line. A "
             "change that stays unreadable cannot be applied either.") +
         "\n";
}

// ---- The index

std::string linked(std::string_view id) {
  return "[" + in_code(id) + "](" + std::string(id) + ".md)";
}

std::string diff_table(bool context) {
  std::string out = "| rule | weight | severity | |\n|---|---|---|---|\n";
  for (const DiffRule& rule : diff_rules()) {
    if (rule.is_context != context) continue;
    out += "| " + linked(rule.id) + " | " + std::to_string(rule.weight) + " | " + std::string(name_of(rule.severity)) +
           " | " + std::string(find_rule_text(rule.id)->title) + " |\n";
  }
  return out;
}

std::string category_table() {
  std::string out = "| category | |\n|---|---|\n";
  for (const RuleText& text : command_category_texts()) {
    out += "| " + linked(text.id) + " | " + std::string(text.title) + " |\n";
  }
  return out;
}

constexpr std::string_view kIndexHead = R"(# Rules

What Escrow finds in changes and in commands. Each page says what it means, shows a case that is found and a close one
that is not, and how to accept it. `escrow rules ID` prints the same. All of it is written by `./dev rules` from the
tables that judge; edit those.

## In changes

)";

constexpr std::string_view kIndexSum = R"(
A score is 100 · (1 − (1 − w₁/100) · (1 − w₂/100) · …) over the distinct rules, each at its largest weight; seen again,
a rule adds 0.15 of its weight once. Up to 30 is the low lane, up to 70 the medium one, above it the high one. Only
added lines and removed protections count: taking a risk out never raises the score.

Weights bend to the place. Input from outside in the same hunk adds 25 to the rules about injection. In tests, fixtures,
vendored and generated files, rules about code count 0.4; in documentation and comments, nothing. Known placeholders
and the examples of providers are no secrets.

These add to what else was found, and decide nothing alone:

)";

constexpr std::string_view kIndexUnread = R"(
A change that cannot be read is in the high lane, with at least 71 ([`parse-error`](parse-error.md)): what could not be
read could hold anything.

Rules of a policy file (`diff_rules`) count like these, under ids of their own: `own.no-print` is the rule `no-print`.
They have no page; their message says what they mean, and `escrow policy show` where they stand.

## In commands

A command has a level (none, low, medium, high, critical) and the categories that say why. In the sandbox, at medium
autonomy, none and low are allowed, medium and high ask, critical is denied.

)";

}  // namespace

std::vector<std::string_view> rule_page_ids() {
  std::vector<std::string_view> ids;
  for (const DiffRule& rule : diff_rules()) ids.push_back(rule.id);
  ids.push_back(kUnreadRule);
  const auto categories = ids.size();
  for (const RuleText& text : command_category_texts()) ids.push_back(text.id);
  std::sort(ids.begin() + static_cast<std::ptrdiff_t>(categories), ids.end());
  return ids;
}

std::string rule_page(std::string_view id) {
  const RuleText* text = find_rule_text(id);
  if (text == nullptr) return {};
  if (id == kUnreadRule) return unread_page();
  std::string page;
  if (const DiffRule* rule = find_diff_rule(id); rule != nullptr) {
    page = diff_rule_page(*rule, *text, *find_diff_rule_example(id));
  } else {
    page = category_page(*text, *find_category_example(id));
  }
  while (page.ends_with("\n\n")) page.pop_back();
  return page;
}

std::string rule_index() {
  return std::string(kIndexHead) + diff_table(false) + std::string(kIndexSum) + diff_table(true) +
         std::string(kIndexUnread) + category_table();
}

std::string cwe_page(std::string_view cwe) {
  constexpr std::string_view kPrefix = "CWE-";
  if (!cwe.starts_with(kPrefix)) return {};
  return "https://cwe.mitre.org/data/definitions/" + std::string(cwe.substr(kPrefix.size())) + ".html";
}

}  // namespace escrow::engine
