#pragma once

#include <string>

#include "server/error.h"

/// The person's yes, for what loosens: asked on the terminal itself, so that no pipe can give it.
namespace escrow::server::cli {

enum class AnswerWith { question, yes_flag };

/// `--yes` counts only together with an explicit ESCROW_GRANTS_PATH or ESCROW_STATE_DIR: automation on a store of its
/// own. Otherwise the question is put on /dev/tty and typed-ahead input is dropped first. An error if the answer is no,
/// or if there is nobody to ask.
Result<void> confirm(const std::string& question, AnswerWith with);

/// True if a question could be put.
bool has_terminal();

}  // namespace escrow::server::cli
