#include "sandbox/reap.h"

#include <sys/wait.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>

namespace escrow::sandbox {

void reap_when_ended(boost::asio::io_context& loop, UniqueFd process, std::function<void()> ended) {
  using Descriptor = boost::asio::posix::stream_descriptor;
  auto descriptor = std::make_shared<Descriptor>(loop, process.release());
  descriptor->async_wait(Descriptor::wait_read,
                         [descriptor, ended = std::move(ended)](boost::system::error_code error) {
                           if (error) return;
                           siginfo_t info{};
                           waitid(P_PIDFD, static_cast<id_t>(descriptor->native_handle()), &info, WEXITED);
                           if (ended) ended();
                         });
}

}  // namespace escrow::sandbox
