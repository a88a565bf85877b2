#include "engine/findings.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "engine/diff_rule_table.h"
#include "engine/text.h"

namespace escrow::engine {
namespace {

constexpr double kElsewhere = 0.4;  // tests, fixtures, vendored and generated files

/// Rules about what code does: prose does nothing, tests and vendored files do less.
constexpr std::array kCodeRules{
    "auth-check-removed", "ci-check-disabled", "container-privilege", "destructive-op",         "dynamic-eval",
    "infra-exposure",     "memory-unsafe",     "network-call",        "path-traversal",         "shell-exec",
    "sql-injection",      "tls-verify-off",    "unpinned-reference",  "unsafe-deserialization", "validation-removed",
    "weak-crypto",        "xss-sink",
};
/// Rules about malice: as bad in a test as anywhere, unless it is a text the test is about.
constexpr std::array kMaliceRules{"data-exfiltration", "obfuscated-payload", "remote-script", "reverse-shell"};
constexpr std::array kFileRules{"binary-file", "hidden-unicode", "prompt-injection"};

template <class Names>
bool is_in(std::string_view rule, const Names& names) {
  return std::find(names.begin(), names.end(), rule) != names.end();
}

double factor_of(const Finding& finding, const PathFacts& facts) {
  if (is_in(finding.rule, kCodeRules)) {
    if (facts.has(kDocs)) return 0;
    return facts.has(kTest | kGenerated) ? kElsewhere : 1;
  }
  if (is_in(finding.rule, kMaliceRules)) {
    if (facts.has(kDocs)) return 0;
    return facts.has(kGenerated) || (facts.has(kTest) && finding.in_string) ? kElsewhere : 1;
  }
  if (is_in(finding.rule, kFileRules)) return facts.has(kTest) ? kElsewhere : 1;
  return 1;
}

auto place_of(const Signal& signal) {
  return std::tie(signal.file, signal.line, signal.rule);
}

}  // namespace

void Findings::add(const FileView& file, Finding finding) {
  const DiffRule* rule = find_diff_rule(finding.rule);
  assert(rule != nullptr);
  const double base = (finding.weight > 0 ? finding.weight : rule->weight) + finding.raise;
  const int weight = static_cast<int>(std::lround(base * factor_of(finding, file.facts)));
  if (weight <= 0) return;
  Signal signal;
  signal.rule = rule->id;
  signal.file = file.patch->path();
  signal.line = finding.line;
  signal.end_line = std::max(finding.line, finding.end_line);
  signal.weight = std::min(weight, 99);
  signal.severity = severity_of(*rule, signal.weight);
  signal.message = finding.message.empty() ? std::string(rule->message) : std::move(finding.message);
  signal.cwe = split_words(rule->cwe);
  signals_.push_back(std::move(signal));
}

void Findings::append(Findings&& other) {
  signals_.insert(signals_.end(), std::make_move_iterator(other.signals_.begin()),
                  std::make_move_iterator(other.signals_.end()));
  other.signals_.clear();
}

std::vector<Signal> Findings::take() {
  std::stable_sort(signals_.begin(), signals_.end(), [](const Signal& a, const Signal& b) {
    return std::tie(a.file, a.line, a.rule, b.weight) < std::tie(b.file, b.line, b.rule, a.weight);
  });
  const auto last = std::unique(signals_.begin(), signals_.end(),
                                [](const Signal& a, const Signal& b) { return place_of(a) == place_of(b); });
  signals_.erase(last, signals_.end());
  return std::move(signals_);
}

}  // namespace escrow::engine
