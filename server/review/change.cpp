#include "server/review/change.h"

#include <algorithm>
#include <set>

#include "engine/evaluate.h"
#include "engine/patch_apply.h"
#include "engine/target_place.h"
#include "server/hash.h"
#include "server/workspace/repository.h"

namespace escrow::server {
namespace {

constexpr std::size_t kMaxFiles = 20'000;

FileImage image_of(std::string content, std::uint32_t mode) {
  const bool link = mode == 0120000;
  return {.kind = link ? ImageKind::symlink : ImageKind::file,
          .mode = link ? 0777u : mode & 0777u,
          .content = std::move(content)};
}

std::string hunk_text(const engine::Hunk& hunk) {
  std::string text;
  for (const auto& line : hunk.lines) {
    text += static_cast<char>('0' + static_cast<int>(line.kind));
    text += line.text;
    text += line.no_newline ? '\\' : '\n';
  }
  return text;
}

Error bad_change(const std::string& message) {
  return {ErrorKind::bad_change, message};
}

/// What the cage hides from an agent is not handed to it by a copy either.
Result<void> refuse_secret_source(const std::string& source, const std::string& path) {
  if (source == path || engine::ward_of(source) != engine::Ward::secret) return {};
  return Error{ErrorKind::role_forbidden, source + ": holds secrets; a person copies or moves it, not a change"};
}

Result<ReviewFile> file_from_patch(const engine::FilePatch& patch, const ReadImage& read) {
  const std::string path = patch.path();
  const std::string old_path = patch.old_path.empty() ? path : patch.old_path;
  if (const auto why = refuse_path(path); !why.empty()) return Error{ErrorKind::outside_roots, why};
  if (const auto why = refuse_path(old_path); !why.empty()) return Error{ErrorKind::outside_roots, why};
  if (auto fine = refuse_secret_source(old_path, path); !fine) return fine.error();
  if (patch.combined) return bad_change(path + ": a combined (merge) diff can be scored, not applied");
  if (patch.new_mode == 0160000u || patch.old_mode == 0160000u)
    return bad_change(path + ": submodules are not applied");
  auto before = read(old_path);
  if (!before) return before.error();
  const bool adds = patch.status == engine::FileStatus::added;
  if (adds && before->exists()) return bad_change(path + ": the patch creates it, but it exists");
  if (!adds && !before->exists()) return bad_change(old_path + ": the patch changes it, but there is no such file");
  if (patch.status == engine::FileStatus::copied) *before = FileImage{};
  if (patch.status == engine::FileStatus::deleted && patch.hunks.empty()) {
    return make_review_file(old_path, path, std::move(*before), {});
  }
  const auto base = patch.status == engine::FileStatus::copied ? read(old_path) : Result<FileImage>(*before);
  if (!base) return base.error();
  auto after = engine::apply_file_patch(base->content, patch);
  if (!after) return bad_change(after.error().message);
  if (patch.status == engine::FileStatus::deleted) return make_review_file(old_path, path, std::move(*before), {});
  const std::uint32_t mode = patch.new_mode.value_or(base->exists() ? git_mode(*base) : 0100644u);
  const bool renamed = patch.status == engine::FileStatus::renamed;
  return make_review_file(renamed ? old_path : path, path, std::move(*before), image_of(std::move(*after), mode));
}

/// A file may be named once: two patches on one path would be reviewed against different bases.
Result<void> refuse_repeats(const std::vector<ReviewFile>& files) {
  if (files.empty()) return bad_change("the change is empty");
  if (files.size() > kMaxFiles) {
    return Error{ErrorKind::limit_exceeded, "more than " + std::to_string(kMaxFiles) + " files in one change"};
  }
  std::set<std::string> seen;
  for (const auto& file : files) {
    if (!seen.insert(file.path).second || (file.old_path != file.path && !seen.insert(file.old_path).second)) {
      return bad_change(file.path + ": named twice in one change");
    }
  }
  return {};
}

bool same_image(const FileImage& a, const FileImage& b) {
  return fingerprint(a) == fingerprint(b);
}

constexpr std::string_view kKindChanged = "a directory where there was a file, or the other way round";

std::string unapplicable(const sandbox::TreeChange& change) {
  if (!change.note.empty()) return change.note;
  if (change.before.too_large || change.after.too_large) return "too large to review";
  if (change.before.kind == sandbox::EntryKind::other || change.after.kind == sandbox::EntryKind::other) {
    return "a device, FIFO or socket";
  }
  if (change.before.kind == sandbox::EntryKind::directory || change.after.kind == sandbox::EntryKind::directory) {
    return std::string(kKindChanged);
  }
  return refuse_path(change.path);
}

/// Half of such a change would be a loss: what lay below a directory would go, and the file in its place not come.
std::set<std::string> paths_of_another_kind(const sandbox::TreeChanges& changes) {
  std::set<std::string> paths;
  for (const auto& change : changes.changes) {
    const bool was = change.before.kind == sandbox::EntryKind::directory;
    const bool is = change.after.kind == sandbox::EntryKind::directory;
    const bool both =
        change.before.kind != sandbox::EntryKind::absent && change.after.kind != sandbox::EntryKind::absent;
    if (both && was != is) paths.insert(change.path);
  }
  return paths;
}

/// The one of `paths` that `path` lies below; empty if there is none.
std::string replaced_above(const std::set<std::string>& paths, const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (paths.contains(path.substr(0, slash))) return path.substr(0, slash);
  }
  return {};
}

FileImage image_of(const sandbox::TreeEntry& entry) {
  switch (entry.kind) {
    case sandbox::EntryKind::file:
      return {.kind = ImageKind::file, .mode = entry.mode & 07777u, .content = entry.content};
    case sandbox::EntryKind::symlink:
      return {.kind = ImageKind::symlink, .mode = 0777, .content = entry.content};
    case sandbox::EntryKind::absent:
    case sandbox::EntryKind::directory:
    case sandbox::EntryKind::other:
      return {};
  }
  return {};
}

bool has_rule(const engine::Risk& risk, std::string_view rule) {
  return std::any_of(risk.signals.begin(), risk.signals.end(),
                     [&](const engine::Signal& signal) { return signal.rule == rule; });
}

/// A check that nothing here can run blocks only where somebody wrote that it must pass.
bool is_demanded(const engine::Policy& policy, const std::string& check) {
  const auto setting = policy.checks.find(check);
  if (setting == policy.checks.end() || !setting->second.required) return false;
  const std::string key = "checks." + check;
  return std::any_of(policy.origins.begin(), policy.origins.end(), [&](const auto& origin) {
    return origin.first.compare(0, key.size(), key) == 0 && origin.second.layer != engine::LayerKind::builtin;
  });
}

/// The steps the lane's band lists. Only what really ran is called passed.
std::vector<Check> checks_for(const Review& review, const engine::Policy& policy) {
  std::vector<Check> checks;
  const bool secret = has_rule(review.risk, "secret-literal") || has_rule(review.risk, "secret-file");
  checks.push_back({.name = "secrets_scan",
                    .state = secret ? "failed" : "passed",
                    .detail = secret ? "the change holds what looks like a secret" : "no secret in the added lines",
                    .required = true});
  const auto band = policy.risk_bands.find(std::string(engine::name_of(review.lane)));
  if (band == policy.risk_bands.end()) return checks;
  for (const auto& action : band->second.actions) {
    if (action == "secrets_scan") continue;
    checks.push_back({.name = action,
                      .state = "skipped",
                      .detail = "no runner for it in this version",
                      .required = is_demanded(policy, action)});
  }
  return checks;
}

std::set<std::size_t> approved_hunks(const ReviewFile& file) {
  std::set<std::size_t> chosen;
  for (const auto& hunk : file.hunks) {
    if (hunk.mark == HunkMark::approved) chosen.insert(hunk.index);
  }
  return chosen;
}

/// The file with only its approved hunks; empty if none is.
Result<std::optional<ReviewFile>> approved_file(const ReviewFile& file) {
  const auto chosen = approved_hunks(file);
  if (chosen.empty()) return std::optional<ReviewFile>();
  if (chosen.size() == file.hunks.size()) return std::optional<ReviewFile>(file);
  auto content = engine::apply_hunks(file.before.content, file.patch, chosen);
  if (!content) return bad_change(content.error().message);
  FileImage after = file.after;
  after.content = std::move(*content);
  ReviewFile part = make_review_file(file.old_path, file.path, file.before, std::move(after));
  for (auto& hunk : part.hunks) hunk.mark = HunkMark::approved;
  return std::optional<ReviewFile>(std::move(part));
}

}  // namespace

