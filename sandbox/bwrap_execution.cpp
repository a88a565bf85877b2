#include "sandbox/bwrap_execution.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <deque>

#include "sandbox/egress_guard.h"
#include "sandbox/guest_env.h"
#include "sandbox/output_capture.h"
#include "sandbox/packet.h"
#include "sandbox/path_pattern.h"
#include "sandbox/pipe.h"
#include "sandbox/reap.h"
#include "sandbox/runner_protocol.h"

// The life of an execution, as seen from the loop:
//
//   run ──▶ launcher            ready (listeners), mounted       ─┐ any of these may be
//                               started (pty)                     │ `failed` instead: then
//                               output …                          │ nothing ran, and on_done
//                               exited, ends of both streams     ─┘ hears an Error
//   read the changes on another thread ──▶ on_done ──▶ close the channel
//
// Every callback holds the state alive and looks at `phase_` first, so that closing everything is enough to stop it.

namespace escrow::sandbox {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;

constexpr std::chrono::seconds kSetupLimit{30};  // copying a workspace takes its time
constexpr std::chrono::seconds kKillGrace{2};

/// A pipe's or terminal's end as Asio reads and writes it.
struct StreamEnd {
  explicit StreamEnd(asio::io_context& loop) : descriptor(loop) {}
  asio::posix::stream_descriptor descriptor;
  std::array<char, 65536> buffer;
  bool open = false;
};

class State : public std::enable_shared_from_this<State> {
 public:
  State(const CageServices& services, LaunchedCage cage, Command command, Profile profile, ExecutionEvents events,
        std::unique_ptr<StageLease> lease)
      : loop_(services.loop),
        readers_(services.readers),
        options_(services.options),
        pool_(services.pool),
        cage_(std::move(cage)),
        lease_(std::move(lease)),
        command_(std::move(command)),
        profile_(std::move(profile)),
        events_(std::move(events)),
        control_(loop_),
        reports_(loop_),
        out_(loop_),
        err_(loop_),
        stdin_(loop_),
        timer_(loop_),
        captured_out_(profile_.limits.output_shown_bytes),
        captured_err_(profile_.limits.output_shown_bytes) {}

  Result<void> start(MaskIndex& masks);
  void abandon();
  void kill();
  void write_stdin(std::string_view bytes);
  void close_stdin();
  void resize(PtySize size);

 private:
  enum class Phase { setting_up, running, reading, done };

  Result<void> open_streams();
  void send_request(const std::vector<std::string>& masked);
  RunRequest run_request(const std::vector<std::string>& masked) const;
  void guard_egress(std::vector<UniqueFd> listeners);

  void wait_for_control();
  void hear_launcher(Packet packet);
  void wait_for_report();
  void hear_runner(Packet packet);
  void hear_last_report();
  void on_started(Packet packet);

  void attach(StreamEnd& end, int fd);
  void read(StreamEnd& end, Stream stream);
  void take_output(Stream stream, std::string_view bytes);
  void write_next();

  void arm(std::chrono::milliseconds limit);
  void on_timer();
  void end_everything();

  void finish_if_over();
  void read_changes();
  void deliver(TreeChanges changes);
  void fail(Error error);
  void close();
  Execution execution();

  asio::io_context& loop_;
  std::weak_ptr<asio::thread_pool> readers_;
  const ExecutorOptions& options_;  ///< of the executor; not touched once it may be gone
  std::weak_ptr<CagePool> pool_;
  LaunchedCage cage_;
  std::unique_ptr<StageLease> lease_;
  Command command_;
  Profile profile_;
  ExecutionEvents events_;

  asio::posix::stream_descriptor control_, reports_;
  StreamEnd out_, err_, stdin_;
  std::deque<std::string> to_stdin_;
  bool close_stdin_ = false;
  asio::steady_timer timer_;
  std::shared_ptr<EgressGuard> egress_;
  std::vector<UniqueFd> for_command_;  ///< stdin, stdout, stderr, reports, until they are sent
  bool warm_ = false;

