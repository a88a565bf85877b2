#include "server/units.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <utility>

namespace escrow::server {
namespace {

/// A number and the letters behind it; empty unless both halves use the text up.
std::optional<std::pair<std::uint64_t, std::string_view>> split_unit(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{}) return std::nullopt;
  return std::pair{number, text.substr(static_cast<std::size_t>(rest - text.data()))};
}

std::optional<std::uint64_t> scale(std::uint64_t number, std::uint64_t factor, std::uint64_t limit) {
  if (number > limit / factor) return std::nullopt;
  return number * factor;
}

std::string with_unit(double number, const char* unit) {
  std::array<char, 48> text{};
  const bool whole = number >= 10 || number == static_cast<double>(static_cast<std::int64_t>(number));
  const int length = std::snprintf(text.data(), text.size(), whole ? "%.0f %s" : "%.1f %s", number, unit);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

std::optional<std::int64_t> parse_duration_ms(std::string_view text) {
  const auto parts = split_unit(text);
  if (!parts) return std::nullopt;
  static constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  for (const auto& [unit, factor] : kUnits) {
    if (parts->second != unit) continue;
    const auto ms = scale(parts->first, factor, std::numeric_limits<std::int64_t>::max());
    if (!ms) return std::nullopt;
    return static_cast<std::int64_t>(*ms);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const auto parts = split_unit(text);
  if (!parts) return std::nullopt;
  static constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
      {"", 1}, {"K", 1ull << 10}, {"M", 1ull << 20}, {"G", 1ull << 30}, {"T", 1ull << 40}};
  for (const auto& [unit, factor] : kUnits) {
    if (parts->second == unit) return scale(parts->first, factor, std::numeric_limits<std::uint64_t>::max());
  }
  return std::nullopt;
}

std::string format_duration_ms(std::int64_t ms) {
  const auto value = static_cast<double>(ms);
  if (ms < 1000) return with_unit(value, "ms");
  if (ms < 60'000) return with_unit(value / 1000, "s");
  if (ms < 3'600'000) return with_unit(value / 60'000, "min");
  return with_unit(value / 3'600'000, "h");
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return with_unit(value, kUnits[unit]);
}

}  // namespace escrow::server
