#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/signal.h"

namespace escrow::engine {

/// What a rule or category is about, for hovers and the rule pages.
struct RuleText {
  std::string_view id;
  std::string_view title;  ///< one line
  std::string_view why;    ///< a sentence or two in plain words
};

/// What a change is found for that cannot be read; no signal, since it has no place in a file.
inline constexpr std::string_view kUnreadRule = "parse-error";
const RuleText& unread_text();

/// Texts of the diff rules, of the command categories; every id of the vocabulary is in one of them.
std::span<const RuleText> diff_rule_texts();
std::span<const RuleText> command_category_texts();

/// That of a rule, a category or kUnreadRule; nullptr for an unknown id.
const RuleText* find_rule_text(std::string_view id);

/// How the points add up, as plain text, one rule a line, ending with the score.
std::string explain_score(const Risk& risk);

}  // namespace escrow::engine
