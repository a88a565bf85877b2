#include "engine/file_passes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "engine/rules.h"

namespace escrow::engine {
namespace {

using Pass = void (*)(const FileView&, Findings&);

constexpr std::array<Pass, 13> kPasses{
    find_line_patterns,    find_secrets_in_file, find_removed_protection, find_workflow_risks, find_disabled_checks,
    find_dependency_risks, find_lockfile_risks,  find_multi_line_malice,  find_infra_risks,    find_hidden_unicode,
    find_agent_config,     find_autorun_files,   find_file_risks};

/// Below this, sharing costs about what it saves.
constexpr std::size_t kLinesWorthSharing = 1500;

/// Most of a cold run compiles expressions, each once for all who work. Taking the passes from the other end keeps the
/// second from waiting for each expression that the first has just begun with.
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

}  // namespace

void find_in_files(const ChangeView& change, const Sharing& sharing, Findings& findings) {
  SharedFiles files(change);
  const std::size_t width = std::min(sharing.width, change.files.size());
  if (sharing.run && width > 1 && count_changed_lines(change) >= kLinesWorthSharing) {
    sharing.run(width, [&](std::size_t i) { files.judge_all(i % 2 == 1 ? Order::backwards : Order::forwards); });
  } else {
    files.judge_all(Order::forwards);
  }
  files.hand_over(findings);
}

}  // namespace escrow::engine
