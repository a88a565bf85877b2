#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/action.h"
#include "engine/action_signals.h"
#include "engine/policy.h"
#include "engine/shell.h"

/// What policy rules and grants match, word by word and never as a string prefix.
namespace escrow::engine {

/// `words` are the command's leading words, exactly and in order. For what allows.
bool begins_with(const SimpleCommand& command, const std::vector<std::string>& words);

/// The same program, whatever path names it, with the same leading sub-commands and at least the same options, wherever
/// they stand (`git -C x push` is `git push`). For what denies.
bool amounts_to(const SimpleCommand& command, const std::vector<std::string>& words);

/// `*` within a component, `**` across components. A pattern without '/' matches the last component.
bool path_matches(std::string_view pattern, std::string_view path);

/// `host`, `host:port`, `*.host`; letter case and a trailing dot do not count.
bool host_matches(std::string_view pattern, std::string_view host, std::optional<int> port);

/// The words of one bash line without operators, redirects or expansions; empty if it is anything else.
std::vector<std::string> plain_words(std::string_view text);

/// True if the rule speaks about the action. An allow rule must cover every command above `none`; any other is matched
/// by one command.
bool rule_matches(const PolicyRule& rule, const Action& action, const ActionJudgement& judged, const Ground& ground);

/// Which of the rule's own examples it does not live up to, in plain words; empty if all hold.
std::vector<std::string> failing_examples(const PolicyRule& rule);

}  // namespace escrow::engine
