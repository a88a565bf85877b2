#include "sandbox/probe.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "sandbox/bwrap_args.h"
#include "sandbox/host_advice.h"
#include "sandbox/host_facts.h"
#include "sandbox/landlock.h"
#include "sandbox/packet.h"
#include "sandbox/pipe.h"
#include "sandbox/program_output.h"
#include "sandbox/runner_protocol.h"
#include "sandbox/seccomp_filter.h"
#include "sandbox/spawn_launcher.h"
#include "sandbox/trusted_binary.h"

// The probe is a real sandbox, built by the same launcher from the same arguments, in which the runner's own binary is
// the command: no program of the host is needed. It has no stage and touches no disk. It must never hang, not even on
// a file system that does, so everything is awaited against one deadline and then killed.

namespace escrow::sandbox {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kLimit{2};

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

Profile probe_profile() {
  Profile profile;
  profile.workspace = "/workspace";
  return profile;
}

LaunchRequest probe_launch(const Programs& programs) {
  const Profile profile = probe_profile();
  HostFacts facts = gather_host_facts(profile, guest_identity("/"), "/nonexistent");
  facts.home_overlays.clear();
  return {.bwrap = programs.bwrap,
          .bwrap_args = bwrap_args(profile, facts),
          .runner = programs.runner,
          .scaffold = facts.scaffold,
          .uid = geteuid(),
          .gid = getegid(),
          .homes = {}};
}

RunRequest probe_run() {
  RunRequest run;
  run.execute.argv = {kRunnerPath, "--probe"};
  run.execute.cwd = "/";
  run.execute.landlock_read = {"/"};
  return run;
}

/// What a probe's sandbox had to say.
struct Findings {
  bool overlay = false;
  std::map<std::string, int> inside;  ///< as the runner printed it: name and number
};

/// A launcher that is ended and waited for, whatever happens.
class ProbeSandbox {
 public:
  ProbeSandbox() = default;
  ProbeSandbox(const ProbeSandbox&) = delete;
  ProbeSandbox& operator=(const ProbeSandbox&) = delete;
  ~ProbeSandbox() {
    control_.reset();
    if (!process_) return;
    // Now it ends by itself. If it cannot (a file system that hangs), it is killed and left to the kernel.
    if (!wait_readable(process_.get(), Clock::now() + std::chrono::milliseconds(500)))
      syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
    siginfo_t info{};
    waitid(P_PIDFD, static_cast<id_t>(process_.get()), &info, WEXITED | WNOHANG);
  }

  Result<Findings> run(const Programs& programs) {
    if (Result<void> started = start(programs); !started) return started.error();
    Findings findings;
    if (Result<void> heard = hear_launcher(findings); !heard) return heard.error();
    std::istringstream text(read_until(output_.get(), deadline_));
    std::string name;
    for (int value = 0; text >> name >> value;) findings.inside[name] = value;
    if (!findings.inside.contains("seccomp")) return why_silent();
    return findings;
  }

 private:
  Result<void> start(const Programs& programs) {
    Result<std::pair<UniqueFd, UniqueFd>> control = make_channel(), reports = make_channel();
    Result<Pipe> output = make_pipe();
    const Result<std::string>& filter = seccomp_program(Tracing::denied);
    if (!control || !reports || !output) return io_error("making channels");
    if (!filter) return filter.error();
    Result<UniqueFd> program = make_memory_file("seccomp", *filter);
    const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!program || !null) return io_error("opening /dev/null");
    Result<UniqueFd> process = spawn_launcher(programs.launcher, control->second.get(), LauncherPurpose::probe);
    if (!process) return process.error();
    process_ = std::move(*process);
    control_ = std::move(control->first);
    reports_ = std::move(reports->first);
    output_ = std::move(output->read);
    if (Result<void> sent =
            send_packet(control_.get(), PacketType::launch, encode(probe_launch(programs)), {program->get()});
        !sent)
      return sent;
    return send_packet(control_.get(), PacketType::run, encode(probe_run()),
                       {null.get(), output->write.get(), null.get(), reports->second.get()});
  }

  /// Until the overlay was tried, which is when the runner has its command.
  Result<void> hear_launcher(Findings& findings) {
    while (wait_readable(control_.get(), deadline_)) {
      Result<std::optional<Packet>> packet = receive_packet(control_.get(), MSG_DONTWAIT);
      if (!packet) return packet.error();
      if (!*packet) return Error{ErrorKind::io, "the launcher ended unexpectedly"};
      if ((*packet)->type == PacketType::failed || (*packet)->type == PacketType::gone)
        return decode_error((*packet)->payload)
            .value_or(Error{ErrorKind::io, "the launcher reports something malformed"});
      if ((*packet)->type != PacketType::mounted) continue;
      const std::optional<MountedReport> mounted = decode_mounted((*packet)->payload);
      findings.overlay = mounted && mounted->writable == "overlay";
      return {};
    }
    return Error{ErrorKind::io, "the sandbox was not ready within 2 seconds"};
  }

