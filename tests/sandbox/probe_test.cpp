#include "sandbox/probe.h"

#include <set>

#include "sandbox/trusted_binary.h"
#include "tests/sandbox/cage_fixture.h"

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;

TEST_CASE("the probe runs a sandbox and says what holds in it") {
  const Probe probe = probe_host(libexec_dir());
  INFO(probe.message);
  CHECK(probe.available);
  CHECK(probe.seccomp);
  CHECK_FALSE(probe.bwrap_version.empty());
  std::set<std::string> names;
  for (const ProbeItem& item : probe.items) {
    names.insert(item.name);
    CHECK_FALSE(item.detail.empty());
  }
  CHECK(names == std::set<std::string>{"bubblewrap", "cgroup", "landlock", "legacy_tiocsti", "network-namespace",
                                       "overlay", "seccomp", "user-namespaces"});
}

TEST_CASE("what the probe finds of Landlock is what an execution reports") {
  Cage cage;
  const Execution execution = cage.sh("true");
  const auto& layers = execution.enforcement.layers;
  CHECK((std::find(layers.begin(), layers.end(), "landlock") != layers.end()) ==
        (probe_host(libexec_dir()).landlock_abi >= 2));
}

TEST_CASE("a bwrap in the workspace, or one that others may write, is not trusted") {
  const TempTree tree;
  tree.write("bin/bwrap", "#!/bin/sh\n");
  const std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  setenv("PATH", (tree.workspace() / "bin").c_str(), 1);
  const Result<std::string> found = find_bubblewrap(tree.workspace().string());
  setenv("PATH", path.c_str(), 1);
  REQUIRE(found);
  CHECK(found->find(tree.workspace().string()) == std::string::npos);
  fs::create_directory(tree.outside() / "libexec");
  for (const char* name : {"escrow-launcher", "escrow-runner"}) {
    fs::copy_file(fs::path(libexec_dir()) / name, tree.outside() / "libexec" / name);
    fs::permissions(tree.outside() / "libexec" / name, fs::perms(0777));
  }
  const Result<Programs> programs = find_programs((tree.outside() / "libexec").string(), tree.workspace().string());
  REQUIRE_FALSE(programs.has_value());
  CHECK(programs.error().message.find("writable by others") != std::string::npos);
}
