#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/lazy_regex.h"
#include "engine/rules.h"

namespace escrow::engine {
namespace {

bool is_new_side(const DiffLine& line) {
  return line.kind != LineKind::removed;
}

std::size_t indent_of(std::string_view text) {
  return std::min(text.find_first_not_of(" \t"), text.size());
}

/// For each line of the hunk: does it belong to a script (`run: |` block, `script:` list)?
std::vector<bool> script_lines(const HunkView& hunk) {
  static const LazyRegex opener(
      R"re(^\s*(?:-\s+)?(?:run|script|before_script|after_script|bash|pwsh|powershell|command|inlineScript)\s*:)re");
  static const LazyRegex key(R"re(^\s*(?:-\s+)?[\w.-]+\s*:(?:\s|$))re");
  std::vector<bool> out(hunk.lines().size(), false);
  constexpr std::size_t kNoBlock = std::string::npos;
  std::size_t block = kNoBlock;  // indent of the key whose block we are in
  bool seen_key = false;
  for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
    const std::string& text = hunk.lines()[i].text;
    if (!is_new_side(hunk.lines()[i])) continue;
    const std::size_t indent = indent_of(text);
    // In `- run: x` the key stands behind the dash, and its siblings below it.
    if (block != kNoBlock && indent <= block && indent < text.size()) block = kNoBlock;
    if (block != kNoBlock) {
      out[i] = true;
    } else if (opener.matches(text)) {
      out[i] = true;
      block = indent;
      while (block < text.size() && (text[block] == '-' || text[block] == ' ')) ++block;
      seen_key = true;
    } else if (key.matches(text)) {
      seen_key = true;
    } else if (!seen_key && text.find("${{") != std::string::npos) {
      // A hunk that begins inside a script shows no key above.
      out[i] = true;
    }
  }
  return out;
}

// --- Triggers
// ---------------------------------------------------------------------------------------------------------

const LazyRegex& privileged_trigger() {
  static const LazyRegex regex(R"re(\b(?:pull_request_target|workflow_run)\b)re");
  return regex;
}

const LazyRegex& fork_code() {
  static const LazyRegex regex(
      R"re(github\.event\.pull_request\.head\.(?:sha|ref|repo)|github\.head_ref|github\.event\.workflow_run\.head_(?:sha|branch|repository)|refs/pull/\$?\{?|\bgh\s+pr\s+checkout\b|git\s+fetch\s+.*pull/|merge_commit_sha|pull_request\.number\s*\}\}/(?:merge|head))re");
  return regex;
}

void find_triggers(const FileView& file, Findings& findings) {
  static const LazyRegex checkout_ref(
      R"re(^\s*(?:ref|repository)\s*:|\bgit\s+(?:fetch|checkout)|\bgh\s+pr\s+checkout|github\.event\.pull_request\.head\.repo)re");
  struct Place {
    std::uint32_t line;
    bool added;
  };
  std::vector<Place> triggers, refs;
  for (const HunkView& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines()) {
      if (!is_new_side(line)) continue;
      const bool added = line.kind == LineKind::added;
      if (privileged_trigger().matches(line.text) && line.text.find("github.event") == std::string::npos)
        triggers.push_back({line.new_line, added});
      if (fork_code().matches(line.text) && checkout_ref.matches(line.text)) refs.push_back({line.new_line, added});
    }
  }
  for (const auto* places : {&triggers, &refs}) {
    const bool complete = !triggers.empty() && !refs.empty();
    if (!complete && places == &refs) continue;
    for (const Place& place : *places) {
      if (!place.added) continue;
      findings.add(
          file,
          {.rule = "workflow-trigger",
           .line = place.line,
           .weight = complete ? 0 : 45,
           .message = complete ? "" : "a trigger with the secrets of the repository; it must not use a fork's code"});
    }
  }
}

// --- Injection
// --------------------------------------------------------------------------------------------------------

const LazyRegex& outsider_text() {
  static const LazyRegex regex(
      R"re(\$\{\{[^}]*\b(?:github\.event\.(?:issue|pull_request|comment|review|review_comment|discussion|pages|commits|head_commit|workflow_run|client_payload|release|milestone|label)\b[\w.*\[\]'"]*(?:title|body|name|label|message|email|ref|branch|default_branch|description|head_branch|display_title|payload)\b|github\.head_ref|github\.event\.(?:head_commit\.(?:message|author)|client_payload)[\w.]*|github\.event\.comment\.body|github\.event\.pull_request\.head\.(?:ref|label|repo\.\w+)|github\.event\.inputs\.\w*(?:title|body|message))|\$\(\s*(?:Build\.SourceVersionMessage|System\.PullRequest\.Source(?:Branch|CommitId)\w*)\s*\)|\beval\b.*\$\{?CI_(?:COMMIT_(?:MESSAGE|TITLE|BRANCH|REF_NAME)|MERGE_REQUEST_\w+))re");
  return regex;
}

