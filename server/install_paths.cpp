#include "server/install_paths.h"

#include <filesystem>
#include <system_error>

namespace escrow::server {

InstallPaths install_paths_of(const std::string& self) {
  namespace fs = std::filesystem;
  const auto directory = fs::path(self).parent_path();
  const bool in_libexec = directory.filename() == "escrow" && directory.parent_path().filename() == "libexec";
  const auto prefix = in_libexec ? directory.parent_path().parent_path() : directory.parent_path();
  return {.program = (prefix / "bin" / "escrow").string(),
          .libexec_dir = (prefix / "libexec" / "escrow").string(),
          .rules_dir = (prefix / "share" / "doc" / "escrow" / "rules").string()};
}

Result<InstallPaths> find_install_paths() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return Error{ErrorKind::io,
                 "/proc/self/exe: " + error.message() + "; Escrow finds its parts from its own place, so mount /proc"};
  }
  return install_paths_of(program.string());
}

}  // namespace escrow::server
