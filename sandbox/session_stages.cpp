#include "sandbox/session_stages.h"

#include <fcntl.h>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace escrow::sandbox {

SessionStages::~SessionStages() {
  for (const auto& [id, session] : sessions_)
    if (id.starts_with("live-")) remove_session_stage(state_dir_, id);
}

bool SessionStages::is_free(const std::string& id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() || (!found->second.busy && found->second.waiting.empty());
}

Result<std::unique_ptr<StageLease>> SessionStages::lease(const std::string& id,
                                                         const std::map<std::string, std::string>& unsaved) {
  auto found = sessions_.find(id);
  if (found == sessions_.end()) {
    Result<SessionStage> stage = open_session_stage(state_dir_, id);
    if (!stage) return stage.error();
    found = sessions_.try_emplace(id).first;
    found->second.stage = std::move(*stage);
  }
  Session& session = found->second;
  session.busy = true;
  auto lease = std::make_unique<StageLease>();
  lease->directory.reset(fcntl(session.stage.directory.get(), F_DUPFD_CLOEXEC, 0));
  lease->lock.reset(fcntl(session.stage.lock.get(), F_DUPFD_CLOEXEC, 0));
  lease->starts = session.starts;
  for (const auto& [path, text] : unsaved) {
    const auto before = session.unsaved.find(path);
    if (!session.starts.empty() && (before == session.unsaved.end() || before->second != text))
      session.moved_texts.insert(path);
  }
  session.unsaved = unsaved;
  lease->moved_texts = session.moved_texts;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  session.starts.push_back(now);
  lease->give_back = [weak = weak_from_this(), id] {
    if (const auto self = weak.lock()) self->give_back(id);
  };
  return lease;
}

void SessionStages::wait(const std::string& id, std::function<void()> turn) {
  sessions_[id].waiting.push_back(std::move(turn));
}

void SessionStages::settle(const std::string& id, std::vector<SettledPath> paths) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) {
    // Of a process that has ended: this one, for a moment.
    if (const Result<SessionStage> stage = open_session_stage(state_dir_, id))
      take_out_of_stage(stage->directory.get(), paths);
    return;
  }
  Session& session = found->second;
  for (const SettledPath& path : paths) session.moved_texts.erase(path.path);
  if (!session.busy) return take_out_of_stage(session.stage.directory.get(), paths);
  session.settled.insert(session.settled.end(), std::make_move_iterator(paths.begin()),
                         std::make_move_iterator(paths.end()));
}

void SessionStages::end(const std::string& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  found->second.over = true;
  if (found->second.busy) return;
  auto held = std::make_shared<SessionStage>(std::move(found->second.stage));
  sessions_.erase(found);
  if (const auto workers = workers_.lock())
    boost::asio::post(*workers, [held, id, state = state_dir_] { remove_session_stage(state, id); });
}

void SessionStages::give_back(const std::string& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  session.busy = false;
  take_out_of_stage(session.stage.directory.get(), std::exchange(session.settled, {}));
  if (session.over && session.waiting.empty()) return end(id);
  next(session);
}

void SessionStages::pass_on(const std::string& id) {
  const auto found = sessions_.find(id);
  if (found != sessions_.end() && !found->second.busy) next(found->second);
}

void SessionStages::next(Session& session) {
  if (session.waiting.empty()) return;
  const auto turn = std::move(session.waiting.front());
  session.waiting.erase(session.waiting.begin());
  turn();
}

}  // namespace escrow::sandbox
