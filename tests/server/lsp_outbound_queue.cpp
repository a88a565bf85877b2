#include "server/lsp/outbound_queue.h"

#include "tests/catch.h"

using namespace escrow::server::lsp;

namespace {

constexpr OutboundQueue::Limits kLimits{.coalesce_above = 10, .drop_above = 30, .give_up_above = 60};

std::string rest(OutboundQueue& queue) {
  std::string out;
  while (auto body = queue.pop()) out += *body + " ";
  return out;
}

void put(OutboundQueue& queue, const std::string& body, const std::string& key = {},
         Outgoing::Weight weight = Outgoing::Weight::required) {
  REQUIRE(queue.push({body, key, weight}));
}

}  // namespace

TEST_CASE("while the client keeps up, everything goes out as it was said") {
  OutboundQueue queue(kLimits);
  put(queue, "d1", "doc");
  put(queue, "r1");
  put(queue, "d2", "doc");
  CHECK(rest(queue) == "d1 r1 d2 ");
  CHECK(queue.bytes() == 0);
}

TEST_CASE("behind a backlog the newer diagnostics of a document replace the older") {
  OutboundQueue queue(kLimits);
  put(queue, "d1", "doc");
  put(queue, "e1", "other");
  put(queue, "0123456789");
  put(queue, "d2", "doc");
  put(queue, "d3", "doc");
  CHECK(rest(queue) == "e1 0123456789 d3 ");
  put(queue, "d4", "doc");
  CHECK(rest(queue) == "d4 ");
}

TEST_CASE("progress goes first, command output next, and answers never") {
  const auto progress = Outgoing::Weight::droppable_first;
  const auto output = Outgoing::Weight::droppable;
  OutboundQueue queue(kLimits);
  put(queue, "output-1", {}, output);
  put(queue, "progress1", {}, progress);
  put(queue, "answer1");
  put(queue, "progress2", {}, progress);
  CHECK(queue.size() == 3);  // progress1 went
  put(queue, "answer2");
  CHECK(rest(queue) == "output-1 answer1 answer2 ");
}

TEST_CASE("output is dropped only when no progress is left") {
  OutboundQueue queue(kLimits);
  put(queue, "output-1", {}, Outgoing::Weight::droppable);
  put(queue, "output-2", {}, Outgoing::Weight::droppable);
  put(queue, "0123456789012345678");
  CHECK(rest(queue) == "output-2 0123456789012345678 ");
}

TEST_CASE("a client that does not read is given up, and not before") {
  OutboundQueue queue(kLimits);
  CHECK(queue.push({std::string(60, 'x'), {}, Outgoing::Weight::required}));
  CHECK_FALSE(queue.push({"y", {}, Outgoing::Weight::required}));
}

TEST_CASE("the count of bytes survives every way out") {
  OutboundQueue queue(kLimits);
  for (int i = 0; i < 200; ++i) {
    const auto weight = i % 3 == 0 ? Outgoing::Weight::droppable : Outgoing::Weight::droppable_first;
    put(queue, "message " + std::to_string(i), i % 2 ? "" : "key", weight);
    if (i % 5 == 0) queue.pop();
  }
  std::size_t left = 0;
  std::size_t counted = queue.bytes();
  while (auto body = queue.pop()) left += body->size();
  CHECK(left == counted);
  CHECK(queue.bytes() == 0);
}
