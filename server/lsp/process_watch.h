#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace escrow::server::lsp {

/// Notices the death of another process of this host: the editor that started us, where a process that inherited our
/// pipe keeps it from closing. Loop thread only.
class ProcessWatch {
 public:
  /// `on_death` is called once, on the loop. Null where the process cannot be seen from here (none of that number: it
  /// belongs to another namespace or host); then the end of input has to do.
  static std::unique_ptr<ProcessWatch> start(boost::asio::io_context& loop, std::int64_t pid,
                                             std::function<void()> on_death);
  virtual ~ProcessWatch() = default;
};

}  // namespace escrow::server::lsp
