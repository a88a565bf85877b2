#include "server/cli/side_by_side.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace escrow::server::cli {
namespace {

constexpr unsigned kMostThreads = 4;

/// Ends with its threads.
struct Helpers {
  std::vector<std::thread> threads;
  ~Helpers() {
    for (auto& thread : threads) thread.join();
  }
};

void run_side_by_side(std::size_t count, const std::function<void(std::size_t)>& work) {
  Helpers helpers;
  std::size_t next = 1;
  try {
    for (; next < count; ++next) {
      helpers.threads.emplace_back([&work, next] { work(next); });
    }
  } catch (const std::system_error&) {
    // A limit on processes.
  }
  work(0);
  for (; next < count; ++next) work(next);
}

}  // namespace

engine::Sharing side_by_side() {
  return {.width = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads), .run = run_side_by_side};
}

}  // namespace escrow::server::cli
