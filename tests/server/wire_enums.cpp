#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>
#include <string>

#include "engine/action.h"
#include "engine/grant.h"
#include "engine/level.h"
#include "protocol/escrow.h"
#include "sandbox/execution.h"
#include "server/review/review.h"
#include "tests/catch.h"

using namespace escrow;

namespace {

/// Converting by number is right only while both sides list the same words in the same order.
template <class Inner, class Wire>
void check_same_words() {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Inner>>([](auto enumerator) {
    const auto wire = static_cast<Wire>(static_cast<int>(enumerator.value));
    std::string spelled(protocol::wire_name(wire));
    if (spelled == "delete") spelled = "remove";  // a keyword in C++
    CHECK(spelled == enumerator.name);
  });
}

}  // namespace

TEST_CASE("the wire's words are the engine's, in its order") {
  check_same_words<engine::Level, protocol::Level>();
  check_same_words<engine::Lane, protocol::Lane>();
  check_same_words<engine::Autonomy, protocol::Autonomy>();
  check_same_words<engine::Scope, protocol::Scope>();
  check_same_words<engine::Verdict, protocol::Verdict>();
  check_same_words<engine::GrantEffect, protocol::GrantEffect>();
  check_same_words<engine::FileOp, protocol::FileOp>();
  check_same_words<server::ReviewState, protocol::ReviewState>();
  check_same_words<server::ReviewKind, protocol::ReviewKind>();
  check_same_words<server::HunkMark, protocol::HunkMark>();
}

TEST_CASE("the wire's words for executions are the sandbox's, in its order") {
  using sandbox::ExitReason, sandbox::ViolationKind;
  for (const auto reason :
       {ExitReason::exit, ExitReason::timeout, ExitReason::limit, ExitReason::killed, ExitReason::policy}) {
    CHECK(protocol::wire_name(static_cast<protocol::ExitReason>(static_cast<int>(reason))) == name_of(reason));
  }
  for (const auto kind : {ViolationKind::egress, ViolationKind::path, ViolationKind::syscall, ViolationKind::limit,
                          ViolationKind::socket, ViolationKind::symlink, ViolationKind::outside_workspace}) {
    CHECK(protocol::wire_name(static_cast<protocol::ViolationKind>(static_cast<int>(kind))) == name_of(kind));
  }
}
