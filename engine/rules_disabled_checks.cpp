#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/lazy_regex.h"
#include "engine/rules.h"

namespace escrow::engine {
namespace {

/// Words of steps that check: tests, linters, scanners.
const LazyRegex& checking_step() {
  static const LazyRegex regex(
      R"re((?i)\b(?:tests?|lint\w*|audit|scan\w*|check|pytest|jest|vitest|mocha|rspec|tox|nox|eslint|flake8|ruff|mypy|pylint|bandit|semgrep|codeql|trivy|grype|snyk|gosec|govet|go\s+vet|staticcheck|clippy|cargo\s+(?:test|audit|deny)|brakeman|rubocop|sonar\w*|gitleaks|trufflehog|checkov|tfsec|hadolint|coverage|verify|typecheck|tsc|dependency-review|zizmor|actionlint|osv-scanner)\b)re");
  return regex;
}

/// In files that define checks: a step that can no longer fail.
const LazyRegex& toothless_step() {
  static const LazyRegex regex(
      R"re(\|\|\s*(?:true|:|exit\s+0|echo\b|/bin/true)|\bcontinue-on-error\s*:\s*["']?true|\ballow_failure\s*:\s*["']?true|\bcontinueOnError\s*:\s*["']?true|^\s*(?:-\s+)?if\s*:\s*["']?(?:\$\{\{\s*)?(?:false|never\(\))|^\s*when\s*:\s*(?:never|manual)\b|\bsoft_fail\s*:\s*["']?true|\bfail_ci_if_error\s*:\s*["']?false|\bfail-on-\w+\s*:\s*["']?(?:false|none|never)|\bexit-code\s*:\s*["']?0|--exit-zero\b|--exit-code[= ]0\b|--passWithNoTests\b|--no-verify\b|-DskipTests\b|-Dmaven\.test\.skip\b|--skip-tests\b|-x\s+test\b|\bset\s+\+e\b|\bSKIP_(?:TESTS?|LINT|CHECKS?|SCAN)\b\s*[:=]\s*["']?(?:1|true)|--no-audit\b|--audit-level[= ]none|\bignore_(?:errors|failure)\s*:\s*(?:yes|true)|--max-warnings[= ](?:-1|\d{3,})|--force-exit\b|--cov-fail-under[= ]0\b)re");
  return regex;
}

/// In program text: a security scanner told to look away.
const LazyRegex& silenced_scanner() {
  static const LazyRegex regex(
      R"re(//\s*nolint\s*(?:$|//|[^:\s])|//\s*nolint\s*:\s*[\w, ]*\b(?:all|gosec|govet|staticcheck|bodyclose|sqlclosecheck|bidichk)\b|#\s*nosec\b|#\s*nosemgrep|//\s*nosemgrep|//\s*NOSONAR|#\s*NOSONAR|#\s*noqa\s*:\s*[^\n]*\bS\d{3}|eslint-disable[\w-]*[^\n]*\bsecurity/|eslint-disable[\w-]*[^\n]*no-(?:eval|implied-eval|new-func)|@SuppressWarnings\(\s*\{?\s*"(?:all|squid|java:S)|#\s*pragma:\s*allowlist secret|gitleaks:allow|trufflehog:ignore|#\s*checkov:skip|#\s*tfsec:ignore|#\s*trivy:ignore|#\s*kics-scan|brakeman:ignore|//\s*codeql\[|lgtm\[|#\s*zizmor:\s*ignore|@phpstan-ignore|rubocop:disable\s+Security|#\[allow\(unsafe_code\)\]|\bSCS\d{4}\b.*disable|#pragma\s+warning\s*\(?\s*disable)re");
  return regex;
}

bool defines_checks(const PathFacts& facts) {
  const std::string_view name = base_name(facts.lower);
  return facts.has(kWorkflow) || facts.language == Language::makefile || name == "package.json" || name == "tox.ini" ||
         name == "noxfile.py" || name == ".pre-commit-config.yaml" || name.starts_with("lefthook") ||
         name == "codecov.yml" || name == ".codecov.yml" || name == "sonar-project.properties" ||
         name == ".coveragerc" || name == "setup.cfg" || name == "pyproject.toml" || name.starts_with("jest.config") ||
         name.starts_with("vitest.config") || name == "justfile" || name == ".nycrc" || name == "pom.xml" ||
         name.starts_with("build.gradle") || name == "pytest.ini" || has_component(facts.lower, ".husky") ||
         has_component(facts.lower, "ci");
}

bool is_linter_config(std::string_view name) {
  return name.starts_with(".eslintrc") || name.starts_with("eslint.config") || name == ".golangci.yml" ||
         name == ".golangci.yaml" || name == ".semgrepignore" || name == ".bandit" || name == ".gitleaks.toml" ||
         name == ".gitleaksignore" || name == ".trivyignore" || name == ".snyk" || name == ".hadolint.yaml" ||
         name == ".rubocop.yml" || name == ".pylintrc" || name == ".flake8" || name == "ruff.toml" ||
         name == ".semgrep.yml" || name == "clippy.toml" || name == ".checkov.yaml" || name == ".tfsec.yml" ||
         name == "dependabot.yml" || name == ".clang-tidy";
}

void find_toothless_steps(const FileView& file, Findings& findings) {
  if (!defines_checks(file.facts)) return;
  for (const HunkView& hunk : file.hunks) {
    for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
      const DiffLine& line = hunk.lines()[i];
      if (line.kind != LineKind::added || !toothless_step().matches(hunk.text_of(i))) continue;
      findings.add(file,
                   {.rule = "ci-check-disabled", .line = line.new_line, .message = "this step can no longer fail"});
    }
  }
}

double value_of(std::string_view digits) {
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// `fail_under = 90` → `60`; the number and what it is about.
void find_lowered_thresholds(const FileView& file, Findings& findings) {
  static const LazyRegex threshold(
      R"re((?i)\b((?:cov-)?fail[_-]?under|threshold|branches|functions|lines|statements|coverage|minimum|min_coverage|target|severity)\b["']?\s*[:=\s]\s*["']?\d)re");
  static const LazyRegex number(R"re((\d+(?:\.\d+)?))re");
  if (!defines_checks(file.facts)) return;
  for (const HunkView& hunk : file.hunks) {
    std::map<std::string, double, std::less<>> before;
    for (const LineKind side : {LineKind::removed, LineKind::added}) {
      for (const DiffLine& line : hunk.lines()) {
        if (line.kind != side) continue;
        const std::string_view name = threshold.capture(line.text);
        if (name.empty()) continue;
        const auto at = static_cast<std::size_t>(name.data() - line.text.data());
        const double value = value_of(number.capture(std::string_view(line.text).substr(at)));
        const auto was = before.find(name);
        if (side == LineKind::removed) {
          before.emplace(name, value);
        } else if (was != before.end() && value < was->second) {
          findings.add(file,
                       {.rule = "ci-check-disabled", .line = line.new_line, .message = "the threshold is lowered"});
        }
      }
    }
  }
}

/// A step or hook that checked is removed and not replaced by one that checks.
void find_removed_steps(const FileView& file, Findings& findings) {
  static const LazyRegex step(
      R"re(^\s*(?:-\s+)?(?:run|uses|script|name|repo|-\s*id|id|needs|-)\s*:?|^\s+-\s|^\t|"(?:test|lint|audit|check|typecheck|pretest|prebuild)"\s*:)re");
  static const LazyRegex keyed(
      R"re(^\s*(?:-\s+)?(?:run|uses|repo|id)\s*:|^\s+-\s+\w+\s|"(?:test|lint|audit|check|typecheck)"\s*:)re");
  const std::string_view name = base_name(file.facts.lower);
  const bool has_steps = file.facts.has(kWorkflow) || name == ".pre-commit-config.yaml" ||
                         has_component(file.facts.lower, ".husky") || name.starts_with("lefthook");
  if (!has_steps || file.patch->status == FileStatus::deleted) return;
  for (const HunkView& hunk : file.hunks) {
    int balance = 0;
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
      const DiffLine& line = hunk.lines()[i];
      if (line.kind == LineKind::context) continue;
      const std::string text = hunk.text_of(i);
      const bool checks =
          checking_step().matches(text) && (keyed.matches(text) || has_component(file.facts.lower, ".husky"));
      if (!checks || !step.matches(text + ' ')) continue;
      balance += line.kind == LineKind::added ? 1 : -1;
      if (line.kind == LineKind::removed && at == 0) at = line.new_line;
    }
    if (balance < 0)
      findings.add(file, {.rule = "ci-check-disabled", .line = at, .message = "a step that checked is gone"});
  }
}

/// Owners who no longer have to approve, rules of a linter that are off, paths a scanner no longer sees.
void find_loosened_configuration(const FileView& file, Findings& findings) {
  static const LazyRegex off(
      R"re(["']?[\w@/-]+["']?\s*:\s*(?:\[\s*)?["']?(?:off|0|false|ignore|disabled?)\b|\b(?:enabled?|open-pull-requests-limit)\s*:\s*(?:false|0)\b|\bdisable(?:d|-all)?\s*[:=]|\bexclude\w*\s*[:=]|\bignore\w*\s*[:=]|\bskips?\s*[:=]|^\s*-\s+(?:gosec|errcheck|govet|staticcheck|security)|^CVE-|^[A-Z]+-\d+|"off")re");
  static const LazyRegex no_updates(R"re(\benabled?\s*:\s*false|\bopen-pull-requests-limit\s*:\s*0\b)re");
  const std::string_view name = base_name(file.facts.lower);
  const bool owners = name == "codeowners";
  if (!owners && !is_linter_config(name)) return;
  for (const HunkView& hunk : file.hunks) {
    int balance = 0;
    std::uint32_t at = 0;
    for (const DiffLine& line : hunk.lines()) {
      const bool blank = line.text.find_first_not_of(" \t\r") == std::string::npos || line.text[0] == '#';
      if (owners && !blank && line.kind != LineKind::context) {
        balance += line.kind == LineKind::added ? 1 : -1;
        if (line.kind == LineKind::removed && at == 0) at = line.new_line;
      }
      // Which updates a bot leaves to people is a choice; that it makes none at all is not.
      const LazyRegex& loosened = name == "dependabot.yml" ? no_updates : off;
      if (!owners && line.kind == LineKind::added && loosened.matches(line.text)) {
        findings.add(file, {.rule = "ci-check-disabled",
                            .line = line.new_line,
                            .message = "a rule of the linter or scanner is loosened"});
      }
    }
    if (balance < 0)
      findings.add(
          file,
          {.rule = "ci-check-disabled", .line = at, .message = "these paths no longer need their owners' approval"});
  }
}

void find_silenced_scanners(const FileView& file, Findings& findings) {
  if (!file.facts.has(kSource | kConfig | kInfra) || file.facts.has(kDocs | kLockfile)) return;
  for (const HunkView& hunk : file.hunks) {
    for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
      const DiffLine& line = hunk.lines()[i];
      if (line.kind != LineKind::added) continue;
      if (!hunk.is_about(i, Topic::scanner_mark)) continue;
      std::size_t begin = 0, end = 0;
      if (!silenced_scanner().find(line.text, 0, begin, end)) continue;
      if (hunk.kinds(i)[begin] == static_cast<char>(TextKind::string)) continue;
      findings.add(file,
                   {.rule = "ci-check-disabled", .line = line.new_line, .message = "a scanner is told to look away"});
    }
  }
}

}  // namespace

void find_disabled_checks(const FileView& file, Findings& findings) {
  find_toothless_steps(file, findings);
  find_lowered_thresholds(file, findings);
  find_removed_steps(file, findings);
  find_loosened_configuration(file, findings);
  find_silenced_scanners(file, findings);
}

}  // namespace escrow::engine
