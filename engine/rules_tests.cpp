#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "engine/lazy_regex.h"
#include "engine/rules.h"

namespace escrow::engine {
namespace {

const LazyRegex& skip_mark() {
  static const LazyRegex regex(
      R"re(\bt\.Skip(?:f|Now)?\(|@(?:pytest\.mark\.|unittest\.)?(?:skip|skipIf|skipUnless|xfail|expectedFailure)\b|\bpytest\.skip\(|\bself\.skipTest\(|\b(?:it|test|describe|context|suite)\.(?:skip|todo|only|failing|fixme)\b|(?:^|[^\w.])(?:xit|xdescribe|xtest|xcontext|xspecify|fit|fdescribe)\s*(?:\(|["'])|@Disabled\b|@Ignore\b|\[Ignore\b|\bSkip\s*=\s*"|#\[ignore\b|#\[cfg\(\s*(?:any\(\)|FALSE)\s*\)\]|^\s*(?:pending|skip)\b|\bmarkTestSkipped\(|\bmarkTestIncomplete\(|\bXCTSkip|@Test\s*\(\s*enabled\s*=\s*false|\bGTEST_SKIP\b|\bDISABLED_\w+)re");
  return regex;
}

const LazyRegex& empty_assertion() {
  static const LazyRegex regex(
      R"re(\bexpect\s*\(\s*(?:true|1)\s*\)\.(?:toBe|toEqual|to\.equal|to\.be)\w*\(?\s*(?:true|1)?|\bassert\s+(?:True|1)\s*(?:#|$)|\bassert(?:True|_true|\.ok|\.isTrue)?\s*\(\s*(?:true|True)\s*[,)]|\bassert\.(?:True|Equal)\(t,\s*true(?:,\s*true)?\)|\bassert!\(\s*true\s*\)|\bassertEquals\(\s*(?:true,\s*true|1,\s*1)\s*\))re");
  return regex;
}

const LazyRegex& assertion() {
  static const LazyRegex regex(
      R"re((?:^|[^\w.])(?:assert\w*!?\s*[( ]|expect\w*\s*\(|require\.\w+\(\s*t\b|assert\.\w+\()|\b(?:self|this)\.assert\w+\(|\bAssert\.\w+\(|\bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\bshould\b|\.to\.(?:be|equal|have|throw|eq|not)\b|\bis_expected\b|\bCHECK\w*\s*\(|\bREQUIRE\w*\s*\(|\bEXPECT_\w+\s*\(|\bASSERT_\w+\s*\(|\bverify\s*\(|\bXCTAssert\w*\(|\bpytest\.raises\b|\bassertThat\b|\bok\s*\(|\bis\s*\()re");
  return regex;
}

const LazyRegex& test_case() {
  static const LazyRegex regex(
      R"re(^\s*(?:async\s+)?def\s+test\w*|^func\s+(?:Test|Benchmark|Fuzz)\w*|(?:^|[^\w.])(?:it|test|specify|scenario)\s*\(?\s*["'`]|^\s*@(?:Test|ParameterizedTest)\b|#\[(?:tokio::)?test\]|^\s*(?:public\s+)?function\s+test\w*|\bTEST(?:_F|_P|_CASE)?\s*\(|^\s*\[(?:Fact|Test|Theory|TestMethod)\])re");
  return regex;
}

/// What explains that a test is gone: the thing it tested went with it, or it stands elsewhere now.
struct Reasons {
  std::set<std::string, std::less<>> gone_names;              ///< functions and types that the code no longer defines
  std::map<std::string, const FileView*, std::less<>> added;  ///< lines of tests, and a file that now has them
};

std::string_view trimmed_test(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t\r,{");
  return first == std::string_view::npos || last < first ? std::string_view() : text.substr(first, last - first + 1);
}

/// The name that a line of code defines; empty if it defines none, or one too short to be told from other words.
std::string_view defined_name(std::string_view text) {
  static const LazyRegex with_word(
      R"re(^\s*(?:(?:export|default|public|private|protected|static|async|final|pub(?:\([^)]*\))?|unsafe|abstract|override|virtual|inline)\s+)*(?:def|fn|func|function\*?|class|struct|interface|trait|module|sub|fun)\s+(?:\([^)]*\)\s*)?(?:self\.)?([A-Za-z_]\w{3,}))re");
  static const LazyRegex method(
      R"re(^\s*(?:public|private|protected|static|internal)\s+[\w<>\[\], ?]+\s+([A-Za-z_]\w{3,})\s*\()re");
  const std::string_view name = with_word.capture(text);
  return name.empty() ? method.capture(text) : name;
}

Reasons find_reasons(const ChangeView& change) {
  Reasons reasons;
  std::set<std::string, std::less<>> still_there;
  for (const FileView& file : change.files) {
    const bool is_tests = file.facts.has(kTest);
    if (!file.facts.has(kSource) || file.facts.has(kGenerated)) continue;
    for (const HunkView& hunk : file.hunks) {
      for (const DiffLine& line : hunk.lines()) {
        const bool removed = line.kind == LineKind::removed;
        if (is_tests) {
          if (line.kind == LineKind::added) reasons.added.emplace(trimmed_test(line.text), &file);
          continue;
        }
        const std::string_view name = defined_name(line.text);
        if (!name.empty()) (removed ? reasons.gone_names : still_there).emplace(name);
      }
    }
  }
  for (const std::string& name : still_there) reasons.gone_names.erase(name);
  return reasons;
}

/// A removed line of the hunk uses something that is gone.
bool tested_what_is_gone(const HunkView& hunk, const Reasons& reasons) {
  static const LazyRegex word(R"re([A-Za-z_]\w{3,})re");
  if (reasons.gone_names.empty()) return false;
  for (const DiffLine& line : hunk.lines()) {
    if (line.kind != LineKind::removed) continue;
    std::size_t begin = 0, end = 0;
    for (std::size_t from = 0; word.find(line.text, from, begin, end); from = end) {
      if (reasons.gone_names.count(std::string_view(line.text).substr(begin, end - begin)) != 0) return true;
    }
  }
  return false;
}

bool stands_elsewhere(std::string_view text, const FileView& file, const Reasons& reasons) {
  const auto found = reasons.added.find(trimmed_test(text));
  return found != reasons.added.end() && found->second != &file;
}

struct Balance {
  int assertions = 0, cases = 0;  // added minus removed
  std::uint32_t first_lost_assertion = 0, first_lost_case = 0;
  bool lost_assertion = false, lost_case = false;
};

Balance weigh(const FileView& file, const HunkView& hunk, const Reasons& reasons) {
  Balance balance;
  for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
    const DiffLine& line = hunk.lines()[i];
    if (line.kind == LineKind::context) continue;
    if (!hunk.is_about(i, Topic::assertion)) continue;
    const std::string text = hunk.text_of(i);
    const int sign = line.kind == LineKind::added ? 1 : -1;
    if (sign < 0 && stands_elsewhere(line.text, file, reasons)) continue;
    if (test_case().matches(text)) {
      balance.cases += sign;
      if (sign < 0 && !balance.lost_case) balance.first_lost_case = line.new_line;
      balance.lost_case = balance.lost_case || sign < 0;
    } else if (assertion().matches(text)) {
      balance.assertions += sign;
      if (sign < 0 && !balance.lost_assertion) balance.first_lost_assertion = line.new_line;
      balance.lost_assertion = balance.lost_assertion || sign < 0;
    }
  }
  return balance;
}

void find_added_marks(const FileView& file, Findings& findings) {
  for (const HunkView& hunk : file.hunks) {
    for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
      const DiffLine& line = hunk.lines()[i];
      if (line.kind != LineKind::added) continue;
      const bool may_skip = hunk.is_about(i, Topic::test_mark);
      const bool may_be_empty = hunk.is_about(i, Topic::assertion) && hunk.is_about(i, Topic::constant);
      if (!may_skip && !may_be_empty) continue;
      const std::string text = hunk.text_of(i);
      if (may_skip && skip_mark().matches(text)) {
        findings.add(file, {.rule = "test-weakened", .line = line.new_line, .message = "a test is skipped"});
      } else if (may_be_empty && empty_assertion().matches(text)) {
        findings.add(file,
                     {.rule = "test-weakened", .line = line.new_line, .message = "an assertion that cannot fail"});
      }
    }
  }
}

/// Tests that shrink matter when the code they test changes with them.
void find_losses(const FileView& file, const Reasons& reasons, Findings& findings) {
  int assertions = 0, cases = 0;
  for (const HunkView& hunk : file.hunks) {
    const Balance balance = weigh(file, hunk, reasons);
    if (tested_what_is_gone(hunk, reasons)) continue;
    assertions += balance.assertions;
    cases += balance.cases;
  }
  for (const HunkView& hunk : file.hunks) {
    if (tested_what_is_gone(hunk, reasons)) continue;
    const Balance balance = weigh(file, hunk, reasons);
    if (cases < 0 && balance.cases < 0) {
      findings.add(file, {.rule = "test-weakened", .line = balance.first_lost_case, .message = "a test is gone"});
    } else if (assertions < 0 && balance.assertions < 0) {
      findings.add(file,
                   {.rule = "test-weakened", .line = balance.first_lost_assertion, .message = "an assertion is gone"});
    }
  }
}

}  // namespace

void find_weakened_tests(const ChangeView& change, Findings& findings) {
  const bool has_tests =
      std::any_of(change.files.begin(), change.files.end(), [](const FileView& file) { return file.facts.has(kTest); });
  if (!has_tests) return;
  const Reasons reasons = find_reasons(change);
  for (const FileView& file : change.files) {
    if (!file.facts.has(kTest) || file.facts.has(kDocs | kLockfile)) continue;
    if (file.patch->status == FileStatus::deleted) {
      const bool is_due = std::any_of(file.hunks.begin(), file.hunks.end(),
                                      [&](const HunkView& hunk) { return tested_what_is_gone(hunk, reasons); });
      if (change.changes_code && file.facts.has(kSource) && !is_due)
        findings.add(file, {.rule = "test-weakened", .message = "a test file is deleted"});
      continue;
    }
    find_added_marks(file, findings);
    if (change.changes_code) find_losses(file, reasons, findings);
  }
}

}  // namespace escrow::engine
