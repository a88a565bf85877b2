#pragma once

// Private to the broker's own .cpp files. Includes Asio for its timers, which is why it is not part of broker.h.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "server/broker.h"
#include "server/line_redactor.h"

namespace escrow::server {

/// Who asks, with what autonomy.
struct Broker::Asker {
  std::string agent_id = {}, name = {}, session = {}, call_id = {};
  std::optional<engine::Autonomy> autonomy = {};
};

/// A single-use right to execute, bound to what was judged.
struct Broker::Token {
  std::string agent_id = {};
  std::string subject_hash = {};
  std::string grant_id = {};  ///< of a grant that stays, if one allowed it
  std::string profile = "default";
  std::vector<std::string> network = {};
  std::int64_t expires_ms = 0;
};

/// One question to the person, and the identical calls that wait for it in order of arrival.
struct Broker::PendingCall {
  struct Waiting {
    ToolCallRequest request;
    std::vector<Reply<ToolCallAnswer>> replies;  ///< empty: nobody holds the line, the agent will ask again
    std::unique_ptr<boost::asio::steady_timer> timer;
  };
  Review review;
  std::string subject_hash = {};
  std::deque<Waiting> waiting;
  std::unique_ptr<boost::asio::steady_timer> look_again;  ///< at grants that another process may have made
};

/// An execution, running or ended.
struct Broker::Live {
  std::string exec_id = {};
  ExecuteRequest request;
  std::string agent_name, session, root;
  std::string stage = {};  ///< of the session, as the executor knows it; empty: this command's own
  std::int64_t started_ms = 0;
  std::unique_ptr<sandbox::RunningExecution> running;
  std::string kept[2];  ///< out, err; at most the profile's kept bytes each
  LineRedactor redactor[2];
  std::size_t keep_limit = 0;
  std::optional<FinishedExecution> finished = {};
  std::vector<Reply<const FinishedExecution*>> waiting = {};
};

/// An approved review on its way into the tree.
struct Broker::Application {
  struct OpenEdit {
    std::string path, absolute, before, after;
    bool done = false;
  };
  Review review;
  std::vector<FileWrite> disk = {};
  std::vector<OpenEdit> open = {};
  std::size_t next = 0;
  bool save = false;
  ApplyOutcome outcome;
  Reply<ApplyOutcome> reply;
};

/// Key of the per-agent tables.
inline std::string call_key(const std::string& agent_id, const std::string& call_id) {
  return agent_id + '\n' + call_id;
}

}  // namespace escrow::server
