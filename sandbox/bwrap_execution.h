#pragma once

#include <memory>

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

/// Runs one command in a cage.
Result<std::unique_ptr<RunningExecution>> run_in_cage(const CageServices& services, LaunchedCage cage, Command command,
                                                      Profile profile, ExecutionEvents events);

}  // namespace escrow::sandbox
