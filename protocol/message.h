#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/error.h"

/// JSON-RPC 2.0 (https://www.jsonrpc.org/specification) as values, without batches, as LSP uses it.
namespace escrow::protocol {

namespace json = boost::json;

/// Names a request; the answer carries the same. Integers and strings differ: `1` is not `"1"`.
using Id = std::variant<std::int64_t, std::string>;

/// For logs and error messages: `7`, `"a"`.
std::string to_string(const Id& id);

struct Request {
  Id id;
  std::string method;
  json::value params;  ///< object or array; null when absent
  bool operator==(const Request&) const = default;
};

struct Notification {
  std::string method;
  json::value params;  ///< object or array; null when absent
  bool operator==(const Notification&) const = default;
};

/// A fault, as it goes on the wire. Codes are in `protocol/error_codes.h`.
struct ResponseError {
  int code = 0;
  std::string message;
  json::value data;  ///< null when absent
  bool operator==(const ResponseError&) const = default;
};

struct Response {
  std::optional<Id> id;  ///< empty is `null`: the request could not be read
  std::variant<json::value, ResponseError> outcome;
  bool operator==(const Response&) const = default;
};

using Message = std::variant<Request, Notification, Response>;

/// Why a body is not a message, and whom to tell.
struct BadMessage {
  Error error;
  std::optional<Id> id;  ///< where the body had a usable one
  /// False for a broken *response*: answering an answer could go on for ever.
  bool answerable = true;
  bool operator==(const BadMessage&) const = default;
};

/// The value or the fault a call came back with.
template <class T>
using Outcome = boost::system::result<T, ResponseError>;

[[noreturn]] void throw_exception_from_error(const BadMessage& bad, const boost::source_location& where);
[[noreturn]] void throw_exception_from_error(const ResponseError& error, const boost::source_location& where);

/// Deepest nesting of arrays and objects that is read. Deeper is refused, so that nothing that walks a
/// message by recursion can be made to run out of stack.
inline constexpr std::size_t kMaxDepth = 128;

/// Reads one body. Never throws; time and memory are linear in the text.
boost::system::result<Message, BadMessage> parse_message(std::string_view text);

/// The body's text: ASCII-safe control characters, one line, absent members omitted, `result` always
/// there on success.
std::string encode(const Message& message);

}  // namespace escrow::protocol
