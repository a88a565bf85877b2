#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/mask_walk.h"

namespace boost::asio {
class io_context;
class thread_pool;
}  // namespace boost::asio

namespace escrow::sandbox {

/// Which paths of a workspace a guest must not see, without walking the workspace for every command: it is walked once,
/// each directory is watched (inotify), and only what happened since is looked at again.
///
/// A secret made or hard-linked after the last event was read is a limit that the documentation names. Where watching
/// is not possible (no watches left, a secret with several names), every question walks. Loop thread only; the walks
/// run on `walkers`.
class MaskIndex {
 public:
  using Reply = std::function<void(const std::vector<std::string>&)>;

  MaskIndex(boost::asio::io_context& loop, std::weak_ptr<boost::asio::thread_pool> walkers);
  ~MaskIndex();
  MaskIndex(const MaskIndex&) = delete;
  MaskIndex& operator=(const MaskIndex&) = delete;

  /// Calls back at once if nothing relevant happened since the last question, else when that was looked at; never if
  /// the index goes first.
  void find(const std::string& workspace, const MaskRequest& request, Reply reply);

 private:
  class Entry;
  boost::asio::io_context& loop_;
  std::weak_ptr<boost::asio::thread_pool> walkers_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;  ///< by workspace
};

}  // namespace escrow::sandbox
