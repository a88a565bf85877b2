#pragma once

#include "engine/enum_names.h"

/// The small ordered words of judging. Order is meaning: the strictest of several is their maximum.
namespace escrow::engine {

/// How bad it would be.
enum class Level { none, low, medium, high, critical };
BOOST_DESCRIBE_ENUM(Level, none, low, medium, high, critical)

/// Where a change goes: low applies by itself, medium after deep checks, high when a person has decided.
enum class Lane { low, medium, high };
BOOST_DESCRIBE_ENUM(Lane, low, medium, high)

/// How far an agent may go unasked.
enum class Autonomy { low, medium, high };
BOOST_DESCRIBE_ENUM(Autonomy, low, medium, high)

/// `enforce` stops; `observe` computes the same verdict and stops nothing; `disabled` only records the risk.
enum class Mode { enforce, observe, disabled };
BOOST_DESCRIBE_ENUM(Mode, enforce, observe, disabled)

/// Where an Action will run, if it does.
enum class Venue { cage, host };
BOOST_DESCRIBE_ENUM(Venue, cage, host)

/// The answer. Order is strictness: several rules combine by maximum.
enum class Verdict { allow, prompt, deny };
BOOST_DESCRIBE_ENUM(Verdict, allow, prompt, deny)

/// The span of a remembered decision.
enum class Scope { once, session, workspace, user };
BOOST_DESCRIBE_ENUM(Scope, once, session, workspace, user)

}  // namespace escrow::engine
