#include "server/workspace/repository.h"

#include <git2.h>

#include <filesystem>
#include <memory>

namespace escrow::server {
namespace {

/// libgit2 counts its users; the library stays open for the life of the process. Searching for system and user
/// configuration is switched off: nothing of the person's git set-up is needed, and none of it may act here.
void ensure_library() {
  static const bool ready = [] {
    git_libgit2_init();
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    return true;
  }();
  (void)ready;
}

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using RepositoryPtr = std::unique_ptr<git_repository, Freed<git_repository_free>>;
using ConfigPtr = std::unique_ptr<git_config, Freed<git_config_free>>;
using IndexPtr = std::unique_ptr<git_index, Freed<git_index_free>>;
using PatchPtr = std::unique_ptr<git_patch, Freed<git_patch_free>>;

RepositoryPtr open_repository(const std::string& path) {
  ensure_library();
  git_repository* raw = nullptr;
  git_repository_open_ext(&raw, path.c_str(), 0, nullptr);
  return RepositoryPtr(raw);
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string real_path(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return error ? without_slash(path) : real.string();
}

bool names_a_program(std::string_view key) {
  const auto ends = [&](std::string_view tail) {
    return key.size() >= tail.size() && key.substr(key.size() - tail.size()) == tail;
  };
  return key == "diff.external" || key == "core.fsmonitor" || key == "core.sshcommand" || ends(".textconv") ||
         ends(".clean") || ends(".smudge") || ends(".process") || (key.substr(0, 5) == "diff." && ends(".command"));
}

int note_program(const git_config_entry* entry, void* found) {
  const bool local = entry->level >= GIT_CONFIG_LEVEL_LOCAL;  // the repository's own, or a worktree's
  if (local && names_a_program(entry->name)) *static_cast<bool*>(found) = true;
  return 0;
}

engine::LineKind kind_of(char origin) {
  switch (origin) {
    case GIT_DIFF_LINE_ADDITION:
      return engine::LineKind::added;
    case GIT_DIFF_LINE_DELETION:
      return engine::LineKind::removed;
    default:
      return engine::LineKind::context;
  }
}

std::uint32_t line_number(int line) {
  return line < 0 ? 0 : static_cast<std::uint32_t>(line);
}

/// Lines of one hunk. libgit2 marks a missing final newline by a line of its own, after the one that lacks it.
std::vector<engine::DiffLine> hunk_lines(git_patch* patch, std::size_t index, std::uint32_t new_start) {
  std::vector<engine::DiffLine> lines;
  std::uint32_t standing = new_start;  // the new-file line that a removed one is anchored at
  const int count = git_patch_num_lines_in_hunk(patch, index);
  for (int i = 0; i < count; ++i) {
    const git_diff_line* raw = nullptr;
    if (git_patch_get_line_in_hunk(&raw, patch, index, static_cast<std::size_t>(i)) != 0) break;
    if (raw->origin == GIT_DIFF_LINE_CONTEXT_EOFNL || raw->origin == GIT_DIFF_LINE_ADD_EOFNL ||
        raw->origin == GIT_DIFF_LINE_DEL_EOFNL) {
      if (!lines.empty()) lines.back().no_newline = true;
      continue;
    }
    std::string text(raw->content, raw->content_len);
    if (!text.empty() && text.back() == '\n') text.pop_back();
    const engine::LineKind kind = kind_of(raw->origin);
    if (kind != engine::LineKind::removed) standing = line_number(raw->new_lineno) + 1;
    lines.push_back({.kind = kind,
                     .text = std::move(text),
                     .old_line = line_number(raw->old_lineno),
                     .new_line = kind == engine::LineKind::removed ? standing : line_number(raw->new_lineno),
                     .no_newline = false});
  }
  return lines;
}

void read_hunks(git_patch* patch, engine::FilePatch& file) {
  const std::size_t count = git_patch_num_hunks(patch);
  for (std::size_t i = 0; i < count; ++i) {
    const git_diff_hunk* raw = nullptr;
    std::size_t lines = 0;
    if (git_patch_get_hunk(&raw, &lines, patch, i) != 0) return;
    engine::Hunk hunk;
    hunk.old_start = line_number(raw->old_start);
    hunk.old_count = line_number(raw->old_lines);
    hunk.new_start = line_number(raw->new_start);
    hunk.new_count = line_number(raw->new_lines);
    hunk.lines = hunk_lines(patch, i, hunk.new_start == 0 ? 1 : hunk.new_start);
    file.hunks.push_back(std::move(hunk));
  }
}

engine::FileStatus status_of(const std::string& old_path, const std::string& new_path, const FileImage& before,
                             const FileImage& after) {
  if (!before.exists()) return engine::FileStatus::added;
  if (!after.exists()) return engine::FileStatus::deleted;
  if (before.kind != after.kind) return engine::FileStatus::type_changed;
  return old_path == new_path ? engine::FileStatus::modified : engine::FileStatus::renamed;
}

}  // namespace

std::string workspace_key(const std::string& root) {
  const auto repository = open_repository(root);
  const char* common = repository ? git_repository_commondir(repository.get()) : nullptr;
  return real_path(common == nullptr ? root : common);
}

bool config_runs_programs(const std::string& root) {
  const auto repository = open_repository(root);
  if (!repository) return false;
  git_config* raw = nullptr;
  if (git_repository_config_snapshot(&raw, repository.get()) != 0) return true;  // unreadable: assume the worst
  const ConfigPtr config(raw);
  bool found = false;
  if (git_config_foreach(config.get(), note_program, &found) != 0) return true;
  return found;
}

std::pair<std::string, std::string> commit_identity(const std::string& root) {
  const auto repository = open_repository(root);
  git_config* raw = nullptr;
  if (!repository || git_repository_config_snapshot(&raw, repository.get()) != 0) return {};
  const ConfigPtr config(raw);
  const auto text_of = [&](const char* key) {
    const char* value = nullptr;
    return git_config_get_string(&value, config.get(), key) == 0 && value != nullptr ? std::string(value) : "";
  };
  return {text_of("user.name"), text_of("user.email")};
}

namespace {

/// Opened once for many paths.
struct IgnoreRules {
  RepositoryPtr repository;
  IndexPtr index;