ReviewFile make_review_file(const std::string& old_path, const std::string& path, FileImage before, FileImage after) {
  ReviewFile file{.path = path, .old_path = old_path, .before = {}, .after = {}, .patch = {}, .hunks = {}};
  file.patch = diff_images(old_path, path, before, after);
  file.before = std::move(before);
  file.after = std::move(after);
  for (std::size_t i = 0; i < file.patch.hunks.size(); ++i) {
    const std::string id = sha256_hex(path + '\n' + hunk_text(file.patch.hunks[i])).substr(0, 16);
    file.hunks.push_back({.id = id, .index = i, .mark = HunkMark::undecided});
  }
  if (file.hunks.empty()) {
    const std::string id = sha256_hex(path + '\n' + fingerprint(file.after)).substr(0, 16);
    file.hunks.push_back({.id = id, .index = 0, .mark = HunkMark::undecided});
  }
  return file;
}

Result<std::vector<ReviewFile>> change_from_patch(const std::string& text, const ReadImage& read) {
  const auto parsed = engine::parse_diff(text);
  if (!parsed.issues.empty()) {
    const auto& issue = parsed.issues.front();
    return bad_change("line " + std::to_string(issue.line) + " of the patch: " + issue.message);
  }
  std::vector<ReviewFile> files;
  for (const auto& patch : parsed.patch.files) {
    auto file = file_from_patch(patch, read);
    if (!file) return file.error();
    files.push_back(std::move(*file));
  }
  if (auto fine = refuse_repeats(files); !fine) return fine.error();
  return files;
}

