#include "sandbox/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "sandbox/packet.h"

namespace escrow::sandbox {

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return io_error("making a pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace escrow::sandbox
