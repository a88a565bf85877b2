#include <unistd.h>

#include <fstream>
#include <map>

#include "tests/sandbox/server_fixture.h"

// Many commands, one executor.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;

namespace {

std::size_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  file >> size >> resident;
  return resident;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

/// Commands one after the other in `width` lanes; each tells its number on both streams, in a file and by its exit
/// code.
class Crowd {
 public:
  Crowd(Server& server, int width) : server_(server), width_(width) {}

  void run(int from, int to) {
    next_ = from;
    last_ = to;
    for (int lane = 0; lane < width_; ++lane) begin();
    while (done_ < to - from) server_.step();
    done_ = 0;
    running_.clear();
  }

  std::vector<std::string> wrong;

 private:
  void begin() {
    if (next_ == last_) return;
    const int number = next_++;
    const std::string name = std::to_string(number);
    ExecutionEvents events;
    events.on_done = [this, number](Result<Execution> result) {
      check(number, result);
      ++done_;
      begin();
    };
    auto started = server_.executor->start(
        {.argv = {"/bin/sh", "-c",
                  "echo " + name + "; echo " + name + " >&2; echo " + name + " > f; exit $(($1 % 100))", "sh", name}},
        server_.profile, std::move(events));
    if (!started) FAIL(started.error().message);
    running_[number] = std::move(*started);
    if (number >= width_ * 4) running_.erase(number - width_ * 4);
  }

  void check(int number, const Result<Execution>& result) {
    const std::string line = std::to_string(number) + "\n";
    const bool right = result && result->exit_code == number % 100 && text(result->out) == line &&
                       text(result->err) == line && result->changes.changes.size() == 1 &&
                       result->changes.changes[0].after.content == line;
    if (!right) wrong.push_back(result ? line : line + result.error().message);
  }

  Server& server_;
  const int width_;
  int next_ = 0, last_ = 0, done_ = 0;
  std::map<int, std::unique_ptr<RunningExecution>> running_;
};

}  // namespace

TEST_CASE("a thousand commands, eight at a time: none lost, none mixed up, nothing grows, nothing is left") {
  Server server({.pool = {.least = 2, .most = 6}});
  server.tree.write("base", "untouched\n");
  const auto before = snapshot(server.tree.workspace());
  Crowd crowd(server, 8);
  crowd.run(0, 200);
  const std::size_t pages = resident_pages(), descriptors = open_descriptors();
  crowd.run(200, 1000);
  CHECK(crowd.wrong == std::vector<std::string>{});
  INFO("from " << pages << " to " << resident_pages() << " pages");
  CHECK(resident_pages() <= pages + pages / 5);
  CHECK(open_descriptors() <= descriptors + 40);
  CHECK(snapshot(server.tree.workspace()) == before);
  server.stop();
  CHECK(directories_in(server.tree, "stages") == 0);
}
