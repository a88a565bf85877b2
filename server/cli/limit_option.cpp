#include "server/cli/limit_option.h"

#include <charconv>
#include <chrono>

#include "server/units.h"

namespace escrow::server::cli {
namespace {

Error refusal(const std::string& option, const std::string& allowed) {
  return {ErrorKind::invalid_params, "--limit " + option + ": " + allowed};
}

Result<void> set_time(sandbox::Limits& limits, const std::string& name, const std::string& value) {
  const std::chrono::milliseconds time(parse_duration_ms(value).value_or(0));
  if (time.count() <= 0) return refusal(name + "=" + value, "a time such as 500ms, 30s or 5m");
  if (name == "wall") {
    limits.wall = time;
  } else {
    limits.cpu = time;
  }
  return {};
}

Result<void> set_size(sandbox::Limits& limits, const std::string& name, const std::string& value) {
  const auto bytes = parse_bytes(value).value_or(0);
  if (bytes == 0) return refusal(name + "=" + value, "a size such as 512K, 64M or 4G");
  if (name == "memory") {
    limits.memory_bytes = bytes;
  } else if (name == "file-size") {
    limits.file_size_bytes = bytes;
  } else {
    limits.output_shown_bytes = bytes;
  }
  return {};
}

Result<void> set_count(sandbox::Limits& limits, const std::string& name, const std::string& value) {
  std::uint32_t count = 0;
  const auto* end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, count);
  if (error != std::errc{} || rest != end || count == 0) return refusal(name + "=" + value, "a count of processes");
  limits.pids = count;
  return {};
}

}  // namespace

Result<void> set_limit(sandbox::Limits& limits, const std::string& option) {
  const auto equals = option.find('=');
  if (equals == std::string::npos) return refusal(option, "write NAME=VALUE, as in memory=2G");
  const auto name = option.substr(0, equals);
  const auto value = option.substr(equals + 1);
  if (name == "wall" || name == "cpu") return set_time(limits, name, value);
  if (name == "memory" || name == "file-size" || name == "output") return set_size(limits, name, value);
  if (name == "pids") return set_count(limits, name, value);
  return refusal(option, "one of wall, cpu, memory, file-size, output, pids");
}

}  // namespace escrow::server::cli
