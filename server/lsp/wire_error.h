#pragma once

#include "protocol/error.h"
#include "protocol/message.h"

/// The one place where trouble becomes a code on the wire.
namespace escrow::server::lsp {

/// Frames and JSON that cannot be read: -32700. Requests of a wrong shape, or too large: -32600. Parameters: -32602.
protocol::ResponseError to_wire(const protocol::Error& error);

/// An error of Escrow's own, with `data.kind`; `more` joins `data`.
protocol::ResponseError escrow_error(int code, std::string message, boost::json::object more = {});

}  // namespace escrow::server::lsp
