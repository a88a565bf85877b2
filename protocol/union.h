#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/json_reader.h"
#include "protocol/json_writer.h"

/// Variants that a member such as `kind` tells apart.
namespace escrow::protocol {

/// One case of a union: the text of the telling member, and how to read the rest.
struct Alternative {
  std::string_view name;
  std::function<bool(const json::value&, const Path&)> read;
};

template <class T, class Variant>
Alternative alternative(Variant& out, std::string_view name) {
  return {name, [&out](const json::value& value, const Path& path) {
            return from_json(value, out.template emplace<T>(), path);
          }};
}

/// Reads the alternative that `key` names; an unknown name lists those there are.
inline bool read_union(const json::value& value, std::string_view key, const Path& path,
                       std::initializer_list<Alternative> alternatives) {
  const json::object* object = value.if_object();
  if (!object) return path.fail("expected object");
  const json::value* tag = object->if_contains(key);
  if (!tag) return path.field(key).fail("missing");
  std::vector<std::string_view> names;
  for (const Alternative& one : alternatives) {
    if (tag->is_string() && std::string_view(tag->get_string()) == one.name) return one.read(value, path);
    names.push_back(one.name);
  }
  return path.field(key).fail(expected_one_of(names));
}

template <class... Ts>
json::value write_union(const std::variant<Ts...>& value) {
  return std::visit([](const auto& held) { return to_json(held); }, value);
}

}  // namespace escrow::protocol