  Phase phase_ = Phase::setting_up;
  bool killed_ = false, timed_out_ = false, kill_sent_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::duration lasted_{0};
  std::optional<std::string> writable_;  ///< known once the launcher has mounted the workspace
  bool launcher_gone_ = false;
  int landlock_abi_ = 0;
  std::optional<ExitedReport> exited_;
  std::vector<timespec> starts_;
  OutputCapture captured_out_, captured_err_;
};

std::uint64_t whole_seconds(std::optional<std::chrono::milliseconds> time) {
  return time ? static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(*time).count()) : 0;
}

GuestLimits guest_limits(const Limits& limits) {
  const std::uint64_t memory = memory_limit(limits);
  return {.data_bytes = memory,
          .tree_rss_bytes = memory,
          .file_bytes = limits.file_size_bytes.value_or(limits.stage_bytes),
          .pids = limits.pids,
          .files = 65536,
          .cpu_seconds = whole_seconds(limits.cpu),
          .stage_bytes = limits.stage_bytes};
}

Result<void> State::start(MaskIndex& masks) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (lease_) starts_ = lease_->starts;
  starts_.push_back(now);
  control_.assign(cage_.control.release());
  reap_when_ended(loop_, std::move(cage_.process), lease_ ? lease_->give_back : nullptr);
  if (Result<void> opened = open_streams(); !opened) return opened;
  if (cage_.listeners) {
    warm_ = true;
    guard_egress(std::move(*cage_.listeners));
  }
  wait_for_control();
  wait_for_report();
  arm(kSetupLimit);
  masks.find(profile_.workspace, masks_of(profile_),
             [self = shared_from_this()](const std::vector<std::string>& masked) {
               if (self->phase_ == Phase::setting_up) self->send_request(masked);
             });
  return {};
}

void State::guard_egress(std::vector<UniqueFd> listeners) {
  egress_ = make_egress_guard(loop_, std::move(listeners),
                              {.allow = profile_.network_allow, .allow_private = options_.private_egress});
}

RunRequest State::run_request(const std::vector<std::string>& masked) const {
  const MountRequest mount{.workspace = profile_.workspace,
                           .writable = profile_.writable,
                           .copy_limit_bytes = options_.copy_limit_bytes,
                           .try_overlay = options_.try_overlay,
                           .session = lease_ ? profile_.session : std::string(),
                           .masked = masked,
                           .unsaved = profile_.unsaved};
  std::vector<std::string> writes = {profile_.workspace, "/tmp", "/dev", "/proc"};
  if (!cage_.facts.home.empty()) writes.push_back(cage_.facts.home);
  ExecuteRequest execute{.argv = command_.argv,
                         .env = guest_env(host_environment(), cage_.guest, profile_, command_),
                         .cwd = command_.cwd,
                         .pty = command_.pty,
                         .limits = guest_limits(profile_.limits),
                         .landlock_read = {"/"},
                         .landlock_write = std::move(writes)};
  return {mount, std::move(execute)};
}

/// The command's ends of its streams, and ours.
Result<void> State::open_streams() {
  Result<std::pair<UniqueFd, UniqueFd>> reports = make_channel();
  if (!reports) return reports.error();
  UniqueFd in(open("/dev/null", O_RDONLY | O_CLOEXEC)), out(open("/dev/null", O_WRONLY | O_CLOEXEC)),
      err(dup(out.get()));
  if (!in || !out || !err) return io_error("opening /dev/null");
  if (command_.stdin_open && !command_.pty) {
    Result<Pipe> pipe = make_pipe();
    if (!pipe) return pipe.error();
    in = std::move(pipe->read);
    attach(stdin_, pipe->write.release());
  } else if (command_.stdin_text && !command_.pty) {
    Result<UniqueFd> text = make_memory_file("stdin", *command_.stdin_text);
    if (!text) return text.error();
    in = std::move(*text);
  }
  if (!command_.pty) {
    for (auto [end, fd] : {std::pair{&out_, &out}, {&err_, &err}}) {
      Result<Pipe> pipe = make_pipe();
      if (!pipe) return pipe.error();
      *fd = std::move(pipe->write);
      attach(*end, pipe->read.release());
    }
  }
  reports_.assign(reports->first.release());
  for (UniqueFd* fd : {&in, &out, &err, &reports->second}) for_command_.push_back(std::move(*fd));
  return {};
}

