// Builds one sandbox, mounts the workspace into it when a command is known, and takes everything away at the end.
//
// Started by the server with descriptor 3, a channel (see runner_protocol.h). Small and single-threaded, so that
// forking is cheap and namespaces may be entered; it never reads what the guest says. When the channel closes, for
// whatever reason (the server may have been killed), it ends the sandbox and removes the stage.

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <string>
#include <string_view>

#include "sandbox/launcher/cage.h"
#include "sandbox/launcher/namespaces.h"
#include "sandbox/packet.h"
#include "sandbox/remove_tree.h"
#include "sandbox/runner_protocol.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {
namespace {

constexpr int kControl = 3;

void report(const Error& error) {
  (void)send_packet(kControl, PacketType::failed, encode(error));
}

std::string path_of(int directory) {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(directory)).c_str(), path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

/// Descriptors opened before our own mounts: by path the stage might lie below one of them.
struct StagePlace {
  UniqueFd parent;
  std::string name;
};

StagePlace place_of(int stage) {
  const std::string path = path_of(stage);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {};
  return {UniqueFd(openat(stage, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), path.substr(slash + 1)};
}

void remove_stage(const StagePlace& place) {
  if (!place.parent || place.name.empty()) return;
  if (remove_tree(place.parent.get(), place.name)) unlinkat(place.parent.get(), (place.name + ".lock").c_str(), 0);
}

/// A probe has no stage and no workspace: whether an overlay can be mounted at all is tried on our own tmpfs.
enum class Purpose { command, probe };

/// The mount is already there when the runner hears of the command.
void run(Cage& cage, Packet& packet, Purpose purpose) {
  const std::optional<RunRequest> request = decode_run(packet.payload);
  const bool in_session = request && !request->mount.session.empty();
  if (!request || packet.fds.size() != (in_session ? 5u : 4u))
    return report({ErrorKind::io, "launcher: a request is malformed"});
  if (in_session) {
    cage.hold(std::move(packet.fds.back()));
    packet.fds.pop_back();
  }
  cage.mount_homes();
  const Result<MountedReport> mounted =
      purpose == Purpose::probe ? try_overlay(cage.scaffold()) : mount_workspace(cage.scaffold(), request->mount);
  if (!mounted) return report(mounted.error());
  std::vector<int> fds;
  for (const UniqueFd& fd : packet.fds) fds.push_back(fd.get());
  if (Result<void> sent = send_packet(cage.runner(), PacketType::execute, encode(request->execute), fds); !sent)
    return report({ErrorKind::unavailable, "the sandbox does not start: " + cage.last_words()});
  (void)send_packet(kControl, PacketType::mounted, encode(*mounted));
}

/// Until the channel closes.
void serve(Cage& cage, Purpose purpose) {
  bool gone = false;
  for (;;) {
    std::array<pollfd, 2> waits{pollfd{kControl, POLLIN, 0}, pollfd{gone ? -1 : cage.process(), POLLIN, 0}};
    if (poll(waits.data(), waits.size(), -1) < 0 && errno == EINTR) continue;
    if (waits[1].revents != 0) {
      gone = true;
      (void)send_packet(kControl, PacketType::gone, encode(Error{ErrorKind::unavailable, cage.last_words()}));
    }
    if (waits[0].revents == 0) continue;
    Result<std::optional<Packet>> packet = receive_packet(kControl);
    if (!packet || !*packet) return;
    if ((*packet)->type == PacketType::run) run(cage, **packet, purpose);
  }
}

/// Once more, in our own mount namespace: the kernel mounts nothing that lies in another one.
Result<void> reopen(UniqueFd& directory, const std::string& path) {
  directory.reset(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return io_error("opening " + path);
  return {};
}

Result<void> build(Cage& cage, const LaunchRequest& request, LaunchFds& fds) {
  const std::string stage = fds.stage ? path_of(fds.stage.get()) : std::string();
  if (Result<void> entered = enter_namespaces(); !entered) return entered;
  if (fds.stage)
    if (Result<void> opened = reopen(fds.stage, stage); !opened) return opened;
  Result<std::vector<UniqueFd>> listeners = open_listeners();
  if (!listeners) return listeners.error();
  if (Result<void> started = cage.start(request, fds); !started) return started;
  std::vector<int> passed;
  for (const UniqueFd& fd : *listeners) passed.push_back(fd.get());
  return send_packet(kControl, PacketType::ready, {}, passed);
}

void wait_for_close() {
  while (true) {
    const Result<std::optional<Packet>> packet = receive_packet(kControl);
    if (!packet || !*packet) return;
  }
}

std::optional<LaunchFds> launch_fds(std::vector<UniqueFd>& passed, Purpose purpose) {
  if (passed.size() != (purpose == Purpose::probe ? 1u : 3u)) return std::nullopt;
  LaunchFds fds;
  fds.seccomp = std::move(passed.front());
  if (purpose == Purpose::probe) return fds;
  fds.stage = std::move(passed[1]);
  fds.lock = std::move(passed[2]);
  return fds;
}

int launch(Purpose purpose) {
  Result<std::optional<Packet>> packet = receive_packet(kControl);
  if (!packet || !*packet) return 1;
  const std::optional<LaunchRequest> request = decode_launch((*packet)->payload);
  std::optional<LaunchFds> fds = launch_fds((*packet)->fds, purpose);
  if (!request || !fds) {
    report({ErrorKind::io, "launcher: the request is malformed"});
    return 1;
  }
  const StagePlace place = fds->stage ? place_of(fds->stage.get()) : StagePlace();
  Cage cage;
  if (Result<void> built = build(cage, *request, *fds); built) {
    serve(cage, purpose);
  } else {
    report({ErrorKind::unavailable, built.error().message});
    wait_for_close();
  }
  cage.end();
  remove_stage(place);
  return 0;
}

/// A terminal's interrupt is the server's to handle: were we to die of it, the stage would stay behind.
void outlive_the_terminal() {
  for (int number : {SIGINT, SIGHUP, SIGTERM, SIGQUIT, SIGPIPE}) signal(number, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace
}  // namespace escrow::sandbox

int main(int argc, char** argv) {
  using namespace escrow::sandbox;
  const bool probe = argc == 2 && std::string_view(argv[1]) == "--probe";
  if (argc != 1 && !probe) {
    constexpr std::string_view usage = "escrow-launcher is started by escrow, not by hand\n";
    return write(2, usage.data(), usage.size()) > 0 ? 2 : 3;
  }
  // Whatever the server forgot to close on exec ends here: the guest must inherit nothing.
  syscall(SYS_close_range, kControl + 1, ~0u, 0);
  fcntl(kControl, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  outlive_the_terminal();
  return launch(probe ? Purpose::probe : Purpose::command);
}
