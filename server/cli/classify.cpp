#include <CLI/CLI.hpp>
#include <memory>

#include "engine/evaluate.h"
#include "server/cli/command.h"
#include "server/cli/judged.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/cli/workplace.h"

// escrow classify -- 'COMMAND': the judgement of a shell command. Pure: runs nothing, remembers nothing, asks no grant.

namespace escrow::server::cli {
namespace {

struct ClassifyOptions {
  OutputOptions output;
  std::string command;
  std::string venue = "cage";
  std::string autonomy;
  std::string mode;
  std::string fail_on;
};

/// One word is a line for the shell; several are a program and its arguments, that no shell reads.
engine::Action action_of(const std::vector<std::string>& words, const std::string& cwd) {
  if (words.size() == 1) return engine::ShellAction{words.front(), cwd};
  return engine::ExecAction{words, cwd, {}};
}

int exit_code(const engine::Decision& decision, const std::string& fail_on) {
  const auto verdict = engine::parse_enum<engine::Verdict>(fail_on);
  if (verdict && decision.verdict >= *verdict) return kFlagged;
  const auto level = engine::parse_enum<engine::Level>(fail_on);
  return level && decision.risk.level >= *level ? kFlagged : kOk;
}

int run_classify(const ClassifyOptions& options, const TrailingWords& trailing) {
  auto words = trailing.words;
  if (!options.command.empty()) words.insert(words.begin(), options.command);
  if (words.empty()) return refuse_usage("classify: give it a command: escrow classify -- 'npm test'");
  auto place = find_workplace();
  if (!place) return fail(place.error().message);
  if (const auto mode = engine::parse_enum<engine::Mode>(options.mode)) place->policy.mode = *mode;
  engine::ActionContext context;
  context.venue = engine::parse_enum<engine::Venue>(options.venue).value_or(engine::Venue::host);
  context.autonomy = engine::parse_enum<engine::Autonomy>(options.autonomy).value_or(place->policy.autonomy);
  context.workspace_root = place->root;
  context.home = place->home;
  const auto action = action_of(words, place->cwd);
  const auto judged = engine::evaluate(action, context, place->policy);
  if (options.output.as_json()) {
    put_json(json_judged(judged));
  } else {
    put(text_judged(judged, action, options.output.style()));
  }
  return exit_code(judged.decision, options.fail_on);
}

}  // namespace

void add_classify(CommandTree& tree) {
  auto options = std::make_shared<ClassifyOptions>();
  auto* app = tree.root.add_subcommand("classify", "Judge a shell command");
  add_text(*app, "command", options->command, "COMMAND", "one line for the shell; several words after -- are an argv");
  add_choice(*app, "--venue", options->venue, {"cage", "host"}, "where it would run (cage)");
  add_choice(*app, "--autonomy", options->autonomy, {"low", "medium", "high"},
             "how far the agent may go unasked (the policy's)");
  add_choice(*app, "--mode", options->mode, {"enforce", "observe", "disabled"}, "as if the policy had this mode");
  add_choice(*app, "--fail-on", options->fail_on, {"prompt", "deny", "low", "medium", "high", "critical"},
             "exit 1 from this decision or level on");
  add_output_options(*app, options->output);
  const auto& trailing = tree.trailing;
  tree.commands.push_back({"classify", app, [options, &trailing] { return run_classify(*options, trailing); }, true});
}

}  // namespace escrow::server::cli
