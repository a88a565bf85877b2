#include "server/cli/judged.h"

#include <algorithm>
#include <boost/json/array.hpp>

#include "engine/redact.h"
#include "server/json_out.h"

namespace escrow::server::cli {
namespace {

namespace json = boost::json;
using engine::Evaluation;

json::array json_span(const engine::Span& span) {
  return {span.begin, span.end};
}

json::object json_command(const engine::JudgedCommand& command) {
  json::object out;
  out["argv"] = json_texts(command.argv);
  out["level"] = engine::name_of(command.level);
  out["categories"] = json_texts(command.categories);
  out["span"] = json_span(command.span);
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Underlining needs one column a character: no tabs, no second line, no hidden characters.
bool can_underline(const std::string& command, const engine::Span& span) {
  return span.begin < span.end && span.end <= command.size() && engine::make_visible(command) == command &&
         command.find_first_of("\t\n") == std::string::npos;
}

std::string underlined(const std::string& command, const engine::Span& span, const Style& style, Tone tone) {
  auto text = "  " + command + "\n";
  if (!can_underline(command, span)) return text;
  const std::string_view whole = command;
  const auto before = columns(whole.substr(0, span.begin));
  const auto width = columns(whole.substr(span.begin, span.end - span.begin));
  return text + "  " + std::string(before, ' ') + style.paint(tone, "^" + std::string(width - 1, '~')) + "\n";
}

/// A line as it stands; anything else as one visible line.
std::string shown(const engine::Action& action) {
  const auto* shell = std::get_if<engine::ShellAction>(&action);
  if (shell != nullptr && engine::make_visible(shell->command) == shell->command &&
      shell->command.find('\n') == std::string::npos) {
    return shell->command;
  }
  return engine::describe(action);
}

std::string command_table(const std::vector<engine::JudgedCommand>& commands, const Style& style) {
  std::size_t width = 0;
  for (const auto& command : commands) width = std::max(width, columns(joined(command.categories)));
  std::string out;
  for (const auto& command : commands) {
    const auto level = padded(engine::name_of(command.level), 8);
    out += "  " + style.paint(tone_of(command.level), level) + "  " + padded(joined(command.categories), width) + "  " +
           engine::one_line(engine::quote_argv(command.argv), 120) + "\n";
  }
  return out;
}

}  // namespace

json::object json_judged(const Evaluation& judged) {
  const auto& decision = judged.decision;
  json::object out;
  out["level"] = engine::name_of(decision.risk.level);
  out["categories"] = json_texts(decision.risk.categories);
  out["decision"] = engine::name_of(decision.verdict);
  out["clause"] = json_text(decision.clause);
  out["span"] = json_span(judged.span);
  json::array commands;
  for (const auto& command : judged.commands) commands.emplace_back(json_command(command));
  out["commands"] = std::move(commands);
  out["parse"] = engine::name_of(judged.parse);
  out["reason"] = json_text(decision.reason);
  return out;
}

std::string text_judged(const Evaluation& judged, const engine::Action& action, const Style& style) {
  const auto& decision = judged.decision;
  const auto level = decision.risk.level;
  auto out = underlined(shown(action), judged.span, style, tone_of(level));
  out += "\n" + style.name(decision.verdict) + ", level " + style.name(level);
  if (!decision.clause.empty()) out += ", by " + decision.clause;
  out += "\n";
  if (!decision.reason.empty()) out += engine::one_line(decision.reason, 400) + "\n";
  if (judged.commands.size() > 1) out += "\n" + command_table(judged.commands, style);
  return out;
}

}  // namespace escrow::server::cli
