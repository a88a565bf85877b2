#pragma once

#include <boost/json/value.hpp>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/error.h"

/// Reading JSON into structs, with errors that name the place: `params.range.end.line: expected integer`.
///
/// A struct is readable (and writable, see json_writer.h) when it lists its members once:
///
///     struct Position {
///       std::uint32_t line = 0;
///       std::uint32_t character = 0;
///       static void fields(auto& f, auto& self) {
///         f.required("line", self.line);
///         f.required("character", self.character);
///       }
///     };
///
/// An enum is when it has a `wire_names` table; anything else by an overload
/// `bool from_json(const json::value&, T&, const Path&)` beside its type.
namespace escrow::protocol {

namespace json = boost::json;

/// Where a reader stands in a document. Parents live on the stack of the callers; text is made only on failure.
class Path {
 public:
  /// The document's name, and the first thing that was wrong below it.
  struct Root {
    std::string_view name;
    std::string error;  ///< empty while all is well
  };

  explicit Path(Root& root) : root_(&root) {}
  Path field(std::string_view key) const { return Path(root_, this, key, 0); }
  Path index(std::size_t i) const { return Path(root_, this, {}, i); }

  /// Records `<path>: <problem>` unless something was recorded before. Always false, so that a reader can
  /// `return path.fail("expected string")`.
  bool fail(std::string_view problem) const;
  std::string text() const;

 private:
  Path(Root* root, const Path* parent, std::string_view key, std::size_t i)
      : root_(root), parent_(parent), key_(key), index_(i) {}
  Root* root_;
  const Path* parent_ = nullptr;
  std::string_view key_;  // null data() for an array element
  std::size_t index_ = 0;
};

bool from_json(const json::value& value, bool& out, const Path& path);
bool from_json(const json::value& value, std::int32_t& out, const Path& path);
bool from_json(const json::value& value, std::uint32_t& out, const Path& path);
bool from_json(const json::value& value, std::int64_t& out, const Path& path);
bool from_json(const json::value& value, std::uint64_t& out, const Path& path);
bool from_json(const json::value& value, double& out, const Path& path);
bool from_json(const json::value& value, std::string& out, const Path& path);
bool from_json(const json::value& value, json::value& out, const Path& path);
bool from_json(const json::value& value, json::object& out, const Path& path);
bool from_json(const json::value& value, std::nullptr_t& out, const Path& path);
/// Request ids, progress tokens, diagnostic codes: integer or string.
bool from_json(const json::value& value, std::variant<std::int64_t, std::string>& out, const Path& path);

/// Lua has one kind of empty table, and writes it as `[]` or as `{}`; each is taken for the other.
inline bool is_empty_array(const json::value& value) {
  return value.is_array() && value.get_array().empty();
}
inline bool is_empty_object(const json::value& value) {
  return value.is_object() && value.get_object().empty();
}

/// Reads the members of one object. Unknown keys are ignored; after the first failure nothing more is read.
class ObjectReader {
 public:
  ObjectReader(const json::value& value, const Path& path);

  /// The key must be there.
  template <class T>
  void required(std::string_view key, T& out) {
    if (!ok_) return;
    const json::value* member = find(key);
    ok_ = member ? from_json(*member, out, path_.field(key)) : path_.field(key).fail("missing");
  }
  /// The key may be absent, or null, which means the same.
  template <class T>
  void optional(std::string_view key, std::optional<T>& out) {
    if (!ok_) return;
    const json::value* member = find(key);
    if (!member || member->is_null()) return;
    ok_ = from_json(*member, out.emplace(), path_.field(key));
  }
  /// Any JSON; absent is null.
  void optional(std::string_view key, json::value& out) {
    if (const json::value* member = ok_ ? find(key) : nullptr) out = *member;
  }
  /// The key must be there, and null is one of its values.
  template <class T>
  void nullable(std::string_view key, std::optional<T>& out) {
    if (!ok_) return;
    const json::value* member = find(key);
    if (!member) ok_ = path_.field(key).fail("missing");
    if (member && !member->is_null()) ok_ = from_json(*member, out.emplace(), path_.field(key));
  }
  /// Null is one of its values, and an absent key is read as null too.
  template <class T>
  void or_null(std::string_view key, std::optional<T>& out) {
    optional(key, out);
  }
  /// A member that must have exactly this text, as `kind` has in a union.
  void constant(std::string_view key, std::string_view text);

