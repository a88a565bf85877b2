#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/diff.h"
#include "server/error.h"
#include "server/workspace/file_image.h"

/// git as data, through libgit2: opening a hostile repository runs nothing (no filters, hooks, fsmonitor, external
/// diff).
namespace escrow::server {

/// What worktrees of one repository share: realpath of the common git directory; of the root without git.
std::string workspace_key(const std::string& root);

/// True if the repository's own configuration makes git run programs on plain reads (diff.external, textconv, filters,
/// fsmonitor): it is read as data, never obeyed.
bool config_runs_programs(const std::string& root);

/// Who commits here, as git itself would say (the person's configuration and the repository's): name and e-mail. Empty
/// texts where nothing is set.
std::pair<std::string, std::string> commit_identity(const std::string& root);

/// Is a root-relative path left out of git by the repository's own ignore rules, as they stand on disk, with nothing
/// tracked in it? For any one thread. Null without a repository.
std::function<bool(const std::string& path, bool directory)> ignore_test(const std::string& root);

/// Every tracked file, root-relative, sorted.
std::vector<std::string> tracked_paths(const std::string& root);

/// The change from one image to another as a git patch with three lines of context. Both absent is an empty patch.
engine::FilePatch diff_images(const std::string& old_path, const std::string& new_path, const FileImage& before,
                              const FileImage& after);

/// `theirs` re-based onto `ours`, both descending from `base`; empty if they conflict.
std::optional<std::string> merge_texts(const std::string& base, const std::string& ours, const std::string& theirs);

}  // namespace escrow::server
