#pragma once

#include <functional>

#include "sandbox/unique_fd.h"

namespace boost::asio {
class io_context;
}

namespace escrow::sandbox {

/// Takes in a child process (by its pidfd) once it has ended, so that it does not stay behind as a zombie; then calls
/// back, on the loop's thread.
void reap_when_ended(boost::asio::io_context& loop, UniqueFd process, std::function<void()> ended = {});

}  // namespace escrow::sandbox
