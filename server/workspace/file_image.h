#pragma once

#include <cstdint>
#include <string>

namespace escrow::server {

enum class ImageKind { absent, file, symlink };

/// One side of a changed file, whole: what the gate compares and writes.
struct FileImage {
  ImageKind kind = ImageKind::absent;
  std::uint32_t mode = 0;    ///< permission bits of a file (only the executable ones are ever changed)
  std::string content = {};  ///< bytes, or the link target
  bool operator==(const FileImage&) const = default;
  bool exists() const { return kind != ImageKind::absent; }
};

/// The git file mode: 0100644, 0100755, 0120000; 0 for an absent file.
std::uint32_t git_mode(const FileImage& image);

/// Binds kind, executable bit and bytes: two images with one fingerprint are the same file to the gate.
std::string fingerprint(const FileImage& image);

}  // namespace escrow::server
