#include "engine/explain.h"

#include <algorithm>
#include <array>

namespace escrow::engine {

const RuleText& unread_text() {
  static constexpr RuleText kText{
      kUnreadRule, "A change that cannot be read",
      "The text is no diff that could be read whole: a hunk is shorter or longer than its heading says, a heading is "
      "missing, or what should be a line of the file is none. Whatever could not be read could hold anything, so the "
      "change is in the high lane, however harmless the rest of it is."};
  return kText;
}

const RuleText* find_rule_text(std::string_view id) {
  if (id == kUnreadRule) return &unread_text();
  for (const auto texts : {diff_rule_texts(), command_category_texts()}) {
    const auto found = std::find_if(texts.begin(), texts.end(), [&](const RuleText& text) { return text.id == id; });
    if (found != texts.end()) return &*found;
  }
  return nullptr;
}

std::string explain_score(const Risk& risk) {
  std::string out;
  for (const Contribution& share : risk.explain) {
    const auto count = std::count_if(risk.signals.begin(), risk.signals.end(),
                                     [&](const Signal& signal) { return signal.rule == share.rule; });
    out += (share.points >= 0 ? "+" : "") + std::to_string(share.points) + "  " + share.rule;
    if (count > 1) out += " (seen " + std::to_string(count) + " times)";
    out += '\n';
  }
  out += "=" + std::to_string(risk.score) + " of 100";
  return out;
}

}  // namespace escrow::engine
