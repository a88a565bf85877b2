#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sandbox/unique_fd.h"

namespace boost::asio {
class io_context;
}

namespace escrow::sandbox {

/// Answers the sandbox's network: the listeners live in its network namespace, which has no way out, and we in ours.
///
/// Names asked for at port 53 do not exist unless allowed. The proxy at kProxyPort opens a connection to an allowed
/// host and port, whose name resolves to public addresses only, and refuses every other. What was refused is
/// remembered as `host:port` (a bare `host` if only its name was asked for). Loop thread only.
class EgressGuard {
 public:
  virtual ~EgressGuard() = default;
  /// Each refused host once, in order, at most 64.
  virtual std::vector<std::string> refused() const = 0;
};

/// Takes the three listeners of `open_listeners`, in its order.
std::shared_ptr<EgressGuard> make_egress_guard(boost::asio::io_context& loop, std::vector<UniqueFd> listeners,
                                               std::vector<std::string> allow);

}  // namespace escrow::sandbox
