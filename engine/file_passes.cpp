#include "engine/file_passes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/rules.h"

namespace escrow::engine {
namespace {

using Pass = void (*)(const FileView&, Findings&);

constexpr std::array<Pass, 13> kPasses{
    find_line_patterns,    find_secrets_in_file, find_removed_protection, find_workflow_risks, find_disabled_checks,
    find_dependency_risks, find_lockfile_risks,  find_multi_line_malice,  find_infra_risks,    find_hidden_unicode,
    find_agent_config,     find_autorun_files,   find_file_risks};

/// Below this a thread costs about what it saves.
constexpr std::size_t kLinesForThreads = 1500;
constexpr std::size_t kMostThreads = 4;

/// Most of a cold run compiles expressions, each once for all threads. Taking the passes from the other end keeps a
/// second thread from waiting for each expression that the first one has just begun with.
enum class Order { forwards, backwards };

void judge_file(const FileView& file, Order order, Findings& out) {
  std::array<Findings, kPasses.size()> found;
  for (std::size_t i = 0; i < kPasses.size(); ++i) {
    const std::size_t pass = order == Order::forwards ? i : kPasses.size() - 1 - i;
    kPasses[pass](file, found[pass]);
  }
  for (Findings& part : found) out.append(std::move(part));
}

std::size_t count_changed_lines(const ChangeView& change) {
  std::size_t lines = 0;
  for (const FileView& file : change.files) {
    for (const HunkView& hunk : file.hunks) lines += hunk.lines().size();
  }
  return lines;
}

std::size_t count_threads(const ChangeView& change) {
  if (count_changed_lines(change) < kLinesForThreads) return 1;
  const std::size_t most = std::min<std::size_t>(kMostThreads, change.files.size());
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most);
}

/// Files, taken one by one by whoever is free.
class SharedFiles {
 public:
  explicit SharedFiles(const ChangeView& change) : change_(change), found_(change.files.size()) {}

  void judge_all(Order order) {
    for (std::size_t i = next_++; i < change_.files.size(); i = next_++) judge_file(change_.files[i], order, found_[i]);
  }

  void hand_over(Findings& findings) {
    for (Findings& part : found_) findings.append(std::move(part));
  }

 private:
  const ChangeView& change_;
  std::vector<Findings> found_;
  std::atomic<std::size_t> next_{0};
};

/// Ends with its threads.
struct Helpers {
  std::vector<std::thread> threads;
  ~Helpers() {
    for (std::thread& thread : threads) thread.join();
  }
};

}  // namespace

void find_in_files(const ChangeView& change, Findings& findings) {
  SharedFiles files(change);
  {
    Helpers helpers;
    for (std::size_t i = 1; i < count_threads(change); ++i) {
      try {
        helpers.threads.emplace_back([&files, i] { files.judge_all(i % 2 == 1 ? Order::backwards : Order::forwards); });
      } catch (const std::system_error&) {
        break;  // a limit on processes; this thread does it all
      }
    }
    files.judge_all(Order::forwards);
  }
  files.hand_over(findings);
}

}  // namespace escrow::engine
