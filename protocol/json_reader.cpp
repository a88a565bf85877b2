#include "protocol/json_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "protocol/json_writer.h"

namespace escrow::protocol {
namespace {

bool is_plain_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '$';
  });
}

/// A key from the outside in an error message: short, one line, plain ASCII.
std::string quoted(std::string_view key) {
  constexpr std::size_t kShown = 40;
  std::string out = "\"";
  for (const char c : key.substr(0, kShown)) out += (c >= ' ' && c <= '~' && c != '"') ? c : '?';
  return out + (key.size() > kShown ? "…\"" : "\"");
}

/// Lua and some other languages write 3 as 3.0; such a number is the integer it equals.
std::optional<std::int64_t> integral(double number) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: above, a double skips integers
  if (!(std::abs(number) <= kExact) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

template <class T>
bool read_integer(const json::value& value, T& out, const Path& path) {
  std::optional<T> number;
  bool is_integer = true;
  if (const std::int64_t* i = value.if_int64()) {
    if (std::in_range<T>(*i)) number = static_cast<T>(*i);
  } else if (const std::uint64_t* u = value.if_uint64()) {
    if (std::in_range<T>(*u)) number = static_cast<T>(*u);
  } else if (const double* d = value.if_double()) {
    const std::optional<std::int64_t> whole = integral(*d);
    is_integer = whole.has_value();
    if (whole && std::in_range<T>(*whole)) number = static_cast<T>(*whole);
  } else {
    is_integer = false;
  }
  if (!is_integer) return path.fail("expected integer");
  if (!number) {
    return path.fail("expected integer in " + std::to_string(std::numeric_limits<T>::min()) + ".." +
                     std::to_string(std::numeric_limits<T>::max()));
  }
  out = *number;
  return true;
}

}  // namespace

bool Path::fail(std::string_view problem) const {
  if (root_->error.empty()) root_->error = text() + ": " + std::string(problem);
  return false;
}

std::string Path::text() const {
  if (!parent_) return std::string(root_->name);
  std::string out = parent_->text();
  if (!key_.data()) return out.append("[").append(std::to_string(index_)).append("]");
  if (is_plain_key(key_)) return out.append(".").append(key_);
  return out.append("[").append(quoted(key_)).append("]");
}

bool from_json(const json::value& value, bool& out, const Path& path) {
  if (!value.is_bool()) return path.fail("expected boolean");
  out = value.get_bool();
  return true;
}

bool from_json(const json::value& value, std::int32_t& out, const Path& path) {
  return read_integer(value, out, path);
}
bool from_json(const json::value& value, std::uint32_t& out, const Path& path) {
  return read_integer(value, out, path);
}
bool from_json(const json::value& value, std::int64_t& out, const Path& path) {
  return read_integer(value, out, path);
}
bool from_json(const json::value& value, std::uint64_t& out, const Path& path) {
  return read_integer(value, out, path);
}

bool from_json(const json::value& value, double& out, const Path& path) {
  if (!value.is_number()) return path.fail("expected number");
  out = value.to_number<double>();
  return true;
}

bool from_json(const json::value& value, std::string& out, const Path& path) {
  if (!value.is_string()) return path.fail("expected string");
  out = std::string(std::string_view(value.get_string()));
  return true;
}

bool from_json(const json::value& value, json::value& out, const Path&) {
  out = value;
  return true;
}

bool from_json(const json::value& value, json::object& out, const Path& path) {
  out.clear();
  if (is_empty_array(value)) return true;
  if (!value.is_object()) return path.fail("expected object");
  out = value.get_object();
  return true;
}

bool from_json(const json::value& value, std::nullptr_t& out, const Path& path) {
  out = nullptr;
  return value.is_null() || path.fail("expected null");
}

bool from_json(const json::value& value, std::variant<std::int64_t, std::string>& out, const Path& path) {
  if (value.is_string()) return from_json(value, out.emplace<std::string>(), path);
  if (value.is_number()) return from_json(value, out.emplace<std::int64_t>(), path);
  return path.fail("expected integer or string");
}

ObjectReader::ObjectReader(const json::value& value, const Path& path)
    : object_(value.if_object()), path_(path), ok_(object_ || is_empty_array(value)) {
  if (!ok_) path.fail("expected object");
}

void ObjectReader::constant(std::string_view key, std::string_view text) {
  if (!ok_) return;
  const json::value* member = find(key);
  const bool same = member && member->is_string() && std::string_view(member->get_string()) == text;
  ok_ = same || path_.field(key).fail("expected \"" + std::string(text) + "\"");
}

const json::value* ObjectReader::find(std::string_view key) const {
  return object_ ? object_->if_contains(key) : nullptr;
}

std::string expected_one_of(const std::vector<std::string_view>& names) {
  std::string out = "expected one of ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    out.append(i ? ", \"" : "\"").append(names[i]).append("\"");
  }
  return out;
}

json::value to_json(const std::variant<std::int64_t, std::string>& value) {
  return std::visit([](const auto& held) { return to_json(held); }, value);
}

}  // namespace escrow::protocol
