#include "tests/bench/sandbox_bench.h"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "sandbox/executor.h"
#include "tests/bench/bare_bwrap.h"
#include "tests/bench/child.h"
#include "tests/bench/session.h"

namespace escrow::bench {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using sandbox::Execution;

/// An executor as the server has it, and a loop to turn.
class Cages {
 public:
  Cages(const Setting& setting, const std::string& name, const std::string& workspace, std::size_t pool) {
    profile_.workspace = workspace;
    sandbox::ExecutorOptions options;
    options.state_dir = setting.scratch + "/state-" + name;
    options.libexec_dir = (fs::path(setting.escrow).parent_path().parent_path() / "libexec/escrow").string();
    options.pool = {.least = pool, .most = pool};
    executor_ = sandbox::make_bwrap_executor(loop_, options);
    executor_->prepare(profile_);
  }
  ~Cages() {
    running_.clear();
    executor_.reset();
    loop_.restart();
    loop_.run();
  }
  Cages(const Cages&) = delete;
  Cages& operator=(const Cages&) = delete;

  /// Until the sandboxes that are to wait do, and nothing else happens.
  void settle() {
    for (int i = 0; i < 300; ++i) {
      turn(10ms);
      const sandbox::PoolStatus pool = executor_->pool();
      if (pool.ready == pool.wanted) break;
    }
    turn(15ms);
  }

  /// From the call to the whole outcome, the changes of the workspace read.
  double run(const std::vector<std::string>& argv, std::size_t changes) {
    std::optional<Execution> outcome;
    const double began = now_ns();
    start(argv, [&](Execution execution) { outcome = std::move(execution); });
    while (!outcome) step();
    const double took = now_ns() - began;
    running_.clear();
    must(outcome->exit_code == 0, "the command did not exit with 0");
    must(outcome->changes.complete && outcome->changes.changes.size() == changes, "the changes are not those made");
    return took;
  }

  /// Many at once; the time of each from the common start.
  void burst(std::size_t count, Samples& times) {
    std::size_t done = 0;
    bool right = true;
    const double began = now_ns();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text = std::to_string(i) + "\n";
      start({"/bin/echo", std::to_string(i)}, [&, text](const Execution& execution) {
        right = right && execution.out.head == text && execution.exit_code == 0;
        times.add(now_ns() - began);
        ++done;
      });
    }
    while (done < count) step();
    running_.clear();
    must(right, "an answer of the burst is wrong");
  }

  const sandbox::PoolStatus pool() const { return executor_->pool(); }

 private:
  void start(const std::vector<std::string>& argv, std::function<void(Execution)> done) {
    sandbox::ExecutionEvents events;
    events.on_done = [done = std::move(done)](sandbox::Result<Execution> result) {
      if (!result) throw std::runtime_error(result.error().message);
      done(std::move(*result));
    };
    sandbox::Command command;
    command.argv = argv;
    auto running = executor_->start(std::move(command), profile_, std::move(events));
    if (!running) throw std::runtime_error(running.error().message);
    running_.push_back(std::move(*running));
  }

  /// A loop that ran out of work stops until it is told otherwise.
  void step() {
    if (loop_.run_one() == 0) loop_.restart();
  }

  void turn(std::chrono::milliseconds time) {
    boost::asio::steady_timer timer(loop_, time);
    bool over = false;
    timer.async_wait([&](auto) { over = true; });
    while (!over) step();
  }

  boost::asio::io_context loop_;
  sandbox::Profile profile_;
  std::unique_ptr<sandbox::Executor> executor_;
  std::vector<std::unique_ptr<sandbox::RunningExecution>> running_;
};

std::string make_workspace(const Setting& setting, std::size_t files) {
  const std::string root = setting.scratch + "/files-" + std::to_string(files);
  for (std::size_t i = 0; i < files; ++i) {
    const std::string folder = root + "/d" + std::to_string(i / 100);
    if (i % 100 == 0) {
      fs::create_directories(folder);
      show_progress("file", i, files);
    }
    std::ofstream(folder + "/f" + std::to_string(i)) << i << '\n';
  }
  return fs::canonical(root).string();
}

std::function<double()> in_workspace(const Setting& setting, std::size_t files) {
  auto cages = std::make_shared<Cages>(setting, std::to_string(files), make_workspace(setting, files), 2);
  return [cages] {
    cages->settle();
    return cages->run({"/usr/bin/touch", "new-file"}, 1);
  };
}

