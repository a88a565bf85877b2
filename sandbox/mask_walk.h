#pragma once

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace escrow::sandbox {

/// What a guest is not to see of a workspace.
struct MaskRequest {
  std::vector<std::string> globs;            ///< hidden, beside the built-in list
  std::vector<std::string> never_masked;     ///< relative paths that stay visible whatever matches
  std::vector<std::string> foreign_secrets;  ///< absolute paths whose other hard links are to be hidden too
  bool operator==(const MaskRequest&) const = default;
};

/// Looks for the paths of a workspace that a guest must not see: those the built-in list and the globs name, those
/// whose text says so, and every further name (hard link) of the same file. No stat except for the hits; `.git` and
/// `node_modules` are not looked into for names. What it found can be brought up to date piece by piece.
class MaskWalk {
 public:
  /// Called with each directory that is looked into, before its entries are read; the prefix ends in `/` or is empty.
  using OnDirectory = std::function<void(int directory, const std::string& prefix)>;

  explicit MaskWalk(MaskRequest request, OnDirectory on_directory = {});

  /// Everything, from the beginning.
  void whole(int workspace);
  /// A directory that is new, and all below it. `path` is relative.
  void subtree(int workspace, const std::string& path);
  /// A file that is new, was written or is gone.
  void file(int workspace, const std::string& path);

  /// Relative paths, sorted, without those that lie below another one.
  std::vector<std::string> masked() const;
  /// A secret has further names: any new name anywhere may be one more.
  bool has_links() const { return !inodes_.empty(); }
  /// Does the name alone make a file worth a look?
  bool concerns(const std::string& path) const;

 private:
  void visit(int directory, const std::string& prefix, std::size_t depth, bool hidden_above);
  void visit_links(int directory, const std::string& prefix, std::size_t depth);
  bool holds_visible(const std::string& path) const;
  bool is_masked(int directory, const std::string& name, unsigned char type, const std::string& path) const;
  bool named(const std::string& path) const;
  void remember_links(int directory, const std::string& name);

  MaskRequest request_;
  OnDirectory on_directory_;
  std::set<std::string> visible_;
  std::set<std::string> found_;
  std::set<std::pair<dev_t, ino_t>> inodes_;
};

/// One walk.
std::vector<std::string> find_masked(int workspace, const MaskRequest& request);

/// Those of `tracked` (relative paths) that the lists or the globs would hide, alone or with a directory above them.
std::vector<std::string> masked_by_name(const std::vector<std::string>& tracked, const std::vector<std::string>& globs);

}  // namespace escrow::sandbox
