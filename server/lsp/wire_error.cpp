#include "server/lsp/wire_error.h"

#include <cassert>

#include "protocol/error_codes.h"

namespace escrow::server::lsp {
namespace {

int code_of(protocol::ErrorKind kind) {
  switch (kind) {
    case protocol::ErrorKind::bad_frame:
    case protocol::ErrorKind::bad_json:
      return protocol::kParseError;
    case protocol::ErrorKind::bad_request:
    case protocol::ErrorKind::too_large:
      return protocol::kInvalidRequest;
    case protocol::ErrorKind::bad_params:
      return protocol::kInvalidParams;
  }
  assert(false && "kind out of range");
  return protocol::kInternalError;
}

}  // namespace

protocol::ResponseError to_wire(const protocol::Error& error) {
  return {code_of(error.kind), error.message, nullptr};
}

protocol::ResponseError escrow_error(int code, std::string message, boost::json::object more) {
  assert(!protocol::kind_of(code).empty() && "a code of the table");
  more["kind"] = protocol::kind_of(code);
  return {code, std::move(message), std::move(more)};
}

}  // namespace escrow::server::lsp
