#include "sandbox/launched_cage.h"

#include "sandbox/bwrap_args.h"
#include "sandbox/packet.h"
#include "sandbox/runner_protocol.h"
#include "sandbox/seccomp_filter.h"
#include "sandbox/spawn_launcher.h"
#include "sandbox/trusted_binary.h"

namespace escrow::sandbox {
namespace {

LaunchRequest launch_request(const Programs& programs, const Profile& profile, const LaunchedCage& cage) {
  return {.bwrap = programs.bwrap,
          .bwrap_args = bwrap_args(profile, cage.facts),
          .runner = programs.runner,
          .scaffold = cage.facts.scaffold,
          .uid = cage.guest.uid,
          .gid = cage.guest.gid,
          .homes = home_overlays(cage.facts)};
}

Result<void> start_launcher(const Programs& programs, const Profile& profile, LaunchedCage& cage) {
  const Result<std::string>& program = seccomp_program(profile.name == "debug" ? Tracing::allowed : Tracing::denied);
  if (!program) return program.error();
  Result<UniqueFd> filter = make_memory_file("seccomp", *program);
  if (!filter) return filter.error();
  Result<std::pair<UniqueFd, UniqueFd>> channel = make_channel();
  if (!channel) return channel.error();
  Result<UniqueFd> process = spawn_launcher(programs.launcher, channel->second.get(), LauncherPurpose::command);
  if (!process) return process.error();
  cage.control = std::move(channel->first);
  cage.process = std::move(*process);
  return send_packet(cage.control.get(), PacketType::launch, encode(launch_request(programs, profile, cage)),
                     {filter->get(), cage.stage.directory.get(), cage.stage.lock.get()});
}

}  // namespace

Result<LaunchedCage> launch_cage(const ExecutorOptions& options, const Profile& profile) {
  LaunchedCage cage;
  cage.guest = guest_identity(profile.workspace);
  if (Result<void> fits = check_workspace(profile.workspace, cage.guest); !fits) return fits.error();
  if (lies_within(options.state_dir, profile.workspace))
    return Error{ErrorKind::invalid_argument,
                 options.state_dir + ": Escrow's state lies in the workspace; move it out"};
  Result<Programs> programs = find_programs(options.libexec_dir, profile.workspace);
  if (!programs) return programs.error();
  cage.facts = gather_host_facts(profile, cage.guest, options.state_dir);
  if (cage.facts.scaffold.empty())
    return Error{ErrorKind::unavailable, "no directory to build the sandbox on (/sys, /mnt, /srv)"};
  Result<Stage> stage = make_stage(options.state_dir);
  if (!stage) return stage.error();
  cage.stage = std::move(*stage);
  if (Result<void> started = start_launcher(*programs, profile, cage); !started) {
    remove_stage(cage.stage.path);
    return started.error();
  }
  return cage;
}

}  // namespace escrow::sandbox
