#pragma once

#include <boost/describe/enum.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/action.h"
#include "engine/decision.h"
#include "engine/diff.h"
#include "server/error.h"
#include "server/workspace/file_image.h"

/// A matter that awaits judgement: a tool call, or a change.
namespace escrow::server {

enum class ReviewState {
  pending,
  checking,
  approved,
  rejected,
  applied,
  stale,
  expired,
  withdrawn,
  failed,
  unverified
};
BOOST_DESCRIBE_ENUM(ReviewState, pending, checking, approved, rejected, applied, stale, expired, withdrawn, failed,
                    unverified)

enum class ReviewKind { call, change };
BOOST_DESCRIBE_ENUM(ReviewKind, call, change)

enum class HunkMark { undecided, approved, rejected };
BOOST_DESCRIBE_ENUM(HunkMark, undecided, approved, rejected)

/// The unit a person may approve: a hunk, or a whole file that has none (binary, mode, empty).
struct ReviewHunk {
  std::string id = {};    ///< hash of path and content: stable across revisions
  std::size_t index = 0;  ///< into patch.hunks; 0 for a file without hunks
  HunkMark mark = HunkMark::undecided;
};

/// One file of a change. `patch` is always computed from the two images, whatever form the proposal came in.
struct ReviewFile {
  std::string path = {};      ///< root-relative, new path; old path of a deleted file
  std::string old_path = {};  ///< differs from `path` for a rename
  FileImage before, after;
  engine::FilePatch patch = {};
  std::vector<ReviewHunk> hunks = {};
};

/// An automated step, and how it went.
struct Check {
  std::string name = {};
  std::string state = {};  ///< passed, failed, skipped, running
  std::string detail = {};
  bool required = false;
};

struct Review {
  std::string id = {};
  int revision = 1;
  ReviewKind kind = ReviewKind::change;
  ReviewState state = ReviewState::pending;
  std::string root = {};      ///< absolute realpath of the workspace
  std::string agent = {};     ///< agent's name, for people
  std::string agent_id = {};  ///< connection's id; empty for a person's own (CLI) proposals
  std::string session = {};
  std::string call_id = {};
  std::string title = {};
  std::string origin = {};  ///< proposal, execution, file, cli
  std::int64_t created_ms = 0, updated_ms = 0, expires_ms = 0;
  engine::Risk risk = {};
  engine::Lane lane = engine::Lane::low;
  std::vector<std::string> notes = {};

  // kind == change
  std::vector<ReviewFile> files = {};
  std::vector<Check> checks = {};
  std::string approved_by = {};  ///< lane, person
  engine::Lane approved_lane = engine::Lane::low;
  std::string undo_id = {};  ///< once applied

  // kind == call
  std::optional<engine::Action> action = {};
  std::optional<engine::Decision> decision = {};
  std::string cwd = {};
};

/// The legal moves; anything else is `state_conflict`.
bool may_move(ReviewState from, ReviewState to);

/// True where nothing more can happen.
bool is_final(ReviewState state);

/// What the errors about a review carry as data: {"current": {"revision", "state"}}, serialized.
std::string current_of(const Review& review);

/// Somebody spoke of a revision that is not the review's.
Error moved_on(const Review& review);

}  // namespace escrow::server
