#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace boost::asio {
class io_context;
}

namespace escrow::server::lsp {

/// Tells when one of the policy's files was written, made, moved or removed, also where its folder is not there yet.
/// Several changes within a moment are one call. Loop thread only.
class PolicyWatch {
 public:
  virtual ~PolicyWatch() = default;
  /// From now on these files. Where the system has no watches left, nothing is told: `escrow/policy/reload` still
  /// works.
  virtual void watch(std::vector<std::string> files) = 0;

  static std::unique_ptr<PolicyWatch> make(boost::asio::io_context& loop, std::function<void()> on_change);
};

}  // namespace escrow::server::lsp
