#include "sandbox/launched_cage.h"

#include <sys/stat.h>

#include <algorithm>

#include "sandbox/bwrap_args.h"
#include "sandbox/packet.h"
#include "sandbox/runner_protocol.h"
#include "sandbox/spawn_launcher.h"

namespace escrow::sandbox {
namespace {

LaunchRequest launch_request(const CagePlan& plan) {
  return {.bwrap = plan.programs.bwrap,
          .bwrap_args = plan.bwrap_args,
          .runner = plan.programs.runner,
          .scaffold = plan.facts.scaffold,
          .uid = plan.guest.uid,
          .gid = plan.guest.gid,
          .homes = home_overlays(plan.facts)};
}

Result<void> start_launcher(const CagePlan& plan, LaunchedCage& cage) {
  const Result<std::string>& program = seccomp_program(plan.tracing);
  if (!program) return program.error();
  Result<UniqueFd> filter = make_memory_file("seccomp", *program);
  if (!filter) return filter.error();
  Result<std::pair<UniqueFd, UniqueFd>> channel = make_channel();
  if (!channel) return channel.error();
  Result<UniqueFd> process = spawn_launcher(plan.programs.launcher, channel->second.get(), LauncherPurpose::command);
  if (!process) return process.error();
  cage.control = std::move(channel->first);
  cage.process = std::move(*process);
  return send_packet(cage.control.get(), PacketType::launch, encode(launch_request(plan)),
                     {filter->get(), cage.stage.directory.get(), cage.stage.lock.get()});
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> identities(const HostFacts& facts) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  const auto add = [&](const std::string& path) {
    struct stat info {};
    (void)lstat(path.c_str(), &info);
    found.emplace_back(info.st_dev, info.st_ino);
  };
  std::for_each(facts.blank_files.begin(), facts.blank_files.end(), add);
  std::for_each(facts.blank_directories.begin(), facts.blank_directories.end(), add);
  if (!facts.resolv_conf.empty()) add(facts.resolv_conf);
  return found;
}

}  // namespace

Result<CagePlan> plan_cage(const ExecutorOptions& options, const Profile& profile) {
  CagePlan plan;
  plan.guest = guest_identity(profile.workspace);
  if (Result<void> fits = check_workspace(profile.workspace, plan.guest); !fits) return fits.error();
  if (lies_within(options.state_dir, profile.workspace))
    return Error{ErrorKind::invalid_argument,
                 options.state_dir + ": Escrow's state lies in the workspace; move it out"};
  Result<Programs> programs = find_programs(options.libexec_dir, profile.workspace);
  if (!programs) return programs.error();
  plan.programs = std::move(*programs);
  plan.facts = gather_host_facts(profile, plan.guest, options.state_dir);
  if (plan.facts.scaffold.empty())
    return Error{ErrorKind::unavailable, "no directory to build the sandbox on (/sys, /mnt, /srv)"};
  plan.bwrap_args = bwrap_args(profile, plan.facts);
  plan.tracing = profile.name == "debug" ? Tracing::allowed : Tracing::denied;
  plan.blanked = identities(plan.facts);
  return plan;
}

Result<LaunchedCage> launch_cage(const ExecutorOptions& options, const CagePlan& plan) {
  LaunchedCage cage;
  cage.guest = plan.guest;
  cage.facts = plan.facts;
  Result<Stage> stage = make_stage(options.state_dir);
  if (!stage) return stage.error();
  cage.stage = std::move(*stage);
  if (Result<void> started = start_launcher(plan, cage); !started) {
    remove_stage(cage.stage.path);
    return started.error();
  }
  return cage;
}

}  // namespace escrow::sandbox
