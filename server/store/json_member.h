#pragma once

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <string>
#include <string_view>

namespace escrow::server {

/// The text at `key`; empty if there is none, or something else.
inline std::string text_at(const boost::json::object& object, std::string_view key) {
  const auto* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

/// What the stores write may hold file names that are not UTF-8: bytes in, the same bytes out.
inline boost::json::value parse_stored(std::string_view text, boost::system::error_code& error) {
  boost::json::parse_options options;
  options.allow_invalid_utf8 = true;
  return boost::json::parse(text, error, {}, options);
}

/// The same; throws boost::system::system_error.
inline boost::json::value parse_stored(std::string_view text) {
  boost::system::error_code error;
  auto value = parse_stored(text, error);
  if (error) throw boost::system::system_error(error);
  return value;
}

}  // namespace escrow::server