  bool ok() const { return ok_; }

 private:
  const json::value* find(std::string_view key) const;
  const json::object* object_;  // null: it has no members
  const Path& path_;
  bool ok_;
};

/// A struct that lists its members.
template <class T>
concept HasFields = requires(ObjectReader& reader, T& self) {
  T::fields(reader, self);
};

/// One spelling of an enumerator.
template <class E>
struct WireName {
  E value;
  std::string_view name;
};

/// An enum with a table, found beside it: `constexpr auto wire_names(Lane) { return std::array<WireName<Lane>, 3>{…};
/// }`.
template <class E>
concept HasWireNames = std::is_enum_v<E> && requires {
  wire_names(E{});
};

/// An enum of LSP's integers, with its bounds beside it: `constexpr std::pair<int, int> wire_range(E) { return {1, 4};
/// }`.
template <class E>
concept HasWireRange = std::is_enum_v<E> && requires {
  wire_range(E{});
};

/// `expected one of "low", "medium", "high"`.
std::string expected_one_of(const std::vector<std::string_view>& names);

template <HasWireNames E>
std::string_view wire_name(E value) {
  for (const auto& entry : wire_names(E{})) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

template <HasWireNames E>
bool from_json(const json::value& value, E& out, const Path& path) {
  std::vector<std::string_view> names;
  for (const auto& entry : wire_names(E{})) {
    if (value.is_string() && std::string_view(value.get_string()) == entry.name) {
      out = entry.value;
      return true;
    }
    names.push_back(entry.name);
  }
  return path.fail(expected_one_of(names));
}

template <HasWireRange E>
bool from_json(const json::value& value, E& out, const Path& path) {
  std::int32_t number = 0;
  if (!from_json(value, number, path)) return false;
  const auto [low, high] = wire_range(E{});
  if (number < low || number > high) {
    return path.fail("expected " + std::to_string(low) + ".." + std::to_string(high));
  }
  out = static_cast<E>(number);
  return true;
}

template <HasFields T>
bool from_json(const json::value& value, T& out, const Path& path) {
  ObjectReader reader(value, path);
  T::fields(reader, out);
  return reader.ok();
}

template <class T>
bool from_json(const json::value& value, std::optional<T>& out, const Path& path) {
  out.reset();
  return value.is_null() || from_json(value, out.emplace(), path);
}

template <class T>
bool from_json(const json::value& value, std::vector<T>& out, const Path& path) {
  out.clear();
  if (is_empty_object(value)) return true;
  const json::array* array = value.if_array();
  if (!array) return path.fail("expected array");
  out.reserve(array->size());
  for (std::size_t i = 0; i < array->size(); ++i) {
    if (!from_json((*array)[i], out.emplace_back(), path.index(i))) return false;
  }
  return true;
}

template <class T>
bool from_json(const json::value& value, std::map<std::string, T>& out, const Path& path) {
  out.clear();
  if (is_empty_array(value)) return true;
  const json::object* object = value.if_object();
  if (!object) return path.fail("expected object");
  for (const auto& [key, member] : *object) {
    if (!from_json(member, out[std::string(key)], path.field(key))) return false;
  }
  return true;
}

/// The front door: a whole value, or an error of kind bad_params that names the place below `root`.
template <class T>
Result<T> read(const json::value& value, std::string_view root = "params") {
  Path::Root place{root, {}};
  T out{};
  if (from_json(value, out, Path(place))) return out;
  return Error{ErrorKind::bad_params, std::move(place.error)};
}

}  // namespace escrow::protocol
