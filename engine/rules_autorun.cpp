#include <algorithm>
#include <array>
#include <string>

#include "engine/lazy_regex.h"
#include "engine/rules.h"

namespace escrow::engine {
namespace {

constexpr FileRoles kAutorunText = kSource | kConfig | kScript | kInfra | kContainer;

constexpr LinePattern kAutorunPatterns[] = {
    {"autorun-hook", {"folderopen"}, R"re("runOn"\s*:\s*"folderOpen")re", Where::any, kAnyLanguage, kAutorunText},
    {"autorun-hook",
     {"createcommand", "startcommand", "attachcommand", "initializecommand", "contentcommand"},
     R"re("(?:initialize|onCreate|updateContent|postCreate|postStart|postAttach)Command"\s*:)re",
     Where::any,
     kAnyLanguage,
     kAutorunText},
    {"autorun-hook",
     {"hookspath", "fsmonitor", "core.pager", "sshcommand", "templatedir", "init.templatedir"},
     R"re(\bhooksPath\s*=|\bcore\.(?:hooksPath|fsmonitor|pager|sshCommand|editor)\b\s*\S|\bfsmonitor\s*=\s*\S|\binit\.templateDir\b)re",
     Where::text,
     kAnyLanguage,
     kAutorunText},
    {"autorun-hook",
     {".git/hooks", "/hooks/pre-", "/hooks/post-"},
     R"re(\.git/hooks/(?:pre|post|commit|prepare|update|applypatch))re",
     Where::text,
     kAnyLanguage,
     kAutorunText},
    {"autorun-hook",
     {"crontab", "schtasks", "systemctl", "launchctl", "at now", "update-rc.d", "chkconfig", "/etc/cron"},
     R"re(\bcrontab\s+(?:-\s*$|-[^le]|\S+\.|<|-\s)|\|\s*crontab\b|\bschtasks\b.*(?i:/create)|\bsystemctl\s+(?:--\S+\s+)*enable\b|\blaunchctl\s+(?:load|bootstrap|enable)\b|\bat\s+now\b|/etc/cron\.?\w*/)re",
     Where::text,
     kAnyLanguage,
     kAutorunText},
    {"autorun-hook",
     {".bashrc", ".zshrc", ".profile", ".bash_profile", "profile.d", "authorized_keys", "rc.local", "autostart",
      ".zshenv", "$profile"},
     R"re((?:>>?|tee\s+(?:-a\s+)?|open\s*\(|write\w*\s*\(|append\w*\s*\(|fs\.\w+\s*\(|echo\b.*>>|install\s)[^;]*(?:\.bashrc|\.zshrc|\.zshenv|\.profile|\.bash_profile|profile\.d/|authorized_keys|rc\.local|autostart/|\$PROFILE))re",
     Where::any,
     kAnyLanguage,
     kAutorunText},
    {"autorun-hook",
     {"currentversion\\run", "currentversion\\\\run", "\\startup\\", "launchagents", "launchdaemons"},
     R"re((?i)CurrentVersion\\+Run(?:Once)?\b|\\+Startup\\+|Library/Launch(?:Agents|Daemons))re",
     Where::any,
     kAnyLanguage,
     kAutorunText},
};

/// Files whose content runs when something ordinary happens: a commit, a shell, an opened folder, a boot.
bool runs_by_itself(const PathFacts& facts) {
  const std::string_view path = facts.lower, name = base_name(path);
  if (has_component(path, ".husky") || has_component(path, ".githooks") ||
      path.find("git-hooks/") != std::string_view::npos)
    return true;
  constexpr std::array kNames{
      ".bashrc",    ".bash_profile", ".bash_login",    ".profile",        ".zshrc",           ".zshenv",
      ".zprofile",  ".zlogin",       ".kshrc",         ".cshrc",          ".login",           ".xprofile",
      ".xinitrc",   ".envrc",        ".gdbinit",       ".lldbinit",       ".vimrc",           ".exrc",
      ".nvimrc",    ".nvim.lua",     ".dir-locals.el", ".rprofile",       "sitecustomize.py", "usercustomize.py",
      "crontab",    "lefthook.yml",  "lefthook.yaml",  ".overcommit.yml", ".pryrc",           ".irbrc",
      ".psqlrc",    ".inputrc",      ".gitconfig",     ".autoenv",        ".env.sh",          "direnvrc",
      ".mise.toml", ".yarnrc.yml"};
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) {
    return name != ".mise.toml" && name != ".yarnrc.yml";
  }
  if (name.ends_with(".pth") || name.ends_with(".timer")) return true;
  if (name.ends_with(".service") || name.ends_with(".socket")) return true;
  return path.find("cron.d/") != std::string_view::npos || path.find("launchagents/") != std::string_view::npos ||
         path.find("launchdaemons/") != std::string_view::npos ||
         path.find("etc/profile.d/") != std::string_view::npos || path.find("autostart/") != std::string_view::npos ||
         path.find("etc/init.d/") != std::string_view::npos;
}

/// Git's own folder: no change under review may reach into it.
bool is_inside_git(std::string_view path) {
  return has_component(path, ".git") || has_component(path, "git~1");
}

/// Settings by which an editor or git runs a program of the repository's choosing.
const LazyRegex& program_setting() {
  static const LazyRegex regex(
      R"re("(?:git\.path|terminal\.(?:integrated|external)\.[\w.]*|python\.(?:defaultInterpreterPath|pythonPath|terminal\.\w+)|[\w.\-]*(?:executablePath|executable|binaryPath|serverPath|server\.path|\.path|\.command|interpreter|shellPath|runtimeExecutable|preLaunchTask)|eslint\.(?:nodePath|runtime)|task\.allowAutomaticTasks|security\.workspace\.trust[\w.]*|chat\.tools\.(?:global\.)?autoApprove|php\.validate\.executablePath|rust-analyzer\.[\w.]*overrideCommand|clangd\.path|go\.alternateTools)"\s*:)re");
  return regex;
}

void add_runs(const FileView& file, std::string_view message, int weight, Findings& findings) {
  for (const HunkView& hunk : file.hunks) {
    std::uint32_t first = 0, last = 0;
    for (const DiffLine& line : hunk.lines()) {
      const bool comment = line.text.starts_with("#") && !line.text.starts_with("#!");
      if (line.kind != LineKind::added || comment || line.text.find_first_not_of(" \t\r") == std::string::npos)
        continue;
      if (first == 0) first = line.new_line;
      last = line.new_line;
    }
    if (first != 0)
      findings.add(
          file,
          {.rule = "autorun-hook", .line = first, .end_line = last, .weight = weight, .message = std::string(message)});
  }
}

void find_matching_lines(const FileView& file, const LazyRegex& regex, std::string_view message, Findings& findings) {
  for (const HunkView& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines()) {
      if (line.kind == LineKind::added && regex.matches(line.text))
        findings.add(file, {.rule = "autorun-hook", .line = line.new_line, .message = std::string(message)});
    }
  }
}

}  // namespace

