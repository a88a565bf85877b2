#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sandbox/cage_fixture.h"

namespace escrow::sandbox::testing {

/// One executor for many commands, as a server has it.
class Server {
 public:
  explicit Server(ExecutorOptions options = {}) {
    profile.workspace = tree.workspace().string();
    options.state_dir = tree.state().string();
    options.libexec_dir = libexec_dir();
    executor = make_bwrap_executor(loop, std::move(options));
  }
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Ends it, and waits until every launcher has ended and was taken in.
  void stop() {
    running.clear();
    executor.reset();
    loop.restart();
    loop.run();
  }

  /// A loop that ran out of work stops until it is told otherwise.
  void step() {
    if (loop.run_one() == 0) loop.restart();
  }

  void let_pass(std::chrono::milliseconds time) {
    boost::asio::steady_timer timer(loop, time);
    bool over = false;
    timer.async_wait([&](auto) { over = true; });
    while (!over) step();
  }

  void wait_until_ready(std::size_t count) {
    for (int i = 0; i < 500 && executor->pool().ready < count; ++i) let_pass(std::chrono::milliseconds(10));
    REQUIRE(executor->pool().ready >= count);
  }

  using Slot = std::shared_ptr<std::optional<Execution>>;

  /// Starts a script; its outcome is in the slot once the loop has brought it.
  Slot begin(const std::string& script) {
    auto slot = std::make_shared<std::optional<Execution>>();
    ExecutionEvents events;
    events.on_done = [slot](Result<Execution> result) {
      if (!result) FAIL(result.error().message);
      slot->emplace(std::move(*result));
    };
    auto started = executor->start({.argv = {"/bin/sh", "-c", script}}, profile, std::move(events));
    if (!started) FAIL(started.error().message);
    running.push_back(std::move(*started));
    return slot;
  }

  Execution finish(const Slot& slot) {
    while (!*slot) step();
    return std::move(**slot);
  }

  Execution sh(const std::string& script) {
    Execution execution = finish(begin(script));
    running.clear();
    return execution;
  }

  TempTree tree;
  Profile profile;
  boost::asio::io_context loop;
  std::unique_ptr<Executor> executor;
  std::vector<std::unique_ptr<RunningExecution>> running;
};

/// Directories in `<state>/<kind>`.
inline std::size_t directories_in(const TempTree& tree, const char* kind) {
  std::size_t count = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(tree.state() / kind, error)) count += entry.is_directory() ? 1u : 0u;
  return count;
}

}  // namespace escrow::sandbox::testing
