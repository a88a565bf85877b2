#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/error.h"
#include "server/workspace/file_image.h"

/// The user's files, read and (by the gate alone) written.
///
/// Every path is opened beneath its root by openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
/// RESOLVE_NO_MAGICLINKS, so no component can be swapped for a link between check and use.
namespace escrow::server {

/// One file to bring from exactly `before` to exactly `after`.
struct FileWrite {
  std::string path;  ///< root-relative, '/'-separated
  FileImage before, after;
};

/// What `write_all` did, enough to undo it.
struct WriteRecord {
  std::string id;  ///< names the undo record in the state directory
  std::vector<FileWrite> writes;
};

/// One of the two seams for tests.
class UserTree {
 public:
  virtual ~UserTree() = default;

  /// The file as it stands; absent is an image, not an error. Devices, FIFOs, directories and links on the way are
  /// `symlink_or_device_refused`; a path that leaves the root is `outside_roots`.
  virtual Result<FileImage> read(const std::string& root, const std::string& path) = 0;

  /// All or nothing, and only over exactly the `before` images: the displaced file is hashed after the exchange and put
  /// back on a mismatch (`stale`). A crash at any point is mended by `recover` to all-old or all-new.
  /// Only the gate calls this.
  virtual Result<WriteRecord> write_all(const std::string& root, const std::vector<FileWrite>& writes) = 0;

  /// Finishes or rolls back what a crash interrupted. Returns one line for each thing that needs a person.
  virtual std::vector<std::string> recover() = 0;
};

/// Why a root-relative path may not be touched; empty if it may. `.git`, `..`, absolute, empty components, NUL.
std::string refuse_path(const std::string& path);

}  // namespace escrow::server