void State::send_request(const std::vector<std::string>& masked) {
  std::vector<int> fds;
  for (const UniqueFd& fd : for_command_) fds.push_back(fd.get());
  if (lease_) fds.push_back(lease_->lock.get());
  const Result<void> sent = send_packet(control_.native_handle(), PacketType::run, encode(run_request(masked)), fds);
  for_command_.clear();
  if (!sent) {
    // Not from inside `start`.
    asio::post(loop_, [self = shared_from_this(), error = sent.error()] { self->fail(error); });
    return;
  }
  if (!command_.pty) {
    read(out_, Stream::out);
    read(err_, Stream::err);
  }
  if (command_.stdin_text && (command_.stdin_open || command_.pty)) write_stdin(*command_.stdin_text);
}

// ---- What launcher and runner say

void State::wait_for_control() {
  control_.async_wait(asio::posix::stream_descriptor::wait_read, [self = shared_from_this()](ErrorCode error) {
    if (error || self->phase_ == Phase::done) return;
    Result<std::optional<Packet>> packet = receive_packet(self->control_.native_handle(), MSG_DONTWAIT);
    if (!packet && is_nothing_to_read(packet.error())) return self->wait_for_control();
    if (packet && *packet) {
      self->hear_launcher(std::move(**packet));
      if (self->phase_ != Phase::done) self->wait_for_control();
      return;
    }
    self->launcher_gone_ = true;
    self->hear_last_report();
    if (self->phase_ == Phase::done) return;
    if (self->exited_) return self->finish_if_over();
    self->fail({ErrorKind::unavailable, "the sandbox's launcher ended unexpectedly"});
  });
}

void State::hear_launcher(Packet packet) {
  const auto error_in = [](const Packet& from) {
    return decode_error(from.payload).value_or(Error{ErrorKind::io, "the launcher reports something malformed"});
  };
  switch (packet.type) {
    case PacketType::ready:
      return guard_egress(std::move(packet.fds));
    case PacketType::mounted:
      if (const std::optional<MountedReport> mounted = decode_mounted(packet.payload)) writable_ = mounted->writable;
      return finish_if_over();
    case PacketType::failed:
      return fail(error_in(packet));
    case PacketType::gone:
      hear_last_report();
      if (exited_ || phase_ == Phase::done) return;
      if (phase_ == Phase::setting_up)
        return fail({ErrorKind::unavailable, "the sandbox does not start: " + error_in(packet).message});
      // Killed under us, by the kernel or by somebody of this user.
      exited_ = ExitedReport{.wait_status = SIGKILL, .cpu_us = 0, .max_rss_kib = 0, .limit = {}};
      killed_ = killed_ || !timed_out_;
      return finish_if_over();
    default:
      return;
  }
}

void State::wait_for_report() {
  reports_.async_wait(asio::posix::stream_descriptor::wait_read, [self = shared_from_this()](ErrorCode error) {
    if (error || self->phase_ == Phase::done) return;
    Result<std::optional<Packet>> packet = receive_packet(self->reports_.native_handle(), MSG_DONTWAIT);
    if (!packet && is_nothing_to_read(packet.error())) return self->wait_for_report();
    if (!packet || !*packet) return;  // the launcher tells why
    self->hear_runner(std::move(**packet));
    if (self->phase_ != Phase::done && !self->exited_) self->wait_for_report();
  });
}

