#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "engine/evaluate.h"

/// The judgement of a change as a SARIF 2.1.0 log (OASIS Standard, 27 March 2020), for code scanning services and the
/// viewers of editors.
namespace escrow::server::cli {

/// `own_rules`: those the change was judged with. `input`: where the diff came from, for what could not be read of it;
/// empty for stdin.
boost::json::object sarif_log(const engine::ParsedPatch& change, const engine::PatchEvaluation& verdict,
                              const engine::OwnRules& own_rules, const std::string& input);

}  // namespace escrow::server::cli