/// In PATH, or empty.
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string file = std::string(rest.substr(0, colon)) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

struct Peer {
  const char* program;
  std::vector<std::string> argv;
};

/// Other sandboxes, each as its own documentation starts it.
const std::vector<Peer> kPeers = {{"firejail", {"firejail", "--quiet", "--noprofile", "true"}},
                                  {"nsjail", {"nsjail", "-Mo", "-Q", "--chroot", "/", "--", "/bin/true"}},
                                  {"srt", {"srt", "true"}}};

}  // namespace

int run_sandbox(const Setting& setting) {
  const Machine machine;
  std::vector<Task> tasks;
  const auto add = [&](const char* name, std::function<double()> measure) {
    tasks.push_back({.name = name, .measure = std::move(measure)});
  };
  add("spawn", [] { return time_program({"/bin/true"}); });
  tasks.push_back(prepare("bwrap", [&] {
    const auto argv = bare_bwrap(setting.workspace, setting.scratch, {"/bin/true"});
    return [argv] { return time_program(argv); };
  }));
  tasks.push_back(prepare("warm", [&] {
    auto cages = std::make_shared<Cages>(setting, "warm", setting.workspace, 4);
    return [cages] {
      cages->settle();
      return cages->run({"/bin/true"}, 0);
    };
  }));
  tasks.push_back(prepare("cold", [&] {
    auto cages = std::make_shared<Cages>(setting, "cold", setting.workspace, 0);
    return [cages] {
      cages->settle();
      return cages->run({"/bin/true"}, 0);
    };
  }));
  add("exec", [=] { return time_program({setting.escrow, "exec", "--no-input", "--", "true"}); });
  tasks.push_back(prepare("few files", [&] { return in_workspace(setting, 10); }));
  tasks.push_back(prepare("many files", [&] { return in_workspace(setting, 100'000); }));
  for (const Peer& peer : kPeers) {
    if (!find_program(peer.program).empty()) add(peer.program, [&peer] { return time_program(peer.argv); });
  }
  take_turns(tasks, setting.rounds);

  std::vector<Row> rows;
  const auto row = [&](const char* work, const char* task, const char* target, const char* peer, const char* against) {
    const Task& found = find(tasks, task);
    Row made{work, Unit::time, found.samples, against, {}, target, found.failure};
    if (peer != nullptr) made.peer = find(tasks, peer).samples;
    rows.push_back(std::move(made));
  };
  row("plain posix_spawn of /bin/true", "spawn", "", nullptr, "");
  row("warm sandbox, true, changes read", "warm", "<= 1.3 / 1.6 / 2.0 x", "spawn", "posix_spawn");
  row("cold sandbox, true, changes read", "cold", "", "spawn", "posix_spawn");
  row("bare bubblewrap, same mounts, true", "bwrap", "", "spawn", "posix_spawn");
  row("escrow exec -- true, whole process", "exec", "<= 1.5 x", "bwrap", "bare bubblewrap");
  row("one new file in a workspace of 10", "few files", "", nullptr, "");
  row("one new file in a workspace of 100,000", "many files", "<= 1.2 x", "few files", "10 files");
  for (const Peer& peer : kPeers) {
    if (!find_program(peer.program).empty()) row(peer.program, peer.program, "", "spawn", "posix_spawn");
  }
  tasks.clear();
  Row burst{"50 commands at once, pool of 4", Unit::time, {}, "", {}, "hand-off <= 50 ms", {}};
  try {
    Cages cages(setting, "burst", setting.workspace, 4);
    cages.settle();
    cages.burst(50, burst.samples);
    const sandbox::PoolStatus pool = cages.pool();
    rows.push_back(std::move(burst));
    machine.print(rows, setting.rounds);
    std::printf(
        "Of the 50 at once, %llu found a sandbox ready: it took them at most %.1f ms; the others started cold.\n",
        static_cast<unsigned long long>(pool.warm), static_cast<double>(pool.worst.count()) / 1000);
  } catch (const std::exception& error) {
    burst.not_measured = error.what();
    rows.push_back(std::move(burst));
    machine.print(rows, setting.rounds);
  }
  return 0;
}

}  // namespace escrow::bench
