#pragma once

#include <string>

#include "server/error.h"
#include "server/store/atomic_file.h"
#include "server/workspace/file_image.h"

/// Opening below a root that may be hostile: openat2(2), never following a link, never leaving the root.
namespace escrow::server {

/// Larger files are refused: they would be held in memory twice and no person reviews them.
inline constexpr std::size_t kMaxImageBytes = 64u << 20;

Result<Fd> open_root(const std::string& root);

/// The directory that holds `path`; `not_found` if it is missing.
Result<Fd> open_parent(int root, const std::string& path);

/// `path` without its last component; empty for the root itself.
std::string parent_of(const std::string& path);
/// The last component.
std::string name_of_path(const std::string& path);

/// Where a path really leads, its links followed as far as it exists; below `root` it stays spelt with `root` as given.
/// For judging only: what it names can change until it is opened.
std::string follow_links(const std::string& root, const std::string& path);

/// The file `name` in the directory `dir`, whole; absent is an image. `what` names it in messages.
Result<FileImage> read_image(int dir, const std::string& name, const std::string& what);

}  // namespace escrow::server
