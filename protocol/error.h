#pragma once

#include <boost/system/result.hpp>
#include <string>

namespace escrow::protocol {

/// What kind of trouble it is; decides the wire code in one place (server/lsp/wire_error).
enum class ErrorKind {
  bad_frame,    ///< the byte stream is not LSP framing
  bad_json,     ///< the body is not JSON
  bad_request,  ///< JSON, but not JSON-RPC 2.0
  bad_params,   ///< a parameter of the wrong shape; the message names its JSON path
  too_large,    ///< over a size or depth limit
};

/// Expected trouble: says what, where, and what to do. A bug is an assert instead.
struct Error {
  ErrorKind kind;
  std::string message;
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = boost::system::result<T, Error>;

/// boost::system::result asks for this by argument-dependent lookup. Reached only by `value()` on an
/// unchecked error, which is a bug.
[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& where);

}  // namespace escrow::protocol
