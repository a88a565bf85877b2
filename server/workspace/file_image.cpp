#include "server/workspace/file_image.h"

#include "server/hash.h"

namespace escrow::server {

std::uint32_t git_mode(const FileImage& image) {
  switch (image.kind) {
    case ImageKind::absent:
      return 0;
    case ImageKind::symlink:
      return 0120000;
    case ImageKind::file:
      return (image.mode & 0100) != 0 ? 0100755 : 0100644;
  }
  return 0;
}

std::string fingerprint(const FileImage& image) {
  if (!image.exists()) return "absent";
  return std::to_string(git_mode(image)) + ":" + sha256_hex(image.content);
}

}  // namespace escrow::server
