#include "server/store/config.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "server/store/private_directory.h"
#include "tests/catch.h"
#include "tests/server/temp_dir.h"

using namespace escrow;
using namespace escrow::server;
using escrow::test::TempDir;

namespace {

Environment environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

struct Setting {
  TempDir home;
  TempDir workspace;

  Places places() const {
    Places places;
    places.config_dir = home / "config";
    places.system_policy = home / "etc/policy.yaml";
    return places;
  }
  Result<engine::Policy> load() const { return load_policy(places(), {workspace.path()}); }
};

}  // namespace

TEST_CASE("with no file at all the built-in policy holds") {
  const Setting setting;
  const auto policy = setting.load();
  REQUIRE(policy.has_value());
  CHECK(policy->version == engine::builtin_policy().version);
}

TEST_CASE("a broken policy file is an error with its place, never skipped") {
  const Setting setting;
  const auto file = setting.workspace / ".escrow/policy.yaml";
  setting.workspace.write(".escrow/policy.yaml", "rules: yes\n");
  const auto policy = setting.load();
  REQUIRE_FALSE(policy.has_value());
  CHECK(policy.error().message == file + ":1:8: rules: expected a list of rules, found \"yes\"");
}

TEST_CASE("an attack: a workspace policy behind a symbolic link is refused, and nothing of its target is shown") {
  const Setting setting;
  const auto secret = setting.home / "secret";
  setting.home.write("secret", "hidden: words\n");
  SECTION("the file") {
    std::filesystem::create_directories(setting.workspace / ".escrow");
    std::filesystem::create_symlink(secret, setting.workspace / ".escrow/policy.yaml");
  }
  SECTION("its directory") {
    setting.home.write("elsewhere/policy.yaml", "hidden: words\n");
    std::filesystem::create_directory_symlink(setting.home / "elsewhere", setting.workspace / ".escrow");
  }
  const auto policy = setting.load();
  REQUIRE_FALSE(policy.has_value());
  CHECK(policy.error().message.find("symbolic link") != std::string::npos);
  CHECK(policy.error().message.find("hidden") == std::string::npos);
}

TEST_CASE("an attack: a FIFO in place of the policy does not hang the reader") {
  const Setting setting;
  std::filesystem::create_directories(setting.workspace / ".escrow");
  REQUIRE(::mkfifo((setting.workspace / ".escrow/policy.yaml").c_str(), 0600) == 0);
  const auto policy = setting.load();
  REQUIRE_FALSE(policy.has_value());
  CHECK(policy.error().message.find("not a regular file") != std::string::npos);
}

TEST_CASE("an attack: a user policy that others may write is refused") {
  const Setting setting;
  const auto file = setting.home / "config/policy.yaml";
  setting.home.write("config/policy.yaml", "mode: observe\n");
  std::filesystem::permissions(file, std::filesystem::perms(0666));
  const auto policy = setting.load();
  REQUIRE_FALSE(policy.has_value());
  CHECK(policy.error().message == file + ": can be written by others; run chmod go-w on it");
}

TEST_CASE("an attack: a policy of gigabytes is refused before it is read") {
  const Setting setting;
  const auto file = setting.workspace / ".escrow/policy.yaml";
  setting.workspace.write(".escrow/policy.yaml", std::string(kMaxPolicyBytes + 1, '#'));
  const auto policy = setting.load();
  REQUIRE_FALSE(policy.has_value());
  CHECK(policy.error().message == file + ": is larger than 1 MiB; a policy is written by hand");
}

TEST_CASE("places follow XDG, and relative values are ignored as it asks") {
  const auto places = find_places(environment({{"HOME", "/home/ada"}, {"XDG_CONFIG_HOME", "relative"}}),
                                  Overrides::ignore, {"/home/ada/project"});
  REQUIRE(places.has_value());
  CHECK(places->config_dir == "/home/ada/.config/escrow");
  CHECK(places->state_dir == "/home/ada/.local/state/escrow");
  CHECK(places->grants_file == "/home/ada/.local/state/escrow/grants.json");
  CHECK(places->runtime_dir == "/home/ada/.local/state/escrow/run");
  const auto moved = find_places(
      environment({{"HOME", "/home/ada"}, {"XDG_STATE_HOME", "/var/ada"}, {"XDG_RUNTIME_DIR", "/run/user/7"}}),
      Overrides::ignore, {});
  REQUIRE(moved.has_value());
  CHECK(moved->state_dir == "/var/ada/escrow");
  CHECK(moved->runtime_dir == "/run/user/7/escrow");
}