Result<std::vector<ReviewFile>> change_from_texts(const std::vector<ProposedText>& texts, const ReadImage& read) {
  std::vector<ReviewFile> files;
  for (const auto& text : texts) {
    if (const auto why = refuse_path(text.path); !why.empty()) return Error{ErrorKind::outside_roots, why};
    const std::string& source = text.old_path.empty() ? text.path : text.old_path;
    if (auto fine = refuse_secret_source(source, text.path); !fine) return fine.error();
    auto before = read(source);
    if (!before) return before.error();
    if (!text.new_text && !before->exists())
      return bad_change(text.path + ": cannot be deleted, there is no such file");
    FileImage after;
    if (text.new_text) {
      after = image_of(*text.new_text, text.mode.value_or(before->exists() ? git_mode(*before) : 0100644u));
    }
    if (same_image(*before, after) && source == text.path) continue;
    files.push_back(make_review_file(source, text.path, std::move(*before), std::move(after)));
  }
  if (auto fine = refuse_repeats(files); !fine) return fine.error();
  return files;
}

std::vector<ReviewFile> change_from_tree(const sandbox::TreeChanges& changes, std::vector<std::string>& notes) {
  std::vector<ReviewFile> files;
  if (!changes.complete) {
    notes.push_back("the command wrote more than can be reviewed; nothing of it can be applied");
    return files;
  }
  const std::set<std::string> replaced = paths_of_another_kind(changes);
  for (const auto& change : changes.changes) {
    if (const auto above = replaced_above(replaced, change.path); !above.empty()) {
      notes.push_back(change.path + ": not applied, since " + above + " is not either");
      continue;
    }
    if (const auto why = unapplicable(change); !why.empty()) {
      notes.push_back(change.path + ": " + why + (why.ends_with("not applied") ? "" : ": not applied"));
      continue;
    }
    FileImage before = image_of(change.before);
    FileImage after = image_of(change.after);
    if (same_image(before, after)) continue;
    files.push_back(make_review_file(change.path, change.path, std::move(before), std::move(after)));
  }
  return files;
}

void judge_change(Review& review, std::optional<double> confidence, const engine::Policy& policy) {
  engine::ParsedPatch change;
  for (const auto& file : review.files) change.patch.files.push_back(file.patch);
  const auto judged = engine::evaluate(change, {.confidence = confidence}, policy);
  review.risk = judged.risk;
  review.lane = judged.lane;
  for (const auto& note : judged.notes) {
    if (std::find(review.notes.begin(), review.notes.end(), note) == review.notes.end()) review.notes.push_back(note);
  }
  review.checks = checks_for(review, policy);
}

Result<Review> approved_part(const Review& review) {
  Review part = review;
  part.files.clear();
  for (const auto& file : review.files) {
    auto chosen = approved_file(file);
    if (!chosen) return chosen.error();
    if (*chosen) part.files.push_back(std::move(**chosen));
  }
  return part;
}

Result<std::vector<FileWrite>> approved_writes(const Review& review) {
  const auto part = approved_part(review);
  if (!part) return part.error();
  std::vector<FileWrite> writes;
  for (const auto& file : part->files) {
    const bool renamed = file.old_path != file.path && file.before.exists();
    if (renamed) writes.push_back({.path = file.old_path, .before = file.before, .after = {}});
    writes.push_back({.path = file.path, .before = renamed ? FileImage{} : file.before, .after = file.after});
  }
  return writes;
}

std::optional<Review> rebase_review(const Review& review, const ReadImage& read) {
  Review moved = review;
  moved.files.clear();
  for (const auto& file : review.files) {
    const auto now = read(file.old_path);
    if (!now) return std::nullopt;
    if (same_image(*now, file.before)) {
      moved.files.push_back(make_review_file(file.old_path, file.path, file.before, file.after));
      continue;
    }
    // Only text on text can be re-based; a base that vanished, appeared or became a link is a person's matter.
    if (now->kind != ImageKind::file || file.before.kind != ImageKind::file || file.after.kind != ImageKind::file) {
      return std::nullopt;
    }
    auto merged = merge_texts(file.before.content, now->content, file.after.content);
    if (!merged) return std::nullopt;
    FileImage after = file.after;
    after.content = std::move(*merged);
    if (same_image(*now, after)) continue;  // somebody made the same change
    moved.files.push_back(make_review_file(file.old_path, file.path, *now, std::move(after)));
  }
  if (moved.files.empty()) return std::nullopt;
  ++moved.revision;
  moved.state = ReviewState::pending;
  moved.approved_by.clear();
  return moved;
}

}  // namespace escrow::server
