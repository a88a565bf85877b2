#include "sandbox/protected_paths.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <array>

#include "sandbox/directory.h"
#include "sandbox/path_pattern.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

constexpr std::array kProtected = {".git/hooks",
                                   ".git/config",
                                   ".git/config.worktree",
                                   ".git/info",
                                   ".git/modules/**/hooks",
                                   ".git/modules/**/config",
                                   ".git/worktrees",
                                   ".vscode",
                                   ".idea",
                                   ".zed",
                                   ".cursor",
                                   ".claude",
                                   ".codex",
                                   ".gemini",
                                   ".github/hooks",
                                   ".opencode",
                                   ".escrow",
                                   ".mcp.json",
                                   "AGENTS.md",
                                   "CLAUDE.md",
                                   "GEMINI.md",
                                   ".envrc",
                                   ".husky",
                                   ".bashrc",
                                   ".bash_profile",
                                   ".bash_login",
                                   ".bash_logout",
                                   ".profile",
                                   ".zshrc",
                                   ".zshenv",
                                   ".zprofile",
                                   ".zlogin",
                                   ".gitconfig",
                                   ".gitmodules",
                                   ".ripgreprc"};

constexpr std::size_t kMaxNesting = 64;

/// As a file system that folds names would read it.
std::string folded(std::string_view path) {
  std::string result;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    std::string_view segment = path.substr(start, end - start);
    while (segment.size() > 2 && (segment.back() == '.' || segment.back() == ' ')) segment.remove_suffix(1);
    result.append(result.empty() ? "" : "/").append(segment);
    start = end + 1;
  }
  return result;
}

void collect(int directory, const std::string& prefix, std::size_t depth, std::vector<std::string>& found) {
  if (depth > kMaxNesting) return;
  for (const DirectoryEntry& entry : list_directory(directory)) {
    const std::string path = prefix + entry.name;
    if (entry.type == DT_LNK) continue;  // the link's target is judged where it lies; a mount would follow it
    // The `.git` file of a worktree or submodule says where its repository is.
    if (is_protected(path) || (entry.name == ".git" && entry.type == DT_REG)) {
      found.push_back(path);
    } else if (entry.type == DT_DIR && entry.name != "node_modules") {
      const UniqueFd below(openat(directory, entry.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (below && !path.ends_with(".git/objects")) collect(below.get(), path + "/", depth + 1, found);
    }
  }
}

}  // namespace

bool is_protected(std::string_view path) {
  const std::string plain = folded(path);
  return std::any_of(kProtected.begin(), kProtected.end(),
                     [&](const char* pattern) { return matches_glob(pattern, plain, LetterCase::ignored); });
}

std::vector<std::string> find_protected(int workspace) {
  std::vector<std::string> found;
  collect(workspace, "", 0, found);
  return found;
}

}  // namespace escrow::sandbox
