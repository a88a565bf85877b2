#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace escrow::server {

/// The text at `key`; empty if there is none, or something else.
inline std::string text_at(const boost::json::object& object, std::string_view key) {
  const auto* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace escrow::server
