#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace escrow::server::cli {

/// What the process answers with, beside what `exec` passes through.
enum ExitCode : int {
  kOk = 0,       ///< an answer was given, whatever it is
  kFlagged = 1,  ///< `--fail-on` met, drift, a check that failed
  kUsage = 2,    ///< the command line makes no sense
  kFault = 3,    ///< no answer could be given
};

/// What stands after `--`, untouched by any parser: CLI11 would read `[ -f x ]` as a list.
struct TrailingWords {
  bool given = false;
  std::vector<std::string> words;
};

/// One leaf of the command tree and what it does.
struct Command {
  std::string name;  ///< as typed: "score", "policy show"
  CLI::App* app = nullptr;
  std::function<int()> run;
  bool takes_words = false;  ///< has a command of the user's after `--`
};

/// All of them, and what they share. Outlives the run.
struct CommandTree {
  CLI::App& root;
  TrailingWords trailing;
  std::vector<Command> commands;
};

// Registering only describes: nothing is opened, read or started before `run`.
void add_lsp(CommandTree& tree);
void add_exec(CommandTree& tree);
void add_score(CommandTree& tree);
void add_classify(CommandTree& tree);
void add_evaluate(CommandTree& tree);
void add_rules(CommandTree& tree);
void add_review(CommandTree& tree);
void add_grants(CommandTree& tree);
void add_policy(CommandTree& tree);
void add_audit(CommandTree& tree);
void add_doctor(CommandTree& tree);
void add_completion(CommandTree& tree);
void add_manual(CommandTree& tree);

}  // namespace escrow::server::cli
