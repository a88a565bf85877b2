#include "server/cli/workplace.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "server/store/config.h"

namespace escrow::server::cli {
namespace {

Result<std::string> real_directory(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (error) return Error{ErrorKind::invalid_params, path + ": " + error.message()};
  if (!std::filesystem::is_directory(real, error)) return Error{ErrorKind::invalid_params, path + ": not a directory"};
  return real.string();
}

}  // namespace

Result<Workplace> find_workplace(const std::string& workspace) {
  Workplace out;
  auto cwd = real_directory(".");
  if (!cwd) return cwd.error();
  out.cwd = std::move(*cwd);
  // A named directory is meant as it is; without one, the repository around us is.
  auto root = workspace.empty() ? workspace_root_around(out.cwd) : real_directory(workspace);
  if (!root) return root.error();
  out.root = std::move(*root);
  const auto env = process_environment();
  out.home = env("HOME").value_or("");
  auto places = find_places(env, Overrides::honour, {out.root});
  if (!places) return places.error();
  out.places = std::move(*places);
  auto policy = load_policy(out.places, {out.root});
  if (!policy) return policy.error();
  out.policy = std::move(*policy);
  return out;
}

}  // namespace escrow::server::cli