  /// The runner may have refused, or bubblewrap ended, after the launcher was done.
  Error why_silent() {
    const bool late = Clock::now() >= deadline_;
    for (int channel : {reports_.get(), control_.get()})
      for (;;) {
        Result<std::optional<Packet>> packet = receive_packet(channel, MSG_DONTWAIT);
        if (!packet || !*packet) break;
        if ((*packet)->type != PacketType::failed && (*packet)->type != PacketType::gone) continue;
        if (std::optional<Error> error = decode_error((*packet)->payload)) return *error;
      }
    return {ErrorKind::io, late ? "the runner did not answer within 2 seconds" : "the runner ended without an answer"};
  }

  UniqueFd control_, process_, output_, reports_;
  Clock::time_point deadline_ = Clock::now() + kLimit;
};

ProbeReason reason_of(const std::string& message) {
  const auto says = [&](std::string_view words) { return message.find(words) != std::string::npos; };
  if (says("AppArmor")) return ProbeReason::apparmor;
  if (says("user namespaces are off")) return ProbeReason::userns_off;
  if (says("outer container") || says("Operation not permitted")) return ProbeReason::nested_container;
  if (says("within 2 seconds")) return ProbeReason::timeout;
  return ProbeReason::failed;
}

/// The setting that is off, as the kernel spells it. Distributions have two.
std::string userns_setting() {
  if (first_line("/proc/sys/kernel/unprivileged_userns_clone") == "0")
    return "sudo sysctl -w kernel.unprivileged_userns_clone=1";
  return "sudo sysctl -w user.max_user_namespaces=15000";
}

std::string fix_for(const Probe& probe, const std::string& libexec_dir) {
  switch (probe.reason) {
    case ProbeReason::apparmor:
      return apparmor_command(libexec_dir + "/escrow-launcher", probe.bwrap_path);
    case ProbeReason::userns_off:
      return userns_setting();
    case ProbeReason::missing_binary:
      return install_command(os_release(), "bubblewrap");
    case ProbeReason::ok:
    case ProbeReason::untrusted_binary:
    case ProbeReason::nested_container:
    case ProbeReason::overlay_refused:
    case ProbeReason::timeout:
    case ProbeReason::failed:
    case ProbeReason::unsupported_os:
      return {};
  }
  return {};
}

/// `bubblewrap 0.8.0` → `0.8.0`. A word of its own output, not worth a sandbox.
std::string version_of(const std::string& bwrap) {
  const std::string text = output_of(bwrap, {"bwrap", "--version"});
  const std::size_t start = text.find(' '), end = text.find('\n');
  return start == std::string::npos || end == std::string::npos ? std::string()
                                                                : text.substr(start + 1, end - start - 1);
}

/// The first release with all the options that the sandbox is built of (--disable-userns came last).
constexpr std::string_view kOldestBubblewrap = "0.8.0";

bool is_set_uid(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && (info.st_mode & S_ISUID) != 0;
}

ProbeItem bubblewrap_item(const Probe& probe, const std::string& trouble) {
  ProbeItem item{.name = "bubblewrap", .available = !probe.bwrap_path.empty(), .detail = trouble, .fix = {}};
  const std::string install = install_command(os_release(), "bubblewrap");
  if (!item.available) {
    item.fix = probe.reason == ProbeReason::missing_binary ? install : "";
    return item;
  }
  item.detail = (probe.bwrap_version.empty() ? "no version" : probe.bwrap_version) + " at " + probe.bwrap_path;
  if (!probe.bwrap_version.empty() && is_older_version(probe.bwrap_version, kOldestBubblewrap)) {
    item.available = false;
    item.detail += ", older than " + std::string(kOldestBubblewrap) + ", which the sandbox needs";
    item.fix = install;
  }
  for (const std::string& advisory : advisories_for("bubblewrap", probe.bwrap_version)) {
    item.detail += "; " + advisory;
    item.fix = install;
  }
  if (is_set_uid(probe.bwrap_path)) {
    item.detail += "; set-uid, which nothing here needs";
    item.fix = "sudo chmod u-s " + probe.bwrap_path;
  }
  return item;
}

ProbeItem cgroup_item() {
  const bool v2 = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
  const std::string controllers = first_line("/sys/fs/cgroup/cgroup.controllers");
  return {.name = "cgroup",
          .available = false,
          .detail = v2 ? "version 2 (" + controllers + "); not used yet: memory is held by rlimits and a watchdog"
                       : "version 2 is not mounted; memory is held by rlimits and a watchdog",
          .fix = {}};
}

