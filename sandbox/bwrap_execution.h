#pragma once

#include <memory>

#include "sandbox/executor.h"
#include "sandbox/launched_cage.h"

namespace boost::asio {
class io_context;
class thread_pool;
}  // namespace boost::asio

namespace escrow::sandbox {

/// Runs one command in a cage. The changes are read in `readers`, off the loop.
Result<std::unique_ptr<RunningExecution>> run_in_cage(boost::asio::io_context& loop,
                                                      const std::shared_ptr<boost::asio::thread_pool>& readers,
                                                      const ExecutorOptions& options, LaunchedCage cage,
                                                      Command command, Profile profile, ExecutionEvents events);

}  // namespace escrow::sandbox