/// Variables that an `env:` block fills with an outsider's text.
std::vector<std::string> tainted_variables(const HunkView& hunk) {
  static const LazyRegex definition(R"re(^\s*([A-Za-z_]\w*)\s*:\s*["']?\$\{\{)re");
  std::vector<std::string> names;
  for (const DiffLine& line : hunk.lines()) {
    if (!is_new_side(line) || !outsider_text().matches(line.text)) continue;
    const std::string_view name = definition.capture(line.text);
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

bool uses_variable(std::string_view text, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return text.find("$" + name) != std::string_view::npos || text.find("${" + name) != std::string_view::npos ||
           text.find("env." + name) != std::string_view::npos;
  });
}

void find_injections(const FileView& file, Findings& findings) {
  static const LazyRegex job_files(R"re(\bGITHUB_(?:ENV|PATH|OUTPUT)\b|::set-(?:env|output)|\beval\b)re");
  for (const HunkView& hunk : file.hunks) {
    const std::vector<bool> scripts = script_lines(hunk);
    const std::vector<std::string> tainted = tainted_variables(hunk);
    for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
      const DiffLine& line = hunk.lines()[i];
      if (line.kind != LineKind::added || !scripts[i]) continue;
      if (outsider_text().matches(line.text)) {
        findings.add(file, {.rule = "workflow-injection", .line = line.new_line});
      } else if (job_files.matches(line.text) &&
                 (uses_variable(line.text, tainted) || outsider_text().matches(line.text))) {
        findings.add(file, {.rule = "workflow-injection",
                            .line = line.new_line,
                            .message = "text of an outsider reaches the job's environment"});
      }
    }
  }
}

// --- Permissions
// ------------------------------------------------------------------------------------------------------

void find_permissions(const FileView& file, Findings& findings) {
  static const LazyRegex wide(
      R"re(^\s*permissions\s*:\s*["']?(?:write-all|\{\s*\}\s*#\s*all)|^\s*secrets\s*:\s*inherit\b|\bpersist-credentials\s*:\s*["']?true)re");
  static const LazyRegex write(
      R"re(^\s*(actions|attestations|checks|contents|deployments|discussions|id-token|issues|packages|pages|pull-requests|repository-projects|security-events|statuses)\s*:\s*["']?write\b)re");
  static const LazyRegex block(R"re(^\s*permissions\s*:)re");
  // A permission that moves inwards, from the workflow to one job, is narrowed.
  std::map<std::string, std::size_t, std::less<>> before;  // scope → indentation
  for (const HunkView& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines()) {
      const std::string_view scope = line.kind == LineKind::removed ? write.capture(line.text) : std::string_view();
      if (!scope.empty()) before.emplace(scope, line.text.find_first_not_of(" \t"));
    }
  }
  for (const HunkView& hunk : file.hunks) {
    int blocks = 0;
    std::uint32_t removed_at = 0;
    for (const DiffLine& line : hunk.lines()) {
      const bool added = line.kind == LineKind::added;
      if (block.matches(line.text)) blocks += added ? 1 : line.kind == LineKind::removed ? -1 : 0;
      if (line.kind == LineKind::removed && block.matches(line.text)) removed_at = line.new_line;
      if (!added) continue;
      const std::string_view scope = write.capture(line.text);
      const auto was = before.find(scope);
      const bool had_it = was != before.end() && was->second <= line.text.find_first_not_of(" \t");
      const bool widens = !scope.empty() && !had_it && file.patch->status != FileStatus::added;
      if (wide.matches(line.text) || widens)
        findings.add(file, {.rule = "workflow-permissions", .line = line.new_line});
    }
    if (blocks < 0)
      findings.add(
          file,
          {.rule = "workflow-permissions", .line = removed_at, .message = "the limit on the job's token is gone"});
  }
}

// --- Pins
// -------------------------------------------------------------------------------------------------------------

struct Uses {
  std::string action, ref;
};

std::optional<Uses> read_uses(std::string_view text) {
  static const LazyRegex regex(R"re(^\s*(?:-\s+)?uses\s*:\s*["']?([\w.-]+/[^@\s"']+@[^\s"'#]+))re");
  const std::string_view found = regex.capture(text);
  if (found.empty()) return std::nullopt;
  const std::size_t at = found.rfind('@');
  return Uses{std::string(found.substr(0, at)), std::string(found.substr(at + 1))};
}

bool is_hash(std::string_view ref) {
  return ref.size() >= 40 && ref.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_version(std::string_view ref) {
  static const LazyRegex regex(R"re(^v?\d+(?:\.\d+)*(?:[-+][\w.]+)?$|^release/v\d)re");
  return regex.matches(ref);
}

bool is_first_party(std::string_view action) {
  return action.starts_with("actions/") || action.starts_with("github/");
}

/// 0: a hash, 1: a tag, 2: a branch.
int looseness(std::string_view ref) {
  return is_hash(ref) ? 0 : is_version(ref) ? 1 : 2;
}

void find_loose_uses(const FileView& file, Findings& findings) {
  for (const HunkView& hunk : file.hunks) {
    std::vector<Uses> before;
    for (const DiffLine& line : hunk.lines()) {
      if (line.kind != LineKind::removed) continue;
      if (auto uses = read_uses(line.text)) before.push_back(std::move(*uses));
    }
    for (const DiffLine& line : hunk.lines()) {
      if (line.kind != LineKind::added) continue;
      const auto uses = read_uses(line.text);
      if (!uses) continue;
      const int loose = looseness(uses->ref);
      if (loose == 0 || (loose == 1 && is_first_party(uses->action))) continue;
      // A bump that is pinned no worse than before changes nothing about the pin.
      const bool as_before = std::any_of(before.begin(), before.end(), [&](const Uses& old) {
        return old.action == uses->action && looseness(old.ref) >= loose;
      });
      if (!as_before)
        findings.add(file, {.rule = "unpinned-reference",
                            .line = line.new_line,
                            .message = "an action by a name that can be moved: `@" + uses->ref + "`"});
    }
  }
}

}  // namespace

void find_workflow_risks(const FileView& file, Findings& findings) {
  if (!file.facts.has(kWorkflow)) return;
  find_triggers(file, findings);
  find_injections(file, findings);
  find_permissions(file, findings);
  find_loose_uses(file, findings);
}

}  // namespace escrow::engine
