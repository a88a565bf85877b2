#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <filesystem>

#include "sandbox/bwrap_execution.h"
#include "sandbox/executor.h"
#include "sandbox/queued_execution.h"
#include "sandbox/session_stages.h"
#include "sandbox/stage.h"

namespace escrow::sandbox {
namespace {

/// A session that a person named and left.
constexpr std::chrono::hours kSessionKept{7 * 24};

Error invalid(std::string message) {
  return {ErrorKind::invalid_argument, std::move(message)};
}

bool has_zero(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

Result<void> check_strings(const Command& command) {
  if (command.argv.empty() || command.argv.front().empty()) return invalid("command: argv is empty");
  for (const std::string& arg : command.argv)
    if (has_zero(arg)) return invalid("command: an argument contains a zero byte");
  for (const auto& [name, value] : command.env)
    if (name.empty() || name.find('=') != std::string::npos || has_zero(name) || has_zero(value))
      return invalid("command: the environment variable \"" + name + "\" has an impossible name or value");
  return {};
}

Result<void> check_places(const Command& command, const Profile& profile) {
  if (has_zero(command.cwd) || !lies_within(command.cwd, profile.workspace))
    return invalid("cwd \"" + command.cwd + "\": not in the workspace \"" + profile.workspace + "\"");
  for (const auto& [path, text] : profile.unsaved)
    if (path.empty() || path.front() == '/' || path.back() == '/' || has_zero(path))
      return invalid("unsaved document \"" + path + "\": not a path relative to the workspace");
  for (const std::string& entry : profile.network_allow)
    if (entry.find('*') != std::string::npos && !entry.starts_with("*."))
      return invalid("network \"" + entry + "\": name the host; only a leading \"*.\" stands for more than one");
  return {};
}

class BwrapExecutor : public Executor {
 public:
  BwrapExecutor(boost::asio::io_context& loop, ExecutorOptions options)
      : options_(std::move(options)),
        readers_(std::make_shared<boost::asio::thread_pool>(1)),
        masks_(loop, readers_),
        services_{loop, readers_, options_, masks_, make_cage_pool(loop, options_)},
        sessions_(std::make_shared<SessionStages>(options_.state_dir, readers_)) {
    sweep_stages(options_.state_dir);
    boost::asio::post(*readers_, [state = options_.state_dir] { sweep_session_stages(state, kSessionKept); });
  }
  ~BwrapExecutor() override { readers_->join(); }
  BwrapExecutor(const BwrapExecutor&) = delete;
  BwrapExecutor& operator=(const BwrapExecutor&) = delete;

  Result<std::unique_ptr<RunningExecution>> start(Command command, Profile profile, ExecutionEvents events) override {
    if (command.cwd.empty()) command.cwd = profile.workspace;
    // Before the check: `..` must not climb out of the workspace by spelling.
    command.cwd = std::filesystem::path(command.cwd).lexically_normal().string();
    while (command.cwd.size() > 1 && command.cwd.back() == '/') command.cwd.pop_back();
    if (Result<void> fits = check_strings(command); !fits) return fits.error();
    if (Result<void> fits = check_places(command, profile); !fits) return fits.error();
    const std::string session = profile.session;
    if (session.empty()) return run(std::move(command), std::move(profile), std::move(events));
    if (!is_session_id(session)) return invalid("session \"" + session + "\": use 1 to 64 letters, digits, - or _");
    if (sessions_->is_free(session)) return run(std::move(command), std::move(profile), std::move(events));
    const auto queued = std::make_shared<QueuedExecution>(
        services_.loop,
        [this, command = std::move(command), profile = std::move(profile)](ExecutionEvents at_last) mutable {
          return run(std::move(command), std::move(profile), std::move(at_last));
        },
        std::move(events));
    take_turn(session, queued);
    return handle_of(queued);
  }

  void settle(const std::string& session, std::vector<SettledPath> paths) override {
    sessions_->settle(session, std::move(paths));
  }
  void end_session(const std::string& session) override { sessions_->end(session); }

  void prepare(const Profile& profile) override {
    services_.pool->prepare(profile);
    masks_.find(profile.workspace, masks_of(profile), [](const auto&) {});
  }

  PoolStatus pool() const override { return services_.pool->status(); }

 private:
  Result<std::unique_ptr<RunningExecution>> run(Command command, Profile profile, ExecutionEvents events) {
    std::unique_ptr<StageLease> lease;
    if (!profile.session.empty()) {
      Result<std::unique_ptr<StageLease>> leased = sessions_->lease(profile.session, profile.unsaved);
      if (!leased) return leased.error();
      lease = std::move(*leased);
    }
    const auto give_back = lease ? lease->give_back : nullptr;
    Result<LaunchedCage> cage = services_.pool->take(profile);
    if (cage)
      return run_in_cage(services_, std::move(*cage), std::move(command), std::move(profile), std::move(events),
                         std::move(lease));
    if (give_back) boost::asio::post(services_.loop, give_back);
    return cage.error();
  }

  /// One that was killed while it waited passes its turn on.
  void take_turn(const std::string& session, const std::weak_ptr<QueuedExecution>& queued) {
    sessions_->wait(session, [sessions = std::weak_ptr<SessionStages>(sessions_), session, queued] {
      const auto waiting = queued.lock();
      if (waiting && waiting->start()) return;
      if (const auto stages = sessions.lock()) stages->pass_on(session);
    });
  }

  ExecutorOptions options_;
  std::shared_ptr<boost::asio::thread_pool> readers_;
  MaskIndex masks_;
  CageServices services_;
  std::shared_ptr<SessionStages> sessions_;
};

}  // namespace

std::unique_ptr<Executor> make_bwrap_executor(boost::asio::io_context& loop, ExecutorOptions options) {
  return std::make_unique<BwrapExecutor>(loop, std::move(options));
}

}  // namespace escrow::sandbox
