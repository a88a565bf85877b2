#include "sandbox/trusted_binary.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "sandbox/host_facts.h"

namespace escrow::sandbox {
namespace {

namespace fs = std::filesystem;

enum class Owner { root, root_or_us };

std::vector<std::string> candidates() {
  std::vector<std::string> paths = {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap",
                                    "/run/current-system/sw/bin/bwrap"};
  const char* path = getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    if (rest.substr(0, colon).starts_with('/')) paths.push_back(std::string(rest.substr(0, colon)) + "/bwrap");
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  return paths;
}

/// Whoever may write a directory above a program may replace it. A sticky directory protects what others own.
Result<void> check_writers(const fs::path& path, Owner owner) {
  for (fs::path at = path;; at = at.parent_path()) {
    struct stat info {};
    if (stat(at.c_str(), &info) != 0) return Error{ErrorKind::unavailable, at.string() + ": cannot be looked at"};
    const bool ours = info.st_uid == 0 || (owner == Owner::root_or_us && info.st_uid == geteuid());
    const bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
    if (!ours) return Error{ErrorKind::unavailable, at.string() + ": not owned by root, so it is not trusted"};
    if ((info.st_mode & 022) != 0 && !sticky &&
        !(S_ISDIR(info.st_mode) && owner == Owner::root_or_us && (info.st_mode & 002) == 0))
      return Error{ErrorKind::unavailable, at.string() + ": writable by others, so it is not trusted"};
    if (at == at.root_path()) return {};
  }
}

Result<std::string> check(const std::string& path, const std::string& workspace, Owner owner) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return Error{ErrorKind::unavailable, path + ": not found"};
  if (!workspace.empty() && lies_within(real.string(), workspace))
    return Error{ErrorKind::unavailable, real.string() + ": lies in the workspace, so it is not trusted"};
  if (Result<void> safe = check_writers(real, owner); !safe) return safe.error();
  if (access(real.c_str(), X_OK) != 0) return Error{ErrorKind::unavailable, real.string() + ": not executable"};
  return real.string();
}

}  // namespace

Result<std::string> find_bubblewrap(const std::string& workspace) {
  std::error_code error;
  std::string trouble;
  for (const std::string& path : candidates()) {
    if (!fs::exists(path, error)) continue;
    Result<std::string> found = check(path, workspace, Owner::root);
    if (found) return found;
    if (trouble.empty()) trouble = found.error().message;
  }
  if (trouble.empty()) trouble = "bubblewrap is not installed (Debian, Ubuntu, Fedora: package bubblewrap)";
  return Error{ErrorKind::unavailable, trouble};
}

Result<Programs> find_programs(const std::string& libexec_dir, const std::string& workspace) {
  Programs programs;
  for (auto [path, name] : {std::pair{&programs.launcher, "escrow-launcher"}, {&programs.runner, "escrow-runner"}}) {
    Result<std::string> found = check(libexec_dir + "/" + name, workspace, Owner::root_or_us);
    if (!found) return found.error();
    *path = *found;
  }
  Result<std::string> bwrap = find_bubblewrap(workspace);
  if (!bwrap) return bwrap.error();
  programs.bwrap = *bwrap;
  return programs;
}

}  // namespace escrow::sandbox
