#include "engine/own_rules.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "engine/change_view.h"
#include "engine/findings.h"
#include "engine/line_cursor.h"
#include "engine/pattern_cost.h"
#include "engine/rule_match.h"
#include "engine/text.h"
#include "engine/unicode_scan.h"

namespace escrow::engine {
namespace {

constexpr std::int64_t kPatternMemory = 256 << 10;  // a program beyond it is refused when it is read
constexpr std::int64_t kSetMemory = 16 << 20;       // for all programs and the automaton made of them
constexpr int kHeaviest = 99;

/// Characters, not bytes: people write `[äöü]`. What is no UTF-8 is made so first, or a stray byte would be a hole in
/// every `.*`.
re2::RE2::Options own_options(std::int64_t memory) {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingUTF8);
  options.set_log_errors(false);
  options.set_max_mem(memory);
  return options;
}

std::string as_utf8(std::string_view line) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  out.reserve(line.size());
  for (std::size_t at = 0; at < line.size();) {
    const CodePoint point = read_code_point(line.substr(at));
    const bool invalid = point.value == 0xFFFD && point.length == 1;
    out += invalid ? kReplacement : line.substr(at, point.length);
    at += point.length;
  }
  return out;
}

re2::StringPiece as_piece(std::string_view text) {
  return {text.data(), text.size()};
}

bool any_glob_matches(const std::vector<std::string>& globs, std::string_view path) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return path_matches(glob, path); });
}

/// Doubt falls to the rule's side: letter case counts for what is left out, not for what is taken in.
bool speaks_of(const OwnRule& rule, const std::string& path) {
  if (any_glob_matches(rule.exclude, path)) return false;
  if (rule.paths.empty() || any_glob_matches(rule.paths, path)) return true;
  const std::string folded = lower(path);
  return std::any_of(rule.paths.begin(), rule.paths.end(),
                     [&](const std::string& glob) { return path_matches(lower(glob), folded); });
}

std::vector<char> rules_about(const FileView& file, const std::vector<OwnRule>& rules) {
  const FilePatch& patch = *file.patch;
  std::vector<char> out;
  for (const OwnRule& rule : rules) {
    const std::string& side = rule.on == LineSide::added ? patch.new_path : patch.old_path;
    out.push_back(speaks_of(rule, side.empty() ? patch.path() : side) ? 1 : 0);
  }
  return out;
}

Signal signal_of(const OwnRule& rule, const FileView& file, const DiffLine& line) {
  Signal signal;
  signal.rule = signal_id(rule);
  signal.file = file.patch->path();
  signal.line = line.new_line;
  signal.end_line = line.new_line;
  signal.severity = rule.severity;
  signal.weight = std::min(rule.weight, kHeaviest);
  signal.message = rule.message;
  signal.cwe = rule.cwe;
  return signal;
}

}  // namespace

/// The rules about one side of a change. RE2 may give up on a set for want of memory; then each pattern
/// is asked by itself, which takes longer and is never wrong.
class OwnRules::SidePatterns {
 public:
  void add(const OwnRule& rule, std::size_t index) {
    if (set_.Add(as_piece(rule.pattern), nullptr) < 0) {
      unreadable_.push_back(index);
      return;
    }
    rules_.push_back(index);
    patterns_.push_back(rule.pattern);
  }

  void compile() { usable_ = !rules_.empty() && set_.Compile(); }

  void find(std::string_view line, std::vector<std::size_t>& out) const {
    out.insert(out.end(), unreadable_.begin(), unreadable_.end());
    if (rules_.empty()) return;
    std::vector<int> found;
    re2::RE2::Set::ErrorInfo error{re2::RE2::Set::kNoError};
    const bool any = usable_ && set_.Match(as_piece(line), &found, &error);
    if (!usable_ || (!any && error.kind != re2::RE2::Set::kNoError)) found = find_one_by_one(line);
    for (const int number : found) out.push_back(rules_[static_cast<std::size_t>(number)]);
  }

 private:
  std::vector<int> find_one_by_one(std::string_view line) const {
    std::call_once(once_, [this] {
      for (const std::string& pattern : patterns_)
        alone_.push_back(std::make_unique<re2::RE2>(pattern, own_options(kPatternMemory)));
    });
    std::vector<int> found;
    for (std::size_t i = 0; i < alone_.size(); ++i) {
      if (!alone_[i]->ok() || re2::RE2::PartialMatch(as_piece(line), *alone_[i])) found.push_back(static_cast<int>(i));
    }
    return found;
  }

