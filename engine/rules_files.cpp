#include <algorithm>
#include <array>
#include <string>

#include "engine/lazy_regex.h"
#include "engine/rules.h"

namespace escrow::engine {
namespace {

constexpr std::uint32_t kTypeMask = 0170000, kSymlink = 0120000, kGitlink = 0160000;

bool has_type(const FilePatch& file, std::uint32_t type) {
  const std::uint32_t mode = file.new_mode.value_or(file.old_mode.value_or(0));
  return (mode & kTypeMask) == type;
}

/// First added line of the file, or nullptr.
const DiffLine* first_added(const FileView& file) {
  for (const HunkView& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines()) {
      if (line.kind == LineKind::added) return &line;
    }
  }
  return nullptr;
}

// --- Links
// ------------------------------------------------------------------------------------------------------------

/// Follows `target` from the folder of `link`, counting depth; true if it ever stands above the root or in `.git`.
bool leaves_repository(std::string_view link, std::string_view target) {
  if (target.starts_with('/') || target.starts_with('~') || target.find('\\') != std::string_view::npos) return true;
  if (target.size() > 1 && target[1] == ':') return true;
  auto depth = std::count(link.begin(), link.end(), '/');
  while (!target.empty()) {
    const std::size_t slash = std::min(target.find('/'), target.size());
    const std::string_view part = target.substr(0, slash);
    target.remove_prefix(std::min(slash + 1, target.size()));
    if (part == "..")
      --depth;
    else if (!part.empty() && part != ".")
      ++depth;
    if (depth < 0 || part == ".git") return true;
  }
  return false;
}

void find_links(const FileView& file, Findings& findings) {
  if (!has_type(*file.patch, kSymlink) || file.patch->status == FileStatus::deleted) return;
  const DiffLine* target = first_added(file);
  if (target == nullptr) return;
  if (leaves_repository(file.patch->path(), target->text))
    findings.add(file, {.rule = "symlink-escape", .line = target->new_line});
}

// --- Places outside
// -----------------------------------------------------------------------------------------------------

void find_outside_paths(const FileView& file, Findings& findings) {
  for (const std::string& path : {file.patch->old_path, file.patch->new_path}) {
    if (path.empty()) continue;
    const bool outside = path.starts_with('/') || has_component(path, "..") || path.find('\0') != std::string::npos ||
                         path.find('\\') != std::string::npos;
    if (!outside) continue;
    findings.add(file,
                 {.rule = "path-traversal", .weight = 80, .message = "the change names a file outside the repository"});
    return;
  }
}

// --- Submodules
// ---------------------------------------------------------------------------------------------------------

void find_submodules(const FileView& file, Findings& findings) {
  static const LazyRegex setting(R"re(^\s*(?:url|path|branch|update)\s*=|^\s*\[submodule)re");
  const bool list = base_name(file.facts.lower) == ".gitmodules";
  if (!list && !has_type(*file.patch, kGitlink)) return;
  bool found = false;
  for (const HunkView& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines()) {
      if (line.kind != LineKind::added || (list && !setting.matches(line.text))) continue;
      findings.add(file, {.rule = "submodule-change", .line = line.new_line});
      found = true;
    }
  }
  if (!found && !list && file.patch->status != FileStatus::deleted) findings.add(file, {.rule = "submodule-change"});
}

// --- Binaries and modes
// -------------------------------------------------------------------------------------------------

int weight_of_binary(std::string_view name) {
  static const LazyRegex picture(
      R"re(\.(?:png|jpe?g|gif|webp|ico|icns|bmp|tiff?|avif|heic|svgz|woff2?|ttf|otf|eot)$)re");
  static const LazyRegex media(
      R"re(\.(?:mp[34]|ogg|wav|flac|webm|mov|avi|pdf|psd|ai|sketch|fig|blend|glb|docx?|xlsx?|pptx?|odt|ods)$)re");
  if (picture.matches(name)) return 5;
  return media.matches(name) ? 10 : 35;
}

void find_binaries(const FileView& file, Findings& findings) {
  if (!file.patch->binary || file.patch->status == FileStatus::deleted) return;
  findings.add(file, {.rule = "binary-file", .weight = weight_of_binary(base_name(file.facts.lower))});
}

void find_modes(const FileView& file, Findings& findings) {
  const FilePatch& patch = *file.patch;
  if (!patch.new_mode || (*patch.new_mode & kTypeMask) != 0100000 || (*patch.new_mode & 0111) == 0) return;
  const bool was = patch.old_mode && (*patch.old_mode & 0111) != 0;
  if (was || patch.status == FileStatus::deleted) return;
  if (patch.status == FileStatus::added || patch.old_mode) findings.add(file, {.rule = "mode-executable"});
}

// --- Context
// ------------------------------------------------------------------------------------------------------------

const LazyRegex& sensitive_path() {
  static const LazyRegex regex(
      R"re((?:^|[/_.\-])(?:auth\w*|login|oauth\d?|sso|saml|session\w*|passwords?|credentials?|permissions?|acl|rbac|iam|security|crypto\w*|encrypt\w*|tls|ssl|certs?|payments?|billing|checkout|invoices?|wallet|migrations?|secrets?|jwt|token|keys?)(?:[/_.\-]|s?\.\w+$)|\.github/workflows/|\.gitlab-ci|jenkinsfile|codeowners)re");
  return regex;
}

/// One a change: the path that comes first in order of its name.
void find_sensitive_path(const ChangeView& change, Findings& findings) {
  const FileView* first = nullptr;
  for (const FileView& file : change.files) {
    if (file.facts.has(kDocs | kTest | kLockfile | kGenerated) || file.hunks.empty()) continue;
    if (!sensitive_path().matches(file.facts.lower)) continue;
    if (first == nullptr || file.patch->path() < first->patch->path()) first = &file;
  }
  if (first != nullptr) findings.add(*first, {.rule = "sensitive-path"});
}

void find_size(const ChangeView& change, Findings& findings) {
  std::size_t lines = 0;
  const FileView* largest = nullptr;
  std::size_t most = 0;
  for (const FileView& file : change.files) {
    if (file.facts.has(kLockfile | kGenerated)) continue;
    const LineCounts counts = count_lines(*file.patch);
    const std::size_t size = counts.added + counts.removed;
    lines += size;
    if (size > most) {
      most = size;
      largest = &file;
    }
  }
  const int weight = lines > 1500 ? 15 : lines > 400 ? 10 : lines > 100 ? 5 : 0;
  if (weight > 0 && largest != nullptr)
    findings.add(*largest,
                 {.rule = "large-change", .weight = weight, .message = std::to_string(lines) + " changed lines"});
}

}  // namespace

void find_file_risks(const FileView& file, Findings& findings) {
  find_links(file, findings);
  find_outside_paths(file, findings);
  find_submodules(file, findings);
  find_binaries(file, findings);
  find_modes(file, findings);
}

void find_context(const ChangeView& change, Findings& findings) {
  find_sensitive_path(change, findings);
  find_size(change, findings);
}

}  // namespace escrow::engine
