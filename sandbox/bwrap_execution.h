#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "sandbox/cage_pool.h"
#include "sandbox/executor.h"
#include "sandbox/launched_cage.h"
#include "sandbox/mask_index.h"

namespace boost::asio {
class io_context;
class thread_pool;
}  // namespace boost::asio

namespace escrow::sandbox {

/// What every execution of an executor uses; outlives them.
struct CageServices {
  boost::asio::io_context& loop;
  std::shared_ptr<boost::asio::thread_pool> readers;  ///< where changes are read, off the loop
  const ExecutorOptions& options;
  MaskIndex& masks;
  std::shared_ptr<CagePool> pool;
};

/// What a guest of this profile must not see of the workspace.
MaskRequest masks_of(const Profile& profile);

/// The stage of a session while one command has it: no two mounts may share an upper layer.
struct StageLease {
  UniqueFd lock;                      ///< held by the launcher too, which may outlive us
  UniqueFd directory;                 ///< `<state>/sessions/<id>`
  std::vector<timespec> starts;       ///< of the commands that wrote it so far
  std::set<std::string> moved_texts;  ///< see TreeLayers
  std::function<void()> give_back;    ///< called when the command's launcher has ended, hence its mounts are gone
};

/// Runs one command in a cage. `lease` is null for a stage of its own.
Result<std::unique_ptr<RunningExecution>> run_in_cage(const CageServices& services, LaunchedCage cage, Command command,
                                                      Profile profile, ExecutionEvents events,
                                                      std::unique_ptr<StageLease> lease);

}  // namespace escrow::sandbox
