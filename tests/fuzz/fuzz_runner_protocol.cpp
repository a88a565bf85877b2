// library: escrow_sandbox

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "sandbox/dns_message.h"
#include "sandbox/proxy_request.h"
#include "sandbox/runner_protocol.h"

// The first byte chooses a reader. What decodes never encodes to more than it came from: no count is believed.

namespace {

using namespace escrow::sandbox;

template <class Message>
void check(const std::optional<Message>& message, std::string_view bytes) {
  if (message && encode(*message).size() > bytes.size()) std::abort();
}

void read(unsigned char reader, std::string_view bytes) {
  switch (reader % 7) {
    case 0:
      return check(decode_launch(bytes), bytes);
    case 1:
      return check(decode_run(bytes), bytes);
    case 2:
      return check(decode_execute(bytes), bytes);
    case 3:
      return check(decode_exited(bytes), bytes);
    case 4:
      return check(decode_error(bytes), bytes);
    case 5:
      (void)parse_proxy_request(bytes);
      return;
    default:
      if (const auto question = parse_dns_query(bytes)) (void)dns_answer(*question, std::nullopt);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) read(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
