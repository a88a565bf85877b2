#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "engine/action.h"
#include "engine/evaluate.h"
#include "server/cli/style.h"

/// The judgement of one action, as `classify`, `policy explain` and `exec` show it.
namespace escrow::server::cli {

/// {"level","categories","decision","clause","span","commands","parse","reason"}
boost::json::object json_judged(const engine::Evaluation& judged);

/// The verdict, the part that decided underlined in the command, the reason, and each command with its level.
std::string text_judged(const engine::Evaluation& judged, const engine::Action& action, const Style& style);

}  // namespace escrow::server::cli
