#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/level.h"
#include "engine/signal.h"
#include "server/error.h"

/// Changes and commands with the judgement that they should get: what `escrow evaluate` measures against.
///
/// One JSON object a line. `commands.jsonl`: id, stratum, command, expect {level, categories, also_ok?,
/// decision_default}. `diffs.jsonl`: id, stratum, diff, metadata {agent_confidence?}, expect {lane, lane_alt?,
/// min_score?, max_score?, signals [{rule, file, line, end_line?}], also_ok?}.
namespace escrow::server::cli {

struct LabelledCommand {
  std::string id, stratum, command;
  engine::Level level = engine::Level::none;
  engine::Verdict decision = engine::Verdict::allow;  ///< in the sandbox, enforced, at medium autonomy
  std::vector<std::string> categories;
  std::vector<std::string> tolerated;  ///< categories that are neither right nor wrong
};

struct LabelledDiff {
  std::string id, stratum, diff;
  std::optional<double> confidence;
  engine::Lane lane = engine::Lane::low;
  std::vector<engine::Lane> accepted;  ///< `lane` and those that pass as well
  int min_score = 0, max_score = 100;
  std::vector<engine::Signal> signals;  ///< rule, file, line, end_line; the rest is empty
  std::vector<std::string> tolerated;
};

struct LabelledSet {
  std::vector<LabelledCommand> commands;
  std::vector<LabelledDiff> diffs;
};

/// The files `commands.jsonl` and `diffs.jsonl` of a directory; one of them may be missing. An error names file, line
/// and member.
Result<LabelledSet> read_labelled_set(const std::string& directory);

}  // namespace escrow::server::cli
