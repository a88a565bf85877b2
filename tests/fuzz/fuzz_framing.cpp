// library: escrow_protocol
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/framing.h"

using namespace escrow::protocol;

namespace {

constexpr FrameReader::Limits kLimits{.header_bytes = 128, .body_bytes = 256};

/// Bodies and error kinds, in order, of the stream in pieces of `size` bytes.
std::vector<std::string> read_in_pieces(std::string_view stream, std::size_t size) {
  FrameReader reader(kLimits);
  std::vector<std::string> out;
  for (std::size_t at = 0; at < stream.size(); at += size) {
    reader.feed(stream.substr(at, size));
    while (auto event = reader.next()) {
      const bool body = event->has_value();
      if (body && event->value().size() > kLimits.body_bytes) std::abort();
      out.push_back(body ? "body " + event->value() : "error " + std::to_string(static_cast<int>(event->error().kind)));
    }
  }
  return out;
}

}  // namespace

/// How the stream is cut into chunks must not show; and what we write must come back, whatever stood before it that
/// left the reader between two frames.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view stream(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> whole = read_in_pieces(stream, size + 1);
  if (read_in_pieces(stream, 1) != whole || read_in_pieces(stream, 7) != whole) std::abort();

  FrameReader reader(kLimits);
  reader.feed(frame(stream.substr(0, kLimits.body_bytes)));
  const auto body = reader.next();
  std::string_view expected = stream.substr(0, kLimits.body_bytes);
  if (expected.starts_with("\xEF\xBB\xBF")) expected.remove_prefix(3);
  if (!body || !body->has_value() || body->value() != expected || reader.finish()) std::abort();
  return 0;
}
