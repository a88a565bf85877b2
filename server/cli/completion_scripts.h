#pragma once

#include <string>

#include "server/cli/help_model.h"

namespace escrow::server::cli {

std::string bash_completion(const CommandModel& root);
std::string zsh_completion(const CommandModel& root);
std::string fish_completion(const CommandModel& root);

}  // namespace escrow::server::cli
