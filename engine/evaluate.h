#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/action.h"
#include "engine/decision.h"
#include "engine/diff.h"
#include "engine/grant.h"
#include "engine/grant_index.h"
#include "engine/level.h"
#include "engine/policy.h"
#include "engine/shell.h"

/// The front door of judgement. Pure: text and values in, values out; safe on any thread.
namespace escrow::engine {

/// What the judge may know about the place, gathered by the server.
struct ActionContext {
  Venue venue = Venue::host;
  Autonomy autonomy = Autonomy::medium;
  std::string workspace_root;  ///< absolute, no trailing slash; empty if none
  std::string home;            ///< absolute; empty if unknown
  /// The repository sets diff.external, textconv or filters: diff/show/log/blame run its programs on the host.
  bool git_config_runs_programs = false;
  std::span<const Grant> grants;
  const GrantIndex* grant_index = nullptr;  ///< instead of `grants`, where there may be many
  /// The store holds something that cannot be read and may have been a deny: what nobody allowed by name asks.
  bool grants_uncertain = false;
  GrantContext grant_context;
};

/// One simple command as judged; what `escrow classify` lists.
struct JudgedCommand {
  std::vector<std::string> argv;
  Level level = Level::none;
  std::vector<std::string> categories;
  Span span;
  bool operator==(const JudgedCommand&) const = default;
};

/// The judgement of one Action.
struct Evaluation {
  Decision decision;
  std::vector<JudgedCommand> commands;  ///< empty unless the action is a command
  Span span;                            ///< of the part that set the level
  ParseState parse = ParseState::ok;
  std::vector<std::string> trace;  ///< each layer and rule: matched or not, and what decided
};

/// Paths are judged by their text: advisory. Between this check and its use a directory may be exchanged for a link, so
/// the write itself opens beneath the root without following links (server/workspace/beneath.h).
/// Deny beats allow; policy may tighten anything and loosen up to high, never critical; a grant never lifts critical.
Evaluation evaluate(const Action& action, const ActionContext& context, const Policy& policy);

/// How the work on a large change is shared, if the caller has threads to spare; what is found is the same.
struct Sharing {
  std::size_t width = 1;  ///< how many may work side by side
  /// Calls `work(0) … work(count - 1)`, each once, in any order or side by side, and returns when all have ended.
  std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)> run = {};
};

/// What may be known about a change besides its text.
struct PatchContext {
  std::optional<double> confidence;  ///< the agent's own, 0..1
  Sharing sharing = {};
};

/// The judgement of a change.
struct PatchEvaluation {
  Risk risk;
  Lane lane = Lane::low;
  std::vector<std::string> notes;  ///< `parse-error`, …
};

/// Scores parsed text; a parse issue means lane high and at least 71.
PatchEvaluation evaluate(const ParsedPatch& change, const PatchContext& context, const Policy& policy);

}  // namespace escrow::engine
