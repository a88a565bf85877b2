#include "server/install_paths.h"

#include <filesystem>

#include "tests/catch.h"

using namespace escrow::server;

TEST_CASE("the parts are found from the program's own place, wherever the tree was moved") {
  CHECK(install_paths_of("/usr/bin/escrow").libexec_dir == "/usr/libexec/escrow");
  CHECK(install_paths_of("/home/ada/.local/bin/escrow").libexec_dir == "/home/ada/.local/libexec/escrow");
  CHECK(install_paths_of("/usr/libexec/escrow/escrow-server").libexec_dir == "/usr/libexec/escrow");
  CHECK(install_paths_of("/usr/libexec/escrow/escrow-server").rules_dir == "/usr/share/doc/escrow/rules");
  CHECK(install_paths_of("/usr/libexec/escrow/escrow-server").program == "/usr/bin/escrow");
  CHECK(install_paths_of("/build/release/bin/escrow").libexec_dir == "/build/release/libexec/escrow");
}

TEST_CASE("the running program finds its own tree") {
  const auto paths = find_install_paths();
  REQUIRE(paths.has_value());
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  CHECK(std::filesystem::path(paths->program).parent_path().parent_path() == self.parent_path().parent_path());
}
