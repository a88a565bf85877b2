#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sandbox/unique_fd.h"

namespace boost::asio {
class io_context;
}

namespace escrow::sandbox {

struct EgressPolicy {
  std::vector<std::string> allow;  ///< see EgressRules; empty: nothing is reached
  bool allow_private = false;      ///< tests only: addresses that are not public may be connected to
};

/// Answers the sandbox's network: the listeners live in its network namespace, which has no way out, and we in ours. So
/// nothing has to be forwarded from inside, and a guest cannot reach what answers it.
///
/// - The proxy opens a connection to an allowed host and port, if its name resolves to public addresses only, and
///   answers every other request with 403.
/// - Names that are not allowed do not exist. An allowed one resolves to an address of the sandbox's own at which ports
///   443 and 80 lead to that host: for programs that know no proxy.
///
/// What was refused is remembered. Loop thread only; dropping it closes every connection.
class EgressGuard {
 public:
  virtual ~EgressGuard() = default;
  /// Each refused target once, in order, at most 64: `host:port`, or `host` if only its name was asked for.
  virtual std::vector<std::string> refused() const = 0;
};

/// Takes the listeners of `open_listeners`, in its order. Null if they are not those.
std::shared_ptr<EgressGuard> make_egress_guard(boost::asio::io_context& loop, std::vector<UniqueFd> listeners,
                                               const EgressPolicy& policy);

}  // namespace escrow::sandbox
