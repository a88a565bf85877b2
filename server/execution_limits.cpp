#include "server/execution_limits.h"

#include <charconv>

#include "server/units.h"

namespace escrow::server {
namespace {

std::optional<std::uint32_t> parse_count(const std::string& text) {
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

}  // namespace

sandbox::Limits execution_limits(const engine::Policy& policy) {
  sandbox::Limits limits;
  const auto text = [&](const char* name) -> const std::string* {
    const auto found = policy.limits.find(name);
    return found == policy.limits.end() ? nullptr : &found->second;
  };
  const auto duration = [&](const char* name) {
    return text(name) == nullptr ? std::nullopt : parse_duration_ms(*text(name));
  };
  const auto bytes = [&](const char* name) { return text(name) == nullptr ? std::nullopt : parse_bytes(*text(name)); };
  if (const auto wall = duration("wall")) limits.wall = std::chrono::milliseconds(*wall);
  if (const auto cpu = duration("cpu")) limits.cpu = std::chrono::milliseconds(*cpu);
  if (const auto memory = bytes("memory")) limits.memory_bytes = *memory;
  if (const auto size = bytes("file-size")) limits.file_size_bytes = *size;
  if (const auto output = bytes("output")) limits.output_shown_bytes = *output;
  if (const auto* pids = text("pids")) limits.pids = parse_count(*pids).value_or(limits.pids);
  return limits;
}

}  // namespace escrow::server
