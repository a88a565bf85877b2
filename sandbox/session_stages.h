#pragma once

#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sandbox/bwrap_execution.h"
#include "sandbox/error.h"
#include "sandbox/session_stage.h"

namespace escrow::sandbox {

/// The stages of this process's sessions, and whose turn it is: one command of a session at a time. Loop thread only.
class SessionStages : public std::enable_shared_from_this<SessionStages> {
 public:
  /// Large stages are removed on `workers`.
  SessionStages(std::string state_dir, std::weak_ptr<boost::asio::thread_pool> workers)
      : state_dir_(std::move(state_dir)), workers_(std::move(workers)) {}
  /// Removes the stages that die with their server. What a command that is being killed still writes is swept by the
  /// next one.
  ~SessionStages();
  SessionStages(const SessionStages&) = delete;
  SessionStages& operator=(const SessionStages&) = delete;

  bool is_free(const std::string& id) const;
  /// Only while it is free. The stage is the caller's until it gives the lease back.
  /// `unsaved`: the text of open documents as this command will see them.
  Result<std::unique_ptr<StageLease>> lease(const std::string& id, const std::map<std::string, std::string>& unsaved);
  /// Called once, when the session is free. In order of arrival.
  void wait(const std::string& id, std::function<void()> turn);
  /// Whose turn it was does not take it.
  void pass_on(const std::string& id);
  void settle(const std::string& id, std::vector<SettledPath> paths);
  void end(const std::string& id);

 private:
  struct Session {
    SessionStage stage;
    std::vector<timespec> starts;
    std::map<std::string, std::string> unsaved;  ///< as the last command saw them
    std::set<std::string> moved_texts;           ///< of those, what was another text for an earlier one
    bool busy = false, over = false;
    std::vector<SettledPath> settled;
    std::vector<std::function<void()>> waiting;
  };

  void give_back(const std::string& id);
  void next(Session& session);

  const std::string state_dir_;
  const std::weak_ptr<boost::asio::thread_pool> workers_;
  std::map<std::string, Session> sessions_;
};

}  // namespace escrow::sandbox