  re2::RE2::Set set_{own_options(kSetMemory), re2::RE2::UNANCHORED};
  bool usable_ = false;
  std::vector<std::size_t> rules_, unreadable_;
  std::vector<std::string> patterns_;
  mutable std::once_flag once_;
  mutable std::vector<std::unique_ptr<re2::RE2>> alone_;
};

struct OwnRules::Compiled {
  explicit Compiled(std::vector<OwnRule> all) : rules(std::move(all)) {}

  const std::array<SidePatterns, 2>& sides() const {
    std::call_once(once, [this] {
      for (std::size_t i = 0; i < rules.size(); ++i) by_side[static_cast<std::size_t>(rules[i].on)].add(rules[i], i);
      for (SidePatterns& side : by_side) side.compile();
    });
    return by_side;
  }

  const std::vector<OwnRule> rules;
  mutable std::once_flag once;
  mutable std::array<SidePatterns, 2> by_side;  // added, removed
};

namespace {

/// What one rule has found in a change.
struct RuleHits {
  std::vector<Signal> signals;
  std::size_t more = 0;  ///< lines beyond the limit
};

void find_in_file(const FileView& file, const OwnRules& rules, std::vector<RuleHits>& seen) {
  const std::vector<char> about = rules_about(file, rules.list());
  if (std::count(about.begin(), about.end(), 1) == 0) return;
  for (const HunkView& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines()) {
      if (line.kind == LineKind::context) continue;
      const LineSide side = line.kind == LineKind::added ? LineSide::added : LineSide::removed;
      for (const std::size_t index : rules.matching(side, line.text)) {
        if (about[index] == 0) continue;
        if (seen[index].signals.size() < kMaxRuleSignals) {
          seen[index].signals.push_back(signal_of(rules.list()[index], file, line));
        } else {
          ++seen[index].more;
        }
      }
    }
  }
}

}  // namespace

std::string signal_id(const OwnRule& rule) {
  return "own." + rule.id;
}

Level severity_of_weight(int weight) {
  return weight <= 30 ? Level::low : weight <= 70 ? Level::medium : Level::high;
}

std::optional<std::string> pattern_fault(const std::string& pattern) {
  if (pattern.size() > kMaxPatternBytes)
    return "is longer than " + std::to_string(kMaxPatternBytes) + " bytes; write two rules";
  const re2::RE2 compiled(pattern, own_options(kPatternMemory));
  if (!compiled.ok()) {
    return "cannot be read (" + compiled.error() +
           "); allowed here: a regular expression of RE2, which has no look-around and no back-references";
  }
  if (static_cast<std::size_t>(compiled.ProgramSize()) > kMaxPatternSteps) {
    return "costs too much: " + std::to_string(compiled.ProgramSize()) + " steps, of " +
           std::to_string(kMaxPatternSteps) + " allowed here; repeat less often than in {1000}";
  }
  if (re2::RE2::PartialMatch("", compiled)) return "is found in an empty line, so in every line; `.` is for any text";
  return std::nullopt;
}

std::size_t pattern_steps(const std::string& pattern) {
  const re2::RE2 compiled(pattern, own_options(kPatternMemory));
  return compiled.ok() ? static_cast<std::size_t>(compiled.ProgramSize()) : 0;
}

OwnRules::OwnRules(std::vector<OwnRule> rules)
    : compiled_(rules.empty() ? nullptr : std::make_shared<const Compiled>(std::move(rules))) {}

const std::vector<OwnRule>& OwnRules::list() const {
  static const std::vector<OwnRule> kNone;
  return compiled_ == nullptr ? kNone : compiled_->rules;
}

std::vector<std::size_t> OwnRules::matching(LineSide side, std::string_view line) const {
  std::vector<std::size_t> out;
  if (compiled_ == nullptr) return out;
  const SidePatterns& patterns = compiled_->sides()[static_cast<std::size_t>(side)];
  const std::string_view text = without_cr(line);
  if (is_ascii(text)) {
    patterns.find(text, out);
  } else {
    patterns.find(as_utf8(text), out);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void find_own_rules(const ChangeView& change, const OwnRules& rules, Findings& findings) {
  const std::vector<OwnRule>& list = rules.list();
  if (list.empty()) return;
  std::vector<RuleHits> seen(list.size());
  for (const FileView& file : change.files) find_in_file(file, rules, seen);
  for (RuleHits& one : seen) {
    if (one.more > 0) one.signals.back().message += " (and " + std::to_string(one.more) + " lines more)";
    for (Signal& signal : one.signals) findings.add(std::move(signal));
  }
}

}  // namespace escrow::engine