/// Two channels: what the runner said before it ended may still wait in its own.
void State::hear_last_report() {
  while (phase_ != Phase::done && !exited_ && reports_.is_open()) {
    Result<std::optional<Packet>> packet = receive_packet(reports_.native_handle(), MSG_DONTWAIT);
    if (!packet || !*packet) return;
    hear_runner(std::move(**packet));
  }
}

void State::hear_runner(Packet packet) {
  switch (packet.type) {
    case PacketType::started:
      return on_started(std::move(packet));
    case PacketType::exited:
      exited_ = decode_exited(packet.payload);
      if (!exited_) return fail({ErrorKind::io, "the runner reports something malformed"});
      lasted_ = Clock::now() - began_;
      return finish_if_over();
    case PacketType::failed:
      return fail(
          decode_error(packet.payload).value_or(Error{ErrorKind::io, "the runner reports something malformed"}));
    default:
      return;
  }
}

void State::on_started(Packet packet) {
  if (const std::optional<StartedReport> started = decode_started(packet.payload))
    landlock_abi_ = started->landlock_abi;
  phase_ = Phase::running;
  if (const auto pool = pool_.lock()) pool->began(warm_, Clock::now() - began_);
  if (command_.pty && packet.fds.size() == 1) {
    attach(out_, packet.fds.front().release());
    read(out_, Stream::out);
    write_next();
  }
  const auto left = profile_.limits.wall - std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began_);
  arm(std::max(left, std::chrono::milliseconds(0)));
  if (killed_) end_everything();
}

// ---- Streams

void State::attach(StreamEnd& end, int fd) {
  end.descriptor.assign(fd);
  end.open = true;
}

void State::read(StreamEnd& end, Stream stream) {
  end.descriptor.async_read_some(asio::buffer(end.buffer),
                                 [self = shared_from_this(), &end, stream](ErrorCode error, std::size_t count) {
                                   if (self->phase_ == Phase::done) return;
                                   if (count > 0) self->take_output(stream, {end.buffer.data(), count});
                                   if (self->phase_ == Phase::done) return;  // a callback may have dropped us
                                   if (!error) return self->read(end, stream);
                                   // The end of a pipe, or, with a terminal, EIO once nobody has it open.
                                   end.open = false;
                                   end.descriptor.close();
                                   self->finish_if_over();
                                 });
}

void State::take_output(Stream stream, std::string_view bytes) {
  OutputCapture& capture = stream == Stream::out ? captured_out_ : captured_err_;
  const std::uint64_t before = capture.total_bytes();
  capture.append(bytes);
  if (before >= profile_.limits.output_kept_bytes || !events_.on_output) return;
  events_.on_output(stream, bytes.substr(0, profile_.limits.output_kept_bytes - before));
}

void State::write_stdin(std::string_view bytes) {
  if ((!command_.pty && !stdin_.open) || phase_ == Phase::done || close_stdin_) return;
  to_stdin_.emplace_back(bytes);
  if (to_stdin_.size() == 1) write_next();
}

void State::close_stdin() {
  close_stdin_ = true;
  if (to_stdin_.empty() && stdin_.open) write_next();
}

/// One write at a time; a terminal opens only when the command has started.
void State::write_next() {
  StreamEnd& end = command_.pty ? out_ : stdin_;
  if (!end.open) return;
  if (to_stdin_.empty()) {
    if (!close_stdin_ || command_.pty) return;
    end.open = false;
    end.descriptor.close();
    return;
  }
  asio::async_write(end.descriptor, asio::buffer(to_stdin_.front()),
                    [self = shared_from_this()](ErrorCode error, std::size_t) {
                      if (self->phase_ == Phase::done) return;
                      if (error)
                        self->to_stdin_.clear();  // nobody reads any more
                      else
                        self->to_stdin_.pop_front();
                      self->write_next();
                    });
}

void State::resize(PtySize size) {
  if (!command_.pty || !out_.open) return;
  winsize window{};
  window.ws_col = size.cols;
  window.ws_row = size.rows;
  ioctl(out_.descriptor.native_handle(), TIOCSWINSZ, &window);
}

// ---- Time and death

