#pragma once

#include <boost/describe/enum.hpp>
#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enum_to_string.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace escrow::engine {

/// The enumerator's own spelling, which is also its spelling on the wire and in files.
template <class E>
std::string_view name_of(E value) {
  return boost::describe::enum_to_string(value, "?");
}

/// The enumerator of that name; empty for any other text.
template <class E>
std::optional<E> parse_enum(std::string_view name) {
  E value{};
  if (!boost::describe::enum_from_string(std::string(name).c_str(), value)) return std::nullopt;
  return value;
}

}  // namespace escrow::engine
