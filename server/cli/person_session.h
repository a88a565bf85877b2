#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/level.h"
#include "server/broker.h"
#include "server/cli/workplace.h"
#include "server/error.h"

namespace boost::asio {
class io_context;
}

namespace escrow::server::cli {

/// The broker with a person at a terminal in front of it: no editor, no agent. For one thread.
class PersonSession {
 public:
  struct Options {
    std::string workspace = {};                     ///< empty: around the current directory
    std::optional<engine::Autonomy> autonomy = {};  ///< instead of the policy's; a cap still holds
    BrokerEvents events = {};
  };
  static Result<std::unique_ptr<PersonSession>> open(Options options);
  ~PersonSession();

  const Workplace& place() const;
  Broker& broker();
  boost::asio::io_context& loop();

 private:
  struct Parts;
  explicit PersonSession(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace escrow::server::cli