  bool tracks(const std::string& path, bool directory) const {
    if (!index) return false;
    std::size_t at = 0;
    return git_index_find(&at, index.get(), path.c_str()) == 0 ||
           (directory && git_index_find_prefix(&at, index.get(), (path + "/").c_str()) == 0);
  }

  bool leave_out(const std::string& path, bool directory) const {
    int ignored = 0;
    const std::string asked = directory ? path + "/" : path;
    return git_ignore_path_is_ignored(&ignored, repository.get(), asked.c_str()) == 0 && ignored == 1 &&
           !tracks(path, directory);
  }
};

}  // namespace

std::function<bool(const std::string& path, bool directory)> ignore_test(const std::string& root) {
  auto rules = std::make_shared<IgnoreRules>();
  rules->repository = open_repository(root);
  if (!rules->repository) return nullptr;
  git_index* raw = nullptr;
  if (git_repository_index(&raw, rules->repository.get()) == 0) rules->index.reset(raw);
  const char* workdir = git_repository_workdir(rules->repository.get());
  const std::string top = workdir == nullptr ? std::string() : without_slash(workdir);
  // The workspace may be a folder of the repository: git's paths begin at the top.
  const std::string prefix =
      root.size() > top.size() && root.starts_with(top + "/") ? root.substr(top.size() + 1) + "/" : "";
  return
      [rules, prefix](const std::string& path, bool directory) { return rules->leave_out(prefix + path, directory); };
}

std::vector<std::string> tracked_paths(const std::string& root) {
  std::vector<std::string> paths;
  const auto repository = open_repository(root);
  git_index* raw = nullptr;
  if (!repository || git_repository_index(&raw, repository.get()) != 0) return paths;
  const IndexPtr index(raw);
  for (std::size_t i = 0; i < git_index_entrycount(index.get()); ++i) {
    paths.emplace_back(git_index_get_byindex(index.get(), i)->path);
  }
  return paths;
}

engine::FilePatch diff_images(const std::string& old_path, const std::string& new_path, const FileImage& before,
                              const FileImage& after) {
  ensure_library();
  engine::FilePatch file;
  file.status = status_of(old_path, new_path, before, after);
  if (before.exists()) {
    file.old_path = old_path;
    file.old_mode = git_mode(before);
  }
  if (after.exists()) {
    file.new_path = new_path;
    file.new_mode = git_mode(after);
  }
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  git_patch* raw = nullptr;
  if (git_patch_from_buffers(&raw, before.content.data(), before.content.size(), old_path.c_str(), after.content.data(),
                             after.content.size(), new_path.c_str(), &options) != 0) {
    file.binary = true;  // not diffable is not harmless: shown and scored as opaque
    return file;
  }
  const PatchPtr patch(raw);
  file.binary = (git_patch_get_delta(patch.get())->flags & GIT_DIFF_FLAG_BINARY) != 0;
  if (!file.binary) read_hunks(patch.get(), file);
  return file;
}

std::optional<std::string> merge_texts(const std::string& base, const std::string& ours, const std::string& theirs) {
  ensure_library();
  const auto input = [](const std::string& text) {
    git_merge_file_input side = GIT_MERGE_FILE_INPUT_INIT;
    side.ptr = text.data();
    side.size = text.size();
    return side;
  };
  const git_merge_file_input a = input(base), b = input(ours), c = input(theirs);
  git_merge_file_result result{};
  if (git_merge_file(&result, &a, &b, &c, nullptr) != 0) return std::nullopt;
  std::optional<std::string> merged;
  if (result.automergeable != 0) merged.emplace(result.ptr, result.len);
  git_merge_file_result_free(&result);
  return merged;
}

}  // namespace escrow::server
