#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/diff.h"
#include "engine/line_topics.h"
#include "engine/path_class.h"
#include "engine/source_text.h"

/// A parsed change as the rules look at it: lines with what each byte is, files with what their path tells.
/// Views into the Patch, which must outlive them; one thread at a time (kinds are worked out when first asked for).
namespace escrow::engine {

class HunkView {
 public:
  HunkView(const Hunk& hunk, Language language) : hunk_(&hunk), language_(language) {}

  const Hunk& hunk() const { return *hunk_; }
  const std::vector<DiffLine>& lines() const { return hunk_->lines; }

  /// Code, string or comment for each byte of line `index`.
  const KindMask& kinds(std::size_t index) const;

  /// All that line `index` may be about.
  TopicMask topics(std::size_t index) const;
  /// Whether it may be about this.
  bool is_about(std::size_t index, Topic topic) const { return (topics(index) & bit(topic)) != 0; }

  /// The line with comments blanked out.
  std::string text_of(std::size_t index) const;

  /// Data from outside the program (a request, arguments, a form …) is in sight on the new side.
  bool has_user_input() const;

  bool has_removed() const;

 private:
  void classify() const;

  const Hunk* hunk_;
  Language language_;
  mutable std::vector<KindMask> kinds_;
  mutable std::vector<TopicMask> topics_;
  mutable std::optional<bool> user_input_;
};

struct FileView {
  const FilePatch* patch = nullptr;
  PathFacts facts;
  std::vector<HunkView> hunks;
};

struct ChangeView {
  std::vector<FileView> files;
  bool changes_code = false;  ///< some file that is neither a test nor prose nor generated has changed lines
};

ChangeView view_change(const Patch& patch);

}  // namespace escrow::engine
