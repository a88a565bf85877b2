#include "tests/bench/bare_bwrap.h"

#include <filesystem>
#include <fstream>

#include "sandbox/bwrap_args.h"
#include "sandbox/host_facts.h"

namespace escrow::bench {
namespace {

/// What the launcher would make in its own mount namespace.
void make_scaffold(const std::string& scaffold, std::size_t homes) {
  for (const char* folder : {"/m", "/blank.d", "/home"}) std::filesystem::create_directories(scaffold + folder);
  for (const char* file : {"/blank", "/resolv.conf", "/runner"}) std::ofstream(scaffold + file);
  for (std::size_t i = 0; i < homes; ++i) std::filesystem::create_directories(scaffold + "/home/" + std::to_string(i));
}

/// The filter comes through a descriptor that only the launcher has.
void drop_seccomp(std::vector<std::string>& args) {
  for (std::size_t i = 0; i + 1 < args.size(); ++i) {
    if (args[i] != "--seccomp") continue;
    args.erase(args.begin() + static_cast<std::ptrdiff_t>(i), args.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    return;
  }
}

}  // namespace

std::vector<std::string> bare_bwrap(const std::string& workspace, const std::string& scratch,
                                    const std::vector<std::string>& command) {
  sandbox::Profile profile;
  profile.workspace = workspace;
  sandbox::HostFacts facts =
      sandbox::gather_host_facts(profile, sandbox::guest_identity(workspace), scratch + "/nowhere");
  facts.scaffold = scratch + "/scaffold";
  make_scaffold(facts.scaffold, facts.home_overlays.size());
  std::vector<std::string> args = sandbox::bwrap_args(profile, facts);
  drop_seccomp(args);
  args.insert(args.begin(), {"bwrap", "--unshare-net"});
  args.emplace_back("--");
  args.insert(args.end(), command.begin(), command.end());
  return args;
}

}  // namespace escrow::bench