std::span<const LinePattern> autorun_patterns() {
  return kAutorunPatterns;
}

void find_autorun_files(const FileView& file, Findings& findings) {
  if (is_inside_git(file.facts.lower)) {
    findings.add(file, {.rule = "autorun-hook", .weight = 95, .message = "reaches into git's own folder"});
    return;
  }
  if (file.patch->status == FileStatus::deleted || file.facts.has(kDocs)) return;
  const std::string_view name = base_name(file.facts.lower);
  if (runs_by_itself(file.facts)) return add_runs(file, "this file runs without being asked", 0, findings);
  if (has_component(file.facts.lower, ".vscode") || has_component(file.facts.lower, ".idea") ||
      has_component(file.facts.lower, ".zed") || name.ends_with(".code-workspace")) {
    find_matching_lines(file, program_setting(), "a setting by which the editor runs a program", findings);
  }
  static const LazyRegex local_hook(R"re(^\s*(?:-\s+)?(?:entry|repo:\s*local|language:\s*(?:system|script))\b)re");
  if (name == ".pre-commit-config.yaml")
    find_matching_lines(file, local_hook, "a hook that runs on every commit", findings);
  static const LazyRegex driver(
      R"re(\b(?:filter|diff|merge)=(?:[^\s]+)|^\s*(?:clean|smudge|process|textconv|command|driver)\s*=)re");
  static const LazyRegex harmless_driver(
      R"re(\b(?:filter=lfs|diff=(?:lfs|astextplain|\w+)|merge=(?:lfs|union|ours|binary))\b)re");
  if (name == ".gitattributes") {
    for (const HunkView& hunk : file.hunks) {
      for (const DiffLine& line : hunk.lines()) {
        if (line.kind == LineKind::added && driver.matches(line.text) && !harmless_driver.matches(line.text)) {
          findings.add(file,
                       {.rule = "autorun-hook", .line = line.new_line, .message = "git runs a program on these files"});
        }
      }
    }
  }
  static const LazyRegex package_hook(
      R"re(^\s*"?(?:yarnPath|plugins)"?\s*:|^\s*\[hooks|^\s*(?:enter|leave|cd|postinstall)\s*=|"(?:husky|pre-commit|pre-push|post-checkout|post-merge|post-commit|gitHooks|simple-git-hooks)"\s*:\s*["{])re");
  if (name == ".yarnrc.yml" || name == ".mise.toml" || name == "package.json")
    find_matching_lines(file, package_hook, "runs on an ordinary git or shell command", findings);
}

}  // namespace escrow::engine
