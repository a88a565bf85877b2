#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/framing.h"
#include "tests/bench/child.h"

/// One `escrow lsp`, spoken to from one thread with as little in between as there can be: what is measured is the
/// server. Throws std::runtime_error when it answers with an error or not at all.
namespace escrow::bench {

namespace json = boost::json;

class Session {
 public:
  /// Starts the server; nothing is sent yet. `root`: the workspace, absolute.
  Session(const std::string& escrow, std::string root);
  ~Session();

  /// `initialize` up to its result, `initialized`; as an agent's embedding does, with Escrow's notifications.
  void initialize();
  /// Registers an agent, whose credential `as_agent` then adds.
  void register_agent();
  json::object as_agent(json::object params);

  json::value call(std::string_view method, const json::object& params);
  void notify(std::string_view method, json::object params);
  /// The params of the next notification of that method.
  json::object wait_for(std::string_view method);

  /// `count` requests at once; returns when all are answered. Nanoseconds.
  double time_burst(std::string_view method, std::size_t count);

  std::string uri_of(const std::string& name) const { return "file://" + root_ + "/" + name; }
  const std::string& root() const { return root_; }
  double resident_bytes() const { return server_.resident_bytes(); }

 private:
  std::string next_body();
  std::string request_text(std::int64_t id, std::string_view method, const json::object& params) const;

  std::string root_;
  PipedProgram server_;
  protocol::FrameReader frames_;
  std::int64_t last_id_ = 0;
  json::object agent_;
};

}  // namespace escrow::bench