void State::arm(std::chrono::milliseconds limit) {
  timer_.expires_after(limit);
  timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (!error) self->on_timer();
  });
}

void State::on_timer() {
  if (phase_ == Phase::setting_up) return fail({ErrorKind::unavailable, "the sandbox was not ready within 30 seconds"});
  if (phase_ != Phase::running || exited_) return;
  if (!kill_sent_) {
    timed_out_ = true;
    return end_everything();
  }
  // The runner does not answer: its launcher ends the sandbox from outside, and says so by closing the channel.
  ::shutdown(control_.native_handle(), SHUT_WR);
  exited_ = ExitedReport{.wait_status = SIGKILL, .cpu_us = 0, .max_rss_kib = 0, .limit = {}};
  launcher_gone_ = true;
  finish_if_over();
}

void State::kill() {
  if (phase_ == Phase::done || phase_ == Phase::reading || exited_) return;
  killed_ = true;
  if (phase_ == Phase::running) end_everything();
}

void State::end_everything() {
  if (kill_sent_) return;
  kill_sent_ = true;
  (void)send_packet(reports_.native_handle(), PacketType::kill, {});
  arm(kKillGrace);
}

// ---- The end

/// The reports of launcher and runner come over two channels, in either order.
void State::finish_if_over() {
  if (!writable_ && !launcher_gone_) return;
  if (!exited_ || out_.open || err_.open || phase_ == Phase::reading || phase_ == Phase::done) return;
  phase_ = Phase::reading;
  timer_.cancel();
  if (lasted_ == Clock::duration{0}) lasted_ = Clock::now() - began_;
  read_changes();
}

/// Where the layers of a finished command lie, and how they are to be read.
struct WhatToRead {
  UniqueFd stage;    ///< holds the mask, and what was written unless a session keeps it
  UniqueFd session;  ///< none: the command had a stage of its own
  std::string workspace, writable;
  std::vector<timespec> starts;
  std::set<std::string> moved_texts;
  std::function<ArtefactTest(const std::string& workspace)> artefacts;
};

