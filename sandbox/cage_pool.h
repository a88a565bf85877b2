#pragma once

#include <chrono>
#include <memory>

#include "sandbox/error.h"
#include "sandbox/executor.h"
#include "sandbox/launched_cage.h"
#include "sandbox/profile.h"

namespace boost::asio {
class io_context;
}

namespace escrow::sandbox {

/// Sandboxes that wait for a command, each used for one.
///
/// What a sandbox shows of the workspace and of HOME is mounted when its command is known, so one that waited shows
/// nothing stale; its walls are compared with the host's state again before it is used. A new one is started only when
/// nothing happens or a core is free, never between a command and its answer. A command that found none ready raises
/// the number, up to `most`; time without one lowers it again. Loop thread only.
class CagePool {
 public:
  virtual ~CagePool() = default;

  /// A sandbox of this profile: one that waits if there is one, else one just started.
  virtual Result<LaunchedCage> take(const Profile& profile) = 0;
  virtual void prepare(const Profile& profile) = 0;

  /// A command that was given its sandbox began, or is over: what the timing of refills goes by.
  virtual void began(bool warm, std::chrono::steady_clock::duration hand_off) = 0;
  virtual void over() = 0;

  virtual PoolStatus status() const = 0;
};

/// `options` and `loop` must outlive it.
std::shared_ptr<CagePool> make_cage_pool(boost::asio::io_context& loop, const ExecutorOptions& options);

}  // namespace escrow::sandbox
