#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/action.h"
#include "engine/error.h"
#include "engine/level.h"
#include "engine/shell.h"

namespace escrow::engine {

enum class GrantEffect { allow, deny };
BOOST_DESCRIBE_ENUM(GrantEffect, allow, deny)

/// A remembered allow or deny. Stored by server/store/grant_store; pure here.
struct Grant {
  std::string id;
  GrantEffect effect = GrantEffect::deny;
  std::string tool;  ///< `[A-Za-z0-9._-]+`: shell, exec, file, network, mcp, or an agent's own tool name
  /// What it matches, by tool: shell/exec: leading words, one bash line (`npm install`), compared word by word and
  /// never as a string prefix; file: a path glob; network: host[:port]; empty matches the tool whole (deny only).
  std::string match;
  std::string subject_hash;  ///< `once`: bound to exactly this canonical_text hash and call
  std::string call_id;       ///< `once`: the call it answers
  Scope scope = Scope::once;
  std::string workspace;                     ///< realpath key (decision of scope workspace); empty for user
  std::string session;                       ///< agent session, for scope session
  Autonomy max_autonomy = Autonomy::medium;  ///< satisfies requests up to this
  std::int64_t created_ms = 0;
  std::optional<std::int64_t> expires_ms;
  std::string reason;  ///< redacted
  std::string by;      ///< who gave it and through which front: `person, terminal`
  std::string shown;   ///< what was shown when it was given, redacted
  bool operator==(const Grant&) const = default;
};

/// Where and when an action is asked for; what a grant's scope is compared with.
struct GrantContext {
  std::string workspace;
  std::string session;
  std::string call_id;
  std::string subject_hash;
  Autonomy autonomy = Autonomy::medium;
  std::int64_t now_ms = 0;
};

/// True if the grant speaks about this action, segment by segment: an allow must cover *every* simple command of
/// a line (commands at `none` need no grant), a deny is enough if it matches one.
bool covers(const Grant& grant, const Action& action, const GrantContext& context);

/// Refuses what would allow too much (an interpreter, a shell, `git`, `sudo`, `env`, `*`, an empty allow) with a
/// narrower suggestion in the message.
Result<void> validate_grant(const Grant& grant);

/// One match a command of the line that needs a grant, so that together they cover it; empty where no remembered grant
/// makes sense. One element for anything but a line of several commands.
std::vector<std::string> suggest_matches(const Action& action);

/// The matches as a person is shown them: `` `npm install` and `npm test` ``.
std::string quoted_list(const std::vector<std::string>& matches);

/// The narrowest sensible `match` for an action: program plus sub-command, or the exact words where the program is
/// too powerful for a prefix. Empty where no remembered grant makes sense, or one is not enough.
std::string suggest_match(const Action& action);

}  // namespace escrow::engine