TreeChanges changes_of(const WhatToRead& what) {
  if (what.writable == "none") return {};
  const auto open_in = [](int directory, const char* name) {
    return UniqueFd(openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  };
  const bool copied = what.writable == "copy";
  const UniqueFd lower(open(what.workspace.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const UniqueFd mask = open_in(what.stage.get(), "mask");
  const UniqueFd& holder = copied || !what.session ? what.stage : what.session;
  const UniqueFd upper = open_in(holder.get(), copied ? "copy" : "upper");
  // Written for real, or taken away by the launcher: what changed is not known here.
  if (what.writable == "direct" || what.writable.empty() || !lower || !mask || !upper) {
    TreeChanges unknown;
    unknown.complete = false;
    return unknown;
  }
  const TreeLayers layers{.lower = lower.get(),
                          .mask = mask.get(),
                          .upper = upper.get(),
                          .starts = what.starts,
                          .kept = static_cast<bool>(what.session),
                          .moved_texts = what.moved_texts,
                          .is_artefact = what.artefacts ? what.artefacts(what.workspace) : nullptr};
  return copied ? read_copy_changes(layers) : read_overlay_changes(layers);
}

void State::read_changes() {
  const std::shared_ptr<asio::thread_pool> readers = readers_.lock();
  if (!readers) return fail({ErrorKind::unavailable, "the executor was closed while a command ran"});
  WhatToRead what{.stage = UniqueFd(dup(cage_.stage.directory.get())),
                  .session = lease_ ? UniqueFd(dup(lease_->directory.get())) : UniqueFd(),
                  .workspace = profile_.workspace,
                  .writable = writable_.value_or(""),
                  .starts = starts_,
                  .moved_texts = lease_ ? lease_->moved_texts : std::set<std::string>(),
                  .artefacts = options_.artefacts};
  asio::post(*readers, [self = shared_from_this(), what = std::move(what), work = asio::make_work_guard(loop_)] {
    auto changes = std::make_shared<TreeChanges>(changes_of(what));
    asio::post(self->loop_, [self, changes] { self->deliver(std::move(*changes)); });
  });
}

Execution State::execution() {
  Execution result;
  const int status = exited_->wait_status;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.reason = timed_out_                ? ExitReason::timeout
                  : killed_                 ? ExitReason::killed
                  : !exited_->limit.empty() ? ExitReason::limit
                                            : ExitReason::exit;
  result.out = captured_out_.take();
  result.err = captured_err_.take();
  result.duration = std::chrono::duration_cast<std::chrono::milliseconds>(lasted_);
  result.usage = {.cpu = std::chrono::milliseconds(exited_->cpu_us / 1000),
                  .max_rss_bytes = exited_->max_rss_kib << 10};
  result.enforcement = {.backend = "bubblewrap",
                        .level = "sandbox",
                        .layers = {"userns", "mountns", "pidns", "netns", "ipcns", "utsns", "seccomp"},
                        .writable = writable_.value_or("none"),
                        .memory = "rlimit-data+watchdog"};
  if (landlock_abi_ > 0) result.enforcement.layers.push_back("landlock");
  if (!exited_->limit.empty()) result.violations.push_back({ViolationKind::limit, exited_->limit});
  if (result.signal == SIGSYS)
    result.violations.push_back({ViolationKind::syscall, "a call of a foreign architecture"});
  if (egress_)
    for (std::string& host : egress_->refused()) result.violations.push_back({ViolationKind::egress, std::move(host)});
  return result;
}

void State::deliver(TreeChanges changes) {
  if (phase_ == Phase::done) return;
  Execution result = execution();
  result.changes = std::move(changes);
  close();
  if (auto done = std::exchange(events_.on_done, nullptr)) done(std::move(result));
}

void State::fail(Error error) {
  if (phase_ == Phase::done) return;
  close();
  if (auto done = std::exchange(events_.on_done, nullptr)) done(std::move(error));
}

void State::abandon() {
  events_ = {};
  close();
}

/// Closing the channel is what ends the sandbox. The descriptors of the stage go too; its lock is the launcher's now.
void State::close() {
  if (phase_ == Phase::done) return;
  phase_ = Phase::done;
  if (const auto pool = pool_.lock()) pool->over();
  for_command_.clear();
  ErrorCode ignored;
  timer_.cancel();
  for (asio::posix::stream_descriptor* end :
       {&control_, &reports_, &out_.descriptor, &err_.descriptor, &stdin_.descriptor})
    if (end->is_open()) end->close(ignored);
  egress_.reset();
  cage_.stage.directory.reset();
  cage_.stage.lock.reset();
}

/// What the caller holds.
class Handle : public RunningExecution {
 public:
  explicit Handle(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~Handle() override { state_->abandon(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void kill() override { state_->kill(); }
  void write_stdin(std::string_view bytes) override { state_->write_stdin(bytes); }
  void close_stdin() override { state_->close_stdin(); }
  void resize(PtySize size) override { state_->resize(size); }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace

MaskRequest masks_of(const Profile& profile) {
  MaskRequest request{.globs = profile.mask, .never_masked = profile.tracked_secrets, .foreign_secrets = {}};
  const char* home = getenv("HOME");
  if (!home) return request;
  for (const std::string& secret : home_secrets()) request.foreign_secrets.push_back(std::string(home) + "/" + secret);
  return request;
}

Result<std::unique_ptr<RunningExecution>> run_in_cage(const CageServices& services, LaunchedCage cage, Command command,
                                                      Profile profile, ExecutionEvents events,
                                                      std::unique_ptr<StageLease> lease) {
  auto state = std::make_shared<State>(services, std::move(cage), std::move(command), std::move(profile),
                                       std::move(events), std::move(lease));
  auto handle = std::make_unique<Handle>(state);
  if (Result<void> started = state->start(services.masks); !started) return started.error();
  return handle;
}

}  // namespace escrow::sandbox
