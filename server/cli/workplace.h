#pragma once

#include <string>

#include "engine/policy.h"
#include "server/error.h"
#include "server/store/places.h"

namespace escrow::server::cli {

/// Where a subcommand works: the workspace of the current (or given) directory, the user's places, the policy.
struct Workplace {
  std::string cwd;   ///< absolute, free of links
  std::string root;  ///< of the workspace: the git root, else cwd
  std::string home;  ///< empty if unknown
  Places places;
  engine::Policy policy;
};

/// `workspace`: a directory named by the person; empty for the one around the current directory.
Result<Workplace> find_workplace(const std::string& workspace = {});

}  // namespace escrow::server::cli
