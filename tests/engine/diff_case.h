#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/diff.h"
#include "engine/evaluate.h"

/// Changes as the tests write them: a path and the marked lines of one hunk.
namespace escrow::engine::testing {

inline std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// `body`: lines marked ` `, `+` or `-`. `section`: what stands after the hunk header.
inline std::string make_diff(const std::string& path, std::string_view body, const std::string& section = "",
                             int start = 10) {
  int before = 0, now = 0;
  const std::vector<std::string> lines = split_lines(body);
  for (const std::string& line : lines) {
    before += line[0] != '+';
    now += line[0] != '-';
  }
  std::string out = "diff --git a/" + path + " b/" + path + "\nindex 1111111..2222222 100644\n--- a/" + path +
                    "\n+++ b/" + path + "\n@@ -" + std::to_string(start) + "," + std::to_string(before) + " +" +
                    std::to_string(start) + "," + std::to_string(now) + " @@" + (section.empty() ? "" : " " + section) +
                    "\n";
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

inline PatchEvaluation judge(std::string_view diff, PatchContext context = {}) {
  return evaluate(parse_diff(diff), context, Policy{});
}

/// `rule:line` of every signal but those of context, in order.
inline std::vector<std::string> findings_of(std::string_view diff) {
  std::vector<std::string> out;
  for (const Signal& signal : judge(diff).risk.signals) {
    if (signal.rule == "sensitive-path" || signal.rule == "large-change") continue;
    out.push_back(signal.rule + ":" + std::to_string(signal.line));
  }
  return out;
}

inline bool has_rule(const PatchEvaluation& evaluation, std::string_view rule) {
  return std::any_of(evaluation.risk.signals.begin(), evaluation.risk.signals.end(),
                     [&](const Signal& signal) { return signal.rule == rule; });
}

}  // namespace escrow::engine::testing