TEST_CASE("a private directory of the person's own is taken as an override") {
  const TempDir own;
  const auto places = find_places(environment({{"HOME", "/home/ada"}, {"ESCROW_STATE_DIR", own.path() + "/"}}),
                                  Overrides::honour, {"/home/ada/project"});
  REQUIRE(places.has_value());
  CHECK(places->state_dir == own.path());
  CHECK(places->grants_file == own / "grants.json");
}

TEST_CASE("an attack: overrides are ignored where an agent's environment could set them") {
  const TempDir own;
  const auto places =
      find_places(environment({{"HOME", "/home/ada"}, {"ESCROW_STATE_DIR", own.path()}}), Overrides::ignore, {});
  REQUIRE(places.has_value());
  CHECK(places->state_dir == "/home/ada/.local/state/escrow");
}

TEST_CASE("an attack: an override that somebody else could fill is refused") {
  const TempDir base;
  const auto refused = [&](const std::string& variable, const std::string& value) {
    const auto places =
        find_places(environment({{"HOME", "/home/ada"}, {variable, value}}), Overrides::honour, {base / "project"});
    return places ? std::string("accepted") : places.error().message;
  };
  std::filesystem::create_directories(base / "project/state");
  std::filesystem::create_directories(base / "open");
  std::filesystem::permissions(base / "open", std::filesystem::perms(0755));
  std::filesystem::create_directory_symlink(base.path(), base / "link");
  std::filesystem::create_directory_symlink(base / "project", base / "detour");
  for (const auto* variable : {"ESCROW_STATE_DIR", "ESCROW_CONFIG_DIR", "ESCROW_GRANTS_PATH"}) {
    CAPTURE(variable);
    CHECK(refused(variable, "state").find("must be an absolute path") != std::string::npos);
    CHECK(refused(variable, base / "project/state").find("lies in the workspace") != std::string::npos);
    CHECK(refused(variable, base / "project/../project/new").find("lies in the workspace") != std::string::npos);
    CHECK(refused(variable, base / "detour/state").find("lies in the workspace") != std::string::npos);
    CHECK(refused(variable, base / "link").find("is a symbolic link") != std::string::npos);
  }
  CHECK(refused("ESCROW_STATE_DIR", base / "open").find("is open to others") != std::string::npos);
  CHECK(refused("ESCROW_GRANTS_PATH", base / "open/grants.json").find("its directory is open to others") !=
        std::string::npos);
  CHECK(refused("ESCROW_STATE_DIR", base / "fresh") == "accepted");
}

TEST_CASE("a private directory is made 0700, and one that is open to others is refused") {
  const TempDir base;
  REQUIRE(make_private_directory(base / "a/b/state").has_value());
  struct stat status {};
  REQUIRE(::stat((base / "a/b/state").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  REQUIRE(make_private_directory(base / "a/b/state").has_value());
  std::filesystem::permissions(base / "a/b/state", std::filesystem::perms(0750));
  CHECK_FALSE(make_private_directory(base / "a/b/state").has_value());
  std::filesystem::create_directory_symlink(base / "a", base / "link");
  CHECK_FALSE(make_private_directory(base / "link").has_value());
}

TEST_CASE("the workspace is the nearest directory upwards that holds .git") {
  const TempDir base;
  std::filesystem::create_directories(base / "repo/deep/inside");
  std::filesystem::create_directories(base / "plain");
  std::filesystem::create_directories(base / "repo/.git");
  CHECK(*workspace_root_around(base / "repo/deep/inside") == base / "repo");
  CHECK(*workspace_root_around(base / "plain") == base / "plain");
  CHECK_FALSE(workspace_root_around(base / "missing").has_value());
  base.write("worktree/.git", "gitdir: elsewhere\n");
  CHECK(*workspace_root_around(base / "worktree") == base / "worktree");
}

TEST_CASE("a path lies in a directory by whole components, never by prefix") {
  CHECK(lies_in("/a/b", "/a"));
  CHECK(lies_in("/a", "/a"));
  CHECK_FALSE(lies_in("/ab", "/a"));
  CHECK_FALSE(lies_in("/a", "/a/b"));
  CHECK_FALSE(lies_in("/a", "/"));
}
