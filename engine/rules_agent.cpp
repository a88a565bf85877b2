#include <string>
#include <vector>

#include "engine/lazy_regex.h"
#include "engine/rules.h"

namespace escrow::engine {
namespace {

constexpr int kWidening = 75;

/// What lets an agent do more, or makes it run programs: broad allowances, no asking, hooks, servers.
const LazyRegex& widening() {
  static const LazyRegex regex(
      R"re((?i)bypassPermissions|dangerously|--yolo|\byolo\b|skip-permissions|auto_?-?approve\w*|autoApprove|auto_?-?accept|alwaysAllow|always_?allow|allow_?all|acceptEdits|danger-full-access|full-?auto|approval_policy\s*=\s*"never"|"?(?:approval|permission)_?[mM]ode"?\s*[:=]\s*"(?:never|auto|full|bypass\w*)"|sandbox(?:_mode|\.enabled)?"?\s*[:=]\s*(?:false|"(?:none|off|danger))|trust_level\s*=\s*"trusted"|"trust"\s*:\s*true|enableAllProjectMcpServers|network_access\s*=\s*true|disable_?sandbox|"sandbox"\s*:\s*false)re"
      R"re(|\b(?:Bash|Shell|Edit|Write|WebFetch|Read|mcp__\w+)\(\s*(?:\*|\*\*|\*:\*|/\*\*?|//\*\*)\s*\)|["'](?:Bash|Shell|\*|\*:\*)["']|["'](?:edit|bash|webfetch|write|\*)["']\s*:\s*["']allow["'])re"
      R"re(|["']?hooks["']?\s*[:=]\s*[\[{]|\b(?:PreToolUse|PostToolUse|SessionStart|UserPromptSubmit|PostCompact|Stop|SubagentStop|Notification|BeforeTool|AfterTool|beforeShellExecution|afterFileEdit|stop)["']?\s*[:=]\s*[\[{]|["']?(?:mcpServers|mcp_servers|mcp)["']?\s*[:=.\]]|["']command["']\s*:\s*["']|\bcommand\s*=\s*["']|["'](?:apiKeyHelper|statusLine|awsAuthRefresh|notify)["']?\s*[:=]|["']?(?:npx|uvx|bunx|pipx|docker)["']?\s*,|"ANTHROPIC_BASE_URL"|_BASE_URL"\s*:|additionalDirectories)re");
  return regex;
}

/// Structured settings can widen; prose only instructs.
bool is_settings(const PathFacts& facts) {
  return facts.language != Language::prose;
}

bool lost_denial(const HunkView& hunk) {
  static const LazyRegex denial(R"re(["']?(?:deny|ask|blocked|denied|disallowed\w*|forbidden)["']?\s*[:=])re");
  int balance = 0;
  for (const DiffLine& line : hunk.lines()) {
    if (line.kind == LineKind::context || !denial.matches(line.text)) continue;
    balance += line.kind == LineKind::added ? 1 : -1;
  }
  return balance < 0;
}

/// One finding a run of added lines, heavier where a line widens.
void find_in_hunk(const FileView& file, const HunkView& hunk, Findings& findings) {
  const bool settings = is_settings(file.facts);
  const bool lost = settings && lost_denial(hunk);
  std::uint32_t first = 0, last = 0;
  const auto close = [&] {
    if (first != 0)
      findings.add(file, {.rule = "agent-config", .line = first, .end_line = last, .weight = lost ? kWidening : 0});
    first = 0;
  };
  for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
    const DiffLine& line = hunk.lines()[i];
    const bool blank = line.text.find_first_not_of(" \t\r{}[],") == std::string::npos;
    if (line.kind != LineKind::added || blank) {
      if (line.kind == LineKind::context) close();
      continue;
    }
    if (settings && widening().matches(line.text)) {
      findings.add(file, {.rule = "agent-config",
                          .line = line.new_line,
                          .weight = kWidening,
                          .message = "the agent may do more than before, or runs a program"});
      continue;
    }
    if (first == 0) first = line.new_line;
    last = line.new_line;
  }
  close();
  bool only_removed = true;
  for (const DiffLine& line : hunk.lines()) only_removed = only_removed && line.kind != LineKind::added;
  if (only_removed && lost)
    findings.add(file, {.rule = "agent-config",
                        .line = hunk.hunk().new_start,
                        .weight = kWidening,
                        .message = "what was denied to the agent no longer is"});
}

}  // namespace

void find_agent_config(const FileView& file, Findings& findings) {
  if (!file.facts.has(kAgent) || file.facts.has(kTest)) return;
  if (file.patch->status == FileStatus::deleted) return;
  const bool whole_file = file.hunks.empty() && (file.patch->binary || file.patch->status != FileStatus::modified);
  if (whole_file) findings.add(file, {.rule = "agent-config"});
  for (const HunkView& hunk : file.hunks) find_in_hunk(file, hunk, findings);
}

}  // namespace escrow::engine