ProbeItem terminal_item() {
  const std::string legacy = first_line("/proc/sys/dev/tty/legacy_tiocsti");
  return {.name = "legacy_tiocsti",
          .available = true,
          .detail = legacy == "0" ? "off" : "on in this kernel; the filter refuses TIOCSTI inside",
          .fix = legacy == "1" ? "sudo sysctl -w dev.tty.legacy_tiocsti=0" : ""};
}

/// What the kernel says of Landlock where it has no ABI: compiled in and switched off can be mended.
std::string landlock_fix() {
  if (syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) >= 0 || errno != EOPNOTSUPP) return {};
  return "add landlock to the list lsm= of the kernel's command line (GRUB_CMDLINE_LINUX in /etc/default/grub), then: "
         "sudo update-grub && sudo reboot";
}

ProbeItem landlock_item(int abi) {
  std::string detail = "ABI " + std::to_string(abi);
  if (abi == 0) detail = "not in this kernel, or switched off; the mounts hold alone";
  if (abi == 1) detail = "ABI 1, not used: it refuses renames across directories";
  return {.name = "landlock", .available = abi >= 2, .detail = detail, .fix = abi == 0 ? landlock_fix() : ""};
}

void add_items(Probe& probe, const std::string& trouble, const std::string& libexec_dir) {
  probe.items.push_back(bubblewrap_item(probe, trouble));
  probe.items.push_back({"user-namespaces", probe.available, probe.available ? "a sandbox ran" : trouble,
                         probe.reason == ProbeReason::missing_binary ? "" : fix_for(probe, libexec_dir)});
  probe.items.push_back(
      {"network-namespace", probe.available, probe.available ? "no way out but the proxy" : "not tried", ""});
  probe.items.push_back({"overlay", probe.overlay,
                         probe.overlay     ? "copy-on-write workspaces"
                         : probe.available ? "refused; workspaces are copied"
                                           : "not tried",
                         ""});
  probe.items.push_back({"seccomp", probe.seccomp, probe.seccomp ? "filter installed" : "not tried", ""});
  probe.items.push_back(landlock_item(probe.available ? probe.landlock_abi : landlock_abi()));
  probe.items.push_back(cgroup_item());
  probe.items.push_back(terminal_item());
}

ProbeReason reason_of_missing(const std::string& message) {
  return message.find("not trusted") != std::string::npos ? ProbeReason::untrusted_binary : ProbeReason::missing_binary;
}

Probe run_probe(const std::string& libexec_dir) {
  Probe probe;
  const Result<Programs> programs = find_programs(libexec_dir, "");
  if (!programs) {
    probe.message = programs.error().message;
    probe.reason = reason_of_missing(probe.message);
    add_items(probe, probe.message, libexec_dir);
    return probe;
  }
  probe.bwrap_path = programs->bwrap;
  probe.bwrap_version = version_of(programs->bwrap);
  const Result<Findings> findings = ProbeSandbox().run(*programs);
  if (findings) {
    probe.available = true;
    probe.overlay = findings->overlay;
    probe.seccomp = findings->inside.at("seccomp") == 2;
    const auto landlock = findings->inside.find("landlock");
    probe.landlock_abi = landlock == findings->inside.end() ? 0 : landlock->second;
    probe.reason = probe.overlay ? ProbeReason::ok : ProbeReason::overlay_refused;
    probe.message = probe.overlay ? "a sandbox ran"
                                  : "a sandbox ran, but overlayfs is refused: workspaces are copied, up to a size";
  } else {
    probe.reason = reason_of(findings.error().message);
    probe.message = findings.error().message;
  }
  add_items(probe, probe.message, libexec_dir);
  return probe;
}

}  // namespace

std::string_view name_of(ProbeReason reason) {
  switch (reason) {
    case ProbeReason::ok:
      return "ok";
    case ProbeReason::missing_binary:
      return "missing-binary";
    case ProbeReason::untrusted_binary:
      return "untrusted-binary";
    case ProbeReason::userns_off:
      return "userns-off";
    case ProbeReason::apparmor:
      return "apparmor";
    case ProbeReason::nested_container:
      return "nested-container";
    case ProbeReason::overlay_refused:
      return "overlay-refused";
    case ProbeReason::timeout:
      return "timeout";
    case ProbeReason::failed:
      return "failed";
    case ProbeReason::unsupported_os:
      return "unsupported-os";
  }
  return "failed";
}

const Probe& probe_host(const std::string& libexec_dir) {
  static const Probe probe = run_probe(libexec_dir);
  return probe;
}

}  // namespace escrow::sandbox
