#pragma once

#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/json_reader.h"

/// Writing what json_reader.h reads, from the same `fields` list, so that the two cannot drift apart.
namespace escrow::protocol {

inline json::value to_json(bool value) {
  return value;
}
inline json::value to_json(std::int32_t value) {
  return value;
}
inline json::value to_json(std::uint32_t value) {
  return value;
}
inline json::value to_json(std::int64_t value) {
  return value;
}
inline json::value to_json(std::uint64_t value) {
  return value;
}
inline json::value to_json(double value) {
  return value;
}
inline json::value to_json(std::nullptr_t) {
  return nullptr;
}
inline json::value to_json(std::string_view value) {
  return json::string(value);
}
inline json::value to_json(const std::string& value) {
  return json::string(value);
}
inline json::value to_json(const char* value) {
  return json::string(value);
}
inline json::value to_json(const json::value& value) {
  return value;
}
inline json::value to_json(const json::object& value) {
  return value;
}
inline json::value to_json(const json::array& value) {
  return value;
}
json::value to_json(const std::variant<std::int64_t, std::string>& value);

// Declared ahead: a container of plain types is not found through its arguments.
template <HasWireNames E>
json::value to_json(E value);
template <HasWireRange E>
json::value to_json(E value);
template <HasFields T>
json::value to_json(const T& value);
template <class T>
json::value to_json(const std::optional<T>& value);
template <class T>
json::value to_json(const std::vector<T>& values);
template <class T>
json::value to_json(const std::map<std::string, T>& values);

/// Builds one object member by member; the mirror of ObjectReader.
class ObjectWriter {
 public:
  explicit ObjectWriter(json::object& object) : object_(object) {}

  template <class T>
  void required(std::string_view key, const T& value) {
    object_[key] = to_json(value);
  }
  /// An absent value leaves no key.
  template <class T>
  void optional(std::string_view key, const std::optional<T>& value) {
    if (value) object_[key] = to_json(*value);
  }
  void optional(std::string_view key, const json::value& value) {
    if (!value.is_null()) object_[key] = value;
  }
  /// An absent value is written as null.
  template <class T>
  void nullable(std::string_view key, const std::optional<T>& value) {
    object_[key] = value ? to_json(*value) : json::value(nullptr);
  }
  template <class T>
  void or_null(std::string_view key, const std::optional<T>& value) {
    nullable(key, value);
  }
  void constant(std::string_view key, std::string_view text) { object_[key] = json::string(text); }

 private:
  json::object& object_;
};

template <HasWireNames E>
json::value to_json(E value) {
  return to_json(wire_name(value));
}

template <HasWireRange E>
json::value to_json(E value) {
  return static_cast<std::int32_t>(value);
}

template <HasFields T>
json::value to_json(const T& value) {
  json::object object;
  ObjectWriter writer(object);
  T::fields(writer, value);
  return object;
}

template <class T>
json::value to_json(const std::optional<T>& value) {
  return value ? to_json(*value) : json::value(nullptr);
}

template <class T>
json::value to_json(const std::vector<T>& values) {
  json::array array;
  array.reserve(values.size());
  for (const T& value : values) array.push_back(to_json(value));
  return array;
}

template <class T>
json::value to_json(const std::map<std::string, T>& values) {
  json::object object;
  for (const auto& [key, value] : values) object[key] = to_json(value);
  return object;
}

/// Lets `boost::json::value_from` take our types too.
template <class T>
requires HasFields<T> || HasWireNames<T> || HasWireRange<T>
void tag_invoke(const json::value_from_tag&, json::value& out, const T& value) {
  out = to_json(value);
}

}  // namespace escrow::protocol
