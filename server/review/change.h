#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/policy.h"
#include "sandbox/tree_changes.h"
#include "server/error.h"
#include "server/review/review.h"
#include "server/workspace/user_tree.h"

/// From whatever form a change came in to one: images before and after, and the patch between them.
namespace escrow::server {

/// What stands at a root-relative path now: the synced text of an open document, else the file.
using ReadImage = std::function<Result<FileImage>(const std::string& path)>;

/// One file's new content before it is bound to its base. `new_text` absent deletes it.
struct ProposedText {
  std::string path = {};  ///< root-relative
  std::optional<std::string> new_text = {};
  std::optional<std::uint32_t> mode = {};  ///< git mode
  std::string old_path = {};               ///< a rename's source; empty otherwise
};

/// A reviewed file from its two images: patch, hunks with stable ids.
ReviewFile make_review_file(const std::string& old_path, const std::string& path, FileImage before, FileImage after);

/// A unified diff against the tree as it stands. `bad_change` names the first thing that cannot be applied.
Result<std::vector<ReviewFile>> change_from_patch(const std::string& text, const ReadImage& read);

/// Whole new texts.
Result<std::vector<ReviewFile>> change_from_texts(const std::vector<ProposedText>& texts, const ReadImage& read);

/// What a command left in its copy-on-write layer. What can't be applied goes into `notes`, by name.
std::vector<ReviewFile> change_from_tree(const sandbox::TreeChanges& changes, std::vector<std::string>& notes);

/// Scores the change and sets risk, lane, notes and the checks its lane asks for.
void judge_change(Review& review, std::optional<double> confidence, const engine::Policy& policy);

/// Exactly base + approved hunks, as the gate will write it. A rename is one deletion and one new file.
/// `bad_change` if a chosen hunk does not fit its base, which would be a bug or a damaged store.
Result<std::vector<FileWrite>> approved_writes(const Review& review);

/// The review as it would be with only its approved hunks: what is scored again before it is applied.
Result<Review> approved_part(const Review& review);

/// The same change on the tree as it stands now, as a new revision that is pending again; empty if it does not apply
/// cleanly.
std::optional<Review> rebase_review(const Review& review, const ReadImage& read);

}  // namespace escrow::server
