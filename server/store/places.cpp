#include "server/store/places.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "server/store/private_directory.h"

namespace escrow::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemPolicy = "/etc/escrow/policy.yaml";

Error unusable_place(const std::string& what, const std::string& why) {
  return {ErrorKind::invalid_params, what + ": " + why};
}

/// Not from the password database: its modules are shared libraries, and bin/escrow links none.
std::optional<std::string> home_dir(const Environment& env) {
  if (auto home = env("HOME"); home && home->starts_with('/')) return home;
  return std::nullopt;
}

/// `$<variable>/escrow`, or `<home>/<fallback>/escrow`. Relative values are ignored, as the specification asks.
std::string xdg_dir(const Environment& env, const char* variable, const std::string& home, const char* fallback) {
  const auto set = env(variable);
  const auto base = set && set->starts_with('/') ? *set : home + "/" + fallback;
  return (fs::path(base) / "escrow").lexically_normal().string();
}

/// The path with the links of its existing part resolved: what it will be once it is created.
std::string resolved(const std::string& path) {
  std::error_code error;
  const auto real = fs::weakly_canonical(path, error);
  return error ? fs::path(path).lexically_normal().string() : real.string();
}

enum class Is { directory, file };

Result<void> check_exists_private(const std::string& what, const std::string& path, Is wanted) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return io_error(what);
  }
  if (!S_ISLNK(status.st_mode)) {
    if (wanted == Is::directory && !S_ISDIR(status.st_mode))
      return unusable_place(what, "is not a directory; name one that is yours alone (0700)");
    if (wanted == Is::file && !S_ISREG(status.st_mode))
      return unusable_place(what, "is not a regular file; name one in a directory that is yours alone");
  }
  if (const auto why = why_not_private(status); !why.empty()) return unusable_place(what, why);
  return {};
}

Result<void> check_override(const std::string& variable, const std::string& path,
                            const std::vector<std::string>& workspaces, Is wanted) {
  const auto what = variable + "=" + path;
  if (!path.starts_with('/')) return unusable_place(what, "must be an absolute path");
  for (const auto& workspace : workspaces) {
    if (lies_in(resolved(path), resolved(workspace))) {
      return unusable_place(what,
                            "lies in the workspace " + workspace + ", where agents write; choose a place outside");
    }
  }
  return check_exists_private(what, path, wanted);
}

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// Puts the override into `place`, if there is one and it may be used.
Result<void> take_override(const Environment& env, const std::string& variable,
                           const std::vector<std::string>& workspaces, Is wanted, std::string& place) {
  const auto set = env(variable);
  if (!set || set->empty()) return {};
  const auto path = without_trailing_slash(*set);
  if (auto checked = check_override(variable, path, workspaces, wanted); !checked) return checked;
  place = fs::path(path).lexically_normal().string();
  return {};
}

Result<void> take_grants_override(const Environment& env, const std::vector<std::string>& workspaces,
                                  std::string& place) {
  const std::string variable = "ESCROW_GRANTS_PATH";
  if (auto taken = take_override(env, variable, workspaces, Is::file, place); !taken) return taken;
  const auto set = env(variable);
  if (!set || set->empty()) return {};
  // A file is as private as the directory in which it can be replaced.
  const auto parent = fs::path(place).parent_path().string();
  struct stat status {};
  if (::stat(parent.c_str(), &status) != 0) return io_error(variable + ": " + parent);
  if (const auto why = why_not_private(status); !why.empty()) {
    return unusable_place(variable + "=" + *set, "its directory " + why);
  }
  return {};
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

bool lies_in(const std::string& path, const std::string& root) {
  if (root.empty() || root == "/") return false;
  return path == root || (path.starts_with(root) && path[root.size()] == '/');
}

Result<Places> find_places(const Environment& env, Overrides overrides, const std::vector<std::string>& workspaces) {
  const auto home = home_dir(env);
  if (!home) return unusable_place("HOME", "is not an absolute path; set it to your home directory");
  Places places;
  places.config_dir = xdg_dir(env, "XDG_CONFIG_HOME", *home, ".config");
  places.state_dir = xdg_dir(env, "XDG_STATE_HOME", *home, ".local/state");
  places.system_policy = kSystemPolicy;
  if (overrides == Overrides::honour) {
    for (const auto& [variable, place] :
         {std::pair{"ESCROW_CONFIG_DIR", &places.config_dir}, std::pair{"ESCROW_STATE_DIR", &places.state_dir}}) {
      if (auto taken = take_override(env, variable, workspaces, Is::directory, *place); !taken) return taken.error();
    }
  }
  places.grants_file = places.state_dir + "/grants.json";
  if (overrides == Overrides::honour) {
    if (auto taken = take_grants_override(env, workspaces, places.grants_file); !taken) return taken.error();
  }
  const auto runtime = env("XDG_RUNTIME_DIR");
  places.runtime_dir = runtime && runtime->starts_with('/') ? *runtime + "/escrow" : places.state_dir + "/run";
  return places;
}

Result<std::string> workspace_root_around(const std::string& dir) {
  std::error_code error;
  const auto start = fs::canonical(dir, error);
  if (error) return Error{ErrorKind::io, dir + ": " + error.message()};
  for (auto at = start; at != at.root_path(); at = at.parent_path()) {
    struct stat status {};
    if (::lstat((at / ".git").c_str(), &status) == 0) return at.string();
  }
  return start.string();
}

}  // namespace escrow::server
