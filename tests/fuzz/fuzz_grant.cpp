// library: escrow_engine
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/evaluate.h"

using namespace escrow::engine;

/// First line: a grant's match; the rest: a command. A grant never lifts `critical`, never allows what cannot be read,
/// and what is suggested for a command is valid and covers it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), text.size());
  Grant grant;
  grant.id = "g";
  grant.effect = GrantEffect::allow;
  grant.tool = "shell";
  grant.match = text.substr(0, line);
  grant.scope = Scope::user;
  const Action action = ShellAction{std::string(text.substr(std::min(line + 1, text.size()))), ""};
  ActionContext context;
  const std::vector<Grant> grants{grant};
  context.grants = grants;
  const Evaluation evaluation = evaluate(action, context, builtin_policy());
  const bool allowed = evaluation.decision.verdict == Verdict::allow;
  if (allowed && evaluation.decision.risk.level == Level::critical) std::abort();
  if (allowed && evaluation.parse != ParseState::ok) std::abort();
  if (evaluation.decision.grant_id == "g" && !validate_grant(grant)) std::abort();
  grant.match = suggest_match(action);
  if (!grant.match.empty() && (!validate_grant(grant) || !covers(grant, action, context.grant_context))) std::abort();
  return 0;
}
