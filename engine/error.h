#pragma once

#include <boost/system/result.hpp>
#include <string>

namespace escrow::engine {

/// What kind of trouble it is; decides the wire code in one place (server/lsp/wire_error).
enum class ErrorKind {
  invalid_argument,  ///< a value that cannot mean anything
  mismatch,          ///< a patch that does not fit its base
  unsupported,       ///< understood, and not offered
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

}  // namespace escrow::engine
