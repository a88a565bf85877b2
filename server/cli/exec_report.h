#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "engine/decision.h"
#include "server/broker.h"
#include "server/cli/style.h"

/// What `escrow exec` answers with: the JSON of a script, the lines on stderr of a person.
namespace escrow::server::cli {

/// The exit code that says: nothing ran, because Escrow refused it or could not.
constexpr int kNotRun = 125;

/// The command's own code; 124 timed out, 125 not run, 128+n signal.
int exit_code_of(const FinishedExecution& finished);

/// Nothing ran: {"decision","clause","level","ran":false,"message"}.
boost::json::object json_not_run(const engine::Decision& decision, const std::string& message);

/// The whole shape. Secrets in the output are redacted: it goes back to a model as often as not.
boost::json::object json_finished(const engine::Decision& decision, const FinishedExecution& finished,
                                  const std::optional<Review>& changes);

/// What the cage refused, and what is held for review, as lines; empty if there is nothing to say.
std::string text_finished(const FinishedExecution& finished, const std::optional<Review>& changes, const Style& style);

}  // namespace escrow::server::cli
