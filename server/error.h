#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <string>

namespace escrow::server {

/// What went wrong, in the words of the protocol; `lsp/wire_error` turns it into the numbers of protocol/README.md.
enum class ErrorKind {
  unknown_agent,
  role_forbidden,
  not_found,
  state_conflict,
  nonce_invalid,
  stale,
  limit_exceeded,
  bad_change,
  outside_roots,
  symlink_or_device_refused,
  sandbox_unavailable,
  exec_not_running,
  client_cannot,
  locked,
  invalid_params,
  cancelled,
  io,
};

/// Expected trouble: what, where, and what to do.
struct Error {
  ErrorKind kind;
  std::string message;
  /// For `stale` and `state_conflict`: the revision or state that holds now, as JSON text; empty if nothing to add.
  std::string data = {};
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = boost::system::result<T, Error>;

[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& where);

/// `message: strerror(errno)` as an io Error, for the call that just failed.
Error io_error(const std::string& what);

}  // namespace escrow::server
