#pragma once

#include <boost/system/result.hpp>
#include <string>

namespace escrow::sandbox {

/// What kind of trouble it is; decides the wire code in one place (server/lsp/wire_error).
enum class ErrorKind {
  unavailable,       ///< no boundary can be set up here: the call is refused, never run on the host
  invalid_argument,  ///< a command or profile that cannot mean anything
  limit_exceeded,    ///< more than the cage may hold
  io,                ///< the machine failed (errno in the message)
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

}  // namespace escrow::sandbox
