#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/error.h"

/// Where this user's Escrow keeps its things (XDG Base Directory Specification 0.8).
namespace escrow::server {

struct Places {
  std::string config_dir;     ///< holds the user's policy.yaml
  std::string state_dir;      ///< grants, audit log, reviews, stages; 0700
  std::string runtime_dir;    ///< sockets; 0700
  std::string grants_file;    ///< `<state_dir>/grants.json` unless overridden
  std::string system_policy;  ///< /etc/escrow/policy.yaml: always read
};

/// One environment variable, or nothing. Tests pass a map.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// ESCROW_STATE_DIR, ESCROW_CONFIG_DIR and ESCROW_GRANTS_PATH are the person's: honoured in the person's own terminal
/// and editor, never in a front that an agent's environment reaches.
enum class Overrides { honour, ignore };

/// Creates nothing. An override is refused (`invalid_params`, naming the variable) if it is relative, lies in one of
/// `workspaces`, is a symlink, or exists and is not this user's alone: whoever could set the variable or write there
/// could otherwise approve for the person.
Result<Places> find_places(const Environment& env, Overrides overrides, const std::vector<std::string>& workspaces);

/// The workspace that `dir` belongs to: the nearest directory upwards that holds `.git`, else `dir` itself. Absolute
/// and free of links; an `io` error if `dir` does not exist.
Result<std::string> workspace_root_around(const std::string& dir);

/// True if `path` is `root` or lies below it; both absolute and normalised. Nothing lies "in" the root directory `/`.
bool lies_in(const std::string& path, const std::string& root);

}  // namespace escrow::server
