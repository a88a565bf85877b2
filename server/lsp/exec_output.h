#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/escrow_execute.h"
#include "sandbox/executor.h"

namespace escrow::server::lsp {

/// Bytes as a JSON string: as they are if they are UTF-8, else base64 (RFC 4648). NUL and lone CR are UTF-8 too.
std::pair<std::string, protocol::Encoding> to_text(std::string_view bytes);
/// The bytes of such a string; empty with `ok` false for broken base64.
std::pair<std::string, bool> from_text(const std::string& data, protocol::Encoding encoding);

/// How many bytes at the end of `bytes` are the beginning of a UTF-8 sequence that goes on in the next chunk (0 to 3).
std::size_t unfinished_tail(std::string_view bytes);

/// One stream of one execution on its way to the client: a character cut by a chunk's border waits for its rest.
class OutputStream {
 public:
  explicit OutputStream(sandbox::Stream stream) : stream_(stream) {}

  /// What can be sent now; `data` is empty if the chunk was only the start of a character. `end` flushes.
  protocol::ExecuteOutputParams take(std::string_view bytes, bool end);

 private:
  sandbox::Stream stream_;
  std::string held_;
  std::int64_t offset_ = 0;
};

}  // namespace escrow::server::lsp
