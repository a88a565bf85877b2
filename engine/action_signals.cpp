#include "engine/action_signals.h"

#include <algorithm>

#include "engine/command_case.h"

namespace escrow::engine {
namespace {

void note(ScriptJudgement& risk, const PlaceEffect& effect) {
  risk.categories |= effect.categories;
  if (effect.level < risk.level || (effect.level == risk.level && !risk.message.empty())) return;
  risk.level = effect.level;
  risk.message = effect.message;
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    if ((effect.categories & (CategorySet{1} << i)) == 0) continue;
    risk.clause = static_cast<Category>(i);
    return;
  }
}

/// A tool call names a path, not shell text: nothing in it expands but a leading `~/`.
Target locate_path(const std::string& path, const Ground& ground) {
  Word word;
  word.text = path;
  word.tilde = path.starts_with("~/") || path == "~";
  return locate(word, ground);
}

ScriptJudgement judge_file(const FileAction& action, const CommandScene& scene) {
  ScriptJudgement risk;
  if (action.paths.empty()) note(risk, {Level::medium, bit(Category::path_escape), "names no path"});
  for (const std::string& path : action.paths) {
    const Target target = locate_path(path, scene.ground);
    const Reach reach = path.ends_with('/') ? Reach::tree : Reach::file;
    switch (action.op) {
      case FileOp::read:
        note(risk, effect_of_read(target));
        break;
      case FileOp::write:
      case FileOp::create:
        note(risk, effect_of_write(target));
        break;
      case FileOp::remove:
        note(risk, effect_of_removal(target, reach));
        break;
      case FileOp::move:
        // What is moved can be read at its new place, and is gone from the old one.
        note(risk, effect_of_read(target));
        note(risk, effect_of_write(target));
        break;
    }
  }
  if (action.op == FileOp::move) note(risk, effect_of_write(locate_path(action.to, scene.ground)));
  return risk;
}

ScriptJudgement judge_network(const NetworkAction& action) {
  ScriptJudgement risk;
  std::string host = lower(action.host);
  while (host.ends_with('.')) host.pop_back();
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (is_metadata_host(host)) {
    note(risk, {Level::critical, Category::credential_access | Category::network,
                "asks the cloud metadata service for credentials"});
  } else if (is_loopback(host)) {
    note(risk, {Level::low, bit(Category::network), "talks to this machine only"});
  } else {
    note(risk, {Level::medium, bit(Category::network), "contacts " + action.host.substr(0, 200)});
  }
  return risk;
}

ScriptJudgement judge_mcp(const McpAction& action) {
  ScriptJudgement risk;
  // `read_only_hint` is the server's own word for itself: it lowers nothing. A policy rule may trust the server.
  note(risk, {Level::medium, Category::inline_code | Category::network,
              "calls " + action.tool.substr(0, 100) + " of the server " + action.server.substr(0, 100)});
  return risk;
}

ShellScript script_of_exec(const ExecAction& action) {
  ShellScript script = parse_shell(quote_argv(action.argv));
  if (script.commands.empty()) {
    script.state = ParseState::error;
    return script;
  }
  for (const auto& [name, value] : action.env) {
    Assignment assignment;
    assignment.name = name;
    assignment.value.text = value;
    script.commands.front().assignments.push_back(std::move(assignment));
  }
  return script;
}

}  // namespace

ShellScript script_of(const Action& action) {
  if (const auto* shell = std::get_if<ShellAction>(&action)) return parse_shell(shell->command);
  if (const auto* exec = std::get_if<ExecAction>(&action)) return script_of_exec(*exec);
  return {};
}

ActionJudgement judge_action(const Action& action, const CommandScene& scene) {
  ActionJudgement out;
  if (const auto* file = std::get_if<FileAction>(&action)) {
    out.risk = judge_file(*file, scene);
  } else if (const auto* network = std::get_if<NetworkAction>(&action)) {
    out.risk = judge_network(*network);
  } else if (const auto* mcp = std::get_if<McpAction>(&action)) {
    out.risk = judge_mcp(*mcp);
  } else if (const auto* other = std::get_if<OtherAction>(&action)) {
    note(out.risk, {Level::medium, bit(Category::inline_code),
                    "does something that cannot be judged: " + other->label.substr(0, 100)});
  } else {
    out.script = script_of(action);
    out.risk = judge_script(out.script, scene);
  }
  return out;
}

}  // namespace escrow::engine
