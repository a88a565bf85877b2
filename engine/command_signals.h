#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/command_category.h"
#include "engine/level.h"
#include "engine/shell.h"
#include "engine/target_place.h"

/// How bad a command line is, command by command and across what they hand each other.
namespace escrow::engine {

/// Where the line would run.
struct CommandScene {
  Ground ground;
  Venue venue = Venue::cage;
  bool git_config_runs_programs = false;
  int depth = 0;               ///< how many scripts deep; beyond a bound a nested text counts as unreadable
  int* nested_left = nullptr;  ///< nested texts that may still be read; set by judge_script
};

struct CommandJudgement {
  Level level = Level::none;
  CategorySet categories = bit(Category::read_only);
  Category clause = Category::read_only;  ///< of the finding that set the level
  std::string message;                    ///< what that finding says, in plain words
  Level beside_words = Level::none;       ///< what assignments and redirects alone amount to
};

struct ScriptJudgement {
  std::vector<CommandJudgement> commands;  ///< one for each of the script's, same order
  Level level = Level::none;
  CategorySet categories = 0;
  Category clause = Category::read_only;
  std::string message;
  std::size_t deciding = SimpleCommand::npos;  ///< the command that set the level; npos for an empty or unread line
};

ScriptJudgement judge_script(const ShellScript& script, const CommandScene& scene);

/// The categories and level of doing something to a place, shared by commands and by file tools.
struct PlaceEffect {
  Level level = Level::none;
  CategorySet categories = 0;
  std::string message;
};
PlaceEffect effect_of_read(const Target& target);
PlaceEffect effect_of_write(const Target& target);
enum class Reach { file, tree };
PlaceEffect effect_of_removal(const Target& target, Reach reach);

}  // namespace escrow::engine
