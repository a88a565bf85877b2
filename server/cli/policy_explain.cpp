#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <memory>
#include <optional>

#include "engine/evaluate.h"
#include "engine/redact.h"
#include "server/cli/command.h"
#include "server/cli/judged.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/policy_commands.h"
#include "server/cli/workplace.h"
#include "server/clock.h"
#include "server/json_out.h"
#include "server/store/grant_store.h"
#include "server/workspace/repository.h"

// escrow policy explain: why an action is judged so. Unlike classify it counts the remembered grants, and shows each
// layer's say.

namespace escrow::server::cli {
namespace {

struct ExplainOptions {
  OutputOptions output;
  std::string command, file, op = "write", host, mcp, tool;
  std::string venue = "cage";
  std::string autonomy;
};

std::optional<engine::NetworkAction> network_action(const std::string& text) {
  engine::NetworkAction action{text, std::nullopt};
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return action;
  int port = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc{} || rest != end || port < 1 || port > 65535) return std::nullopt;
  return engine::NetworkAction{text.substr(0, colon), port};
}

std::optional<engine::McpAction> mcp_action(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == text.size()) return std::nullopt;
  return engine::McpAction{text.substr(0, slash), text.substr(slash + 1), false};
}

engine::Action command_action(const std::vector<std::string>& words, const std::string& cwd) {
  if (words.size() == 1) return engine::ShellAction{words.front(), cwd};
  return engine::ExecAction{words, cwd, {}};
}

/// The one action that the options name; empty if they name none, several, or a malformed one.
std::optional<engine::Action> action_of(const ExplainOptions& options, std::vector<std::string> words,
                                        const std::string& cwd) {
  if (!options.command.empty()) words.insert(words.begin(), options.command);
  const int named = int{!words.empty()} + int{!options.file.empty()} + int{!options.host.empty()} +
                    int{!options.mcp.empty()} + int{!options.tool.empty()};
  if (named != 1) return std::nullopt;
  if (!words.empty()) return command_action(words, cwd);
  if (!options.file.empty()) {
    return engine::FileAction{
        engine::parse_enum<engine::FileOp>(options.op).value_or(engine::FileOp::write), {options.file}, {}};
  }
  if (!options.host.empty()) return network_action(options.host);
  if (!options.tool.empty()) return engine::OtherAction{options.tool};
  return mcp_action(options.mcp);
}

void print_text(const engine::Evaluation& judged, const engine::Action& action, const Style& style) {
  put(text_judged(judged, action, style));
  if (!judged.decision.for_agent.empty()) {
    put("told to the agent: " + engine::one_line(judged.decision.for_agent, 400) + "\n");
  }
  if (!judged.trace.empty()) put("\n" + style.bold("Step by step") + "\n");
  for (const auto& step : judged.trace) put("  " + engine::one_line(step, 400) + "\n");
  if (!judged.decision.remedies.empty()) put("\n" + style.bold("A grant could allow it") + "\n");
  for (const auto& remedy : judged.decision.remedies) put("  " + engine::one_line(remedy.title) + "\n");
}

void print_json(const engine::Evaluation& judged) {
  auto out = json_judged(judged);
  out["forAgent"] = json_text(judged.decision.for_agent);
  if (!judged.decision.grant_id.empty()) out["grantId"] = json_text(judged.decision.grant_id);
  out["trace"] = json_texts(judged.trace);
  boost::json::array remedies;
  for (const auto& remedy : judged.decision.remedies) remedies.emplace_back(json_text(remedy.title));
  out["remedies"] = std::move(remedies);
  put_json(out);
}

int run_explain(const ExplainOptions& options, const TrailingWords& trailing) {
  const auto place = find_workplace();
  if (!place) return fail(place.error().message);
  const auto action = action_of(options, trailing.words, place->cwd);
  if (!action) {
    return refuse_usage(
        "policy explain: name one action: -- 'COMMAND', --file PATH, --host HOST[:PORT], --mcp SERVER/TOOL or --tool "
        "NAME");
  }
  GrantStore store(place->places.grants_file);
  engine::ActionContext context;
  context.venue = engine::parse_enum<engine::Venue>(options.venue).value_or(engine::Venue::host);
  context.autonomy = engine::parse_enum<engine::Autonomy>(options.autonomy).value_or(place->policy.autonomy);
  context.workspace_root = place->root;
  context.home = place->home;
  context.git_config_runs_programs = config_runs_programs(place->root);
  context.grant_context.workspace = workspace_key(place->root);
  context.grant_context.autonomy = context.autonomy;
  context.grant_context.now_ms = now_ms();
  context.grants_uncertain = store.uncertain();
  context.grant_index = &store.index();
  const auto judged = engine::evaluate(*action, context, place->policy);
  if (options.output.as_json()) {
    print_json(judged);
  } else {
    print_text(judged, *action, options.output.style());
  }
  return kOk;
}

}  // namespace

void add_policy_explain(CommandTree& tree, CLI::App& group) {
  auto options = std::make_shared<ExplainOptions>();
  auto* app = group.add_subcommand("explain", "Why an action is judged as it is");
  add_text(*app, "command", options->command, "COMMAND", "a line for the shell; several words after -- are an argv");
  add_text(*app, "--file", options->file, "FILE", "a file that the agent wants to touch");
  add_choice(*app, "--op", options->op, {"read", "write", "create", "remove", "move"}, "what with it (write)");
  add_text(*app, "--host", options->host, "HOST[:PORT]", "a host that it wants to reach");
  add_text(*app, "--mcp", options->mcp, "SERVER/TOOL", "an MCP tool that it wants to call");
  add_text(*app, "--tool", options->tool, "NAME", "a tool of the agent's own");
  add_choice(*app, "--venue", options->venue, {"cage", "host"}, "where it would run (cage)");
  add_choice(*app, "--autonomy", options->autonomy, {"low", "medium", "high"}, "how far it may go unasked");
  add_output_options(*app, options->output);
  const auto& trailing = tree.trailing;
  tree.commands.push_back(
      {"policy explain", app, [options, &trailing] { return run_explain(*options, trailing); }, true});
}

}  // namespace escrow::server::cli
