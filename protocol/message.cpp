#include "protocol/message.h"

#include <boost/json/parser.hpp>
#include <boost/json/serialize.hpp>
#include <stdexcept>

#include "protocol/json_writer.h"

namespace escrow::protocol {
namespace {

using Parsed = boost::system::result<Message, BadMessage>;

json::parse_options body_options() {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  return options;
}

/// Boost's parser says what is wrong; the offset says where.
Error bad_json(const json::error_code& error, std::size_t offset) {
  if (error == json::error::too_deep) {
    return {ErrorKind::too_large, "JSON is nested deeper than " + std::to_string(kMaxDepth)};
  }
  return {ErrorKind::bad_json, "not JSON: " + error.message() + " near byte " + std::to_string(offset)};
}

Result<json::value> parse_body(std::string_view text) {
  json::parser parser(json::storage_ptr(), body_options());
  json::error_code error;
  const std::size_t used = parser.write_some(text.data(), text.size(), error);
  if (!error && text.find_first_not_of(" \t\r\n", used) != std::string_view::npos) error = json::error::extra_data;
  if (error) return bad_json(error, used);
  return parser.release();
}

std::optional<Id> read_id(const json::value& value) {
  Path::Root root{"id", {}};
  Id id;
  if (!from_json(value, id, Path(root))) return std::nullopt;
  return id;
}

BadMessage bad_request(std::string message, std::optional<Id> id = std::nullopt) {
  return {Error{ErrorKind::bad_request, "not a JSON-RPC 2.0 message: " + std::move(message)}, std::move(id), true};
}

/// What to_json and parse agree on: absent is null, anything but an object or array is refused.
bool is_params(const json::value* params) {
  return !params || params->is_null() || params->is_object() || params->is_array();
}

Parsed read_call(json::object& object, std::string method) {
  const json::value* raw_id = object.if_contains("id");
  std::optional<Id> id = raw_id ? read_id(*raw_id) : std::nullopt;
  if (raw_id && !id) return bad_request("id: expected integer or string");
  json::value* params = object.if_contains("params");
  if (!is_params(params)) return bad_request("params: expected object or array", id);
  json::value taken = params ? std::move(*params) : json::value();
  if (id) return Message(Request{std::move(*id), std::move(method), std::move(taken)});
  return Message(Notification{std::move(method), std::move(taken)});
}

Result<ResponseError> read_error(const json::value& value) {
  Path::Root root{"error", {}};
  const Path path(root);
  ResponseError error;
  ObjectReader reader(value, path);
  reader.required("code", error.code);
  reader.required("message", error.message);
  reader.optional("data", error.data);
  if (!reader.ok()) return Error{ErrorKind::bad_request, root.error};
  return error;
}

Parsed read_response(json::object& object) {
  const json::value* raw_id = object.if_contains("id");
  const std::optional<Id> id = raw_id ? read_id(*raw_id) : std::nullopt;
  const auto refuse = [&](std::string why) {
    return BadMessage{Error{ErrorKind::bad_request, "not a JSON-RPC 2.0 response: " + std::move(why)}, id, false};
  };
  if (!raw_id) return refuse("id: missing");
  if (!id && !raw_id->is_null()) return refuse("id: expected integer, string or null");
  json::value* result = object.if_contains("result");
  const json::value* error = object.if_contains("error");
  // Some clients send both, with one of them null.
  if (error && !error->is_null()) {
    if (result && !result->is_null()) return refuse("result and error together");
    auto read = read_error(*error);
    if (!read) return refuse(read.error().message);
    return Message(Response{id, std::move(*read)});
  }
  return Message(Response{id, result ? std::move(*result) : json::value()});
}

json::object envelope() {
  return {{"jsonrpc", "2.0"}};
}

void add_call(json::object& out, const std::string& method, const json::value& params) {
  out["method"] = method;
  if (!params.is_null()) out["params"] = params;
}

json::object to_object(const Request& request) {
  json::object out = envelope();
  out["id"] = to_json(request.id);
  add_call(out, request.method, request.params);
  return out;
}

json::object to_object(const Notification& notification) {
  json::object out = envelope();
  add_call(out, notification.method, notification.params);
  return out;
}

json::object to_object(const Response& response) {
  json::object out = envelope();
  out["id"] = response.id ? to_json(*response.id) : json::value(nullptr);
  if (const auto* result = std::get_if<json::value>(&response.outcome)) {
    out["result"] = *result;
    return out;
  }
  const auto& error = std::get<ResponseError>(response.outcome);
  json::object& body = out["error"].emplace_object();
  body["code"] = error.code;
  body["message"] = error.message;
  if (!error.data.is_null()) body["data"] = error.data;
  return out;
}

}  // namespace

std::string to_string(const Id& id) {
  return json::serialize(to_json(id));
}

boost::system::result<Message, BadMessage> parse_message(std::string_view text) {
  auto parsed = parse_body(text);
  if (!parsed) return BadMessage{parsed.error(), std::nullopt, true};
  if (parsed->is_array()) return bad_request("batches are not part of LSP; send one message a frame");
  json::object* object = parsed->if_object();
  if (!object) return bad_request("expected object");
  json::value* method = object->if_contains("method");
  const bool looks_like_answer = !method && (object->contains("result") || object->contains("error"));
  const json::value* raw_id = object->if_contains("id");
  const std::optional<Id> id = raw_id ? read_id(*raw_id) : std::nullopt;
  const json::value* version = object->if_contains("jsonrpc");
  if (!version || *version != "2.0") {
    BadMessage bad = bad_request("jsonrpc: expected \"2.0\"", id);
    bad.answerable = !looks_like_answer;
    return bad;
  }
  if (looks_like_answer) return read_response(*object);
  if (!method) return bad_request("method: missing", id);
  if (!method->is_string()) return bad_request("method: expected string", id);
  return read_call(*object, std::string(std::string_view(method->get_string())));
}

std::string encode(const Message& message) {
  return std::visit([](const auto& held) { return json::serialize(to_object(held)); }, message);
}

void throw_exception_from_error(const BadMessage& bad, const boost::source_location& where) {
  throw_exception_from_error(bad.error, where);
}

void throw_exception_from_error(const ResponseError& error, const boost::source_location& where) {
  throw std::logic_error(std::string("unchecked error at ") + where.file_name() + ": " + error.message);
}

}  // namespace escrow::protocol
