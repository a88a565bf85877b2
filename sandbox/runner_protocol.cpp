#include "sandbox/runner_protocol.h"

#include "sandbox/wire.h"

namespace escrow::sandbox {
namespace {

void put_flag(WireWriter& out, bool value) {
  out.put(std::uint32_t{value ? 1u : 0u});
}
void put_text(WireWriter& out, const std::string& value) {
  out.put(std::string_view(value));
}

/// An enum's value, or the first one past the end (which the caller refuses).
std::optional<Writable> to_writable(std::uint32_t value) {
  if (value > static_cast<std::uint32_t>(Writable::direct)) return std::nullopt;
  return static_cast<Writable>(value);
}

template <class T>
std::optional<T> if_complete(const WireReader& in, T value) {
  if (!in.complete()) return std::nullopt;
  return value;
}

}  // namespace

std::string encode(const LaunchRequest& value) {
  WireWriter out;
  put_text(out, value.bwrap);
  out.put(value.bwrap_args);
  put_text(out, value.runner);
  put_text(out, value.scaffold);
  out.put(value.uid);
  out.put(value.gid);
  out.put(static_cast<std::uint32_t>(value.homes.size()));
  for (const HomeOverlay& home : value.homes) {
    put_text(out, home.path);
    out.put(home.masks);
  }
  return out.take();
}

std::optional<LaunchRequest> decode_launch(std::string_view bytes) {
  WireReader in(bytes);
  LaunchRequest value;
  value.bwrap = in.string();
  value.bwrap_args = in.list();
  value.runner = in.string();
  value.scaffold = in.string();
  value.uid = in.u32();
  value.gid = in.u32();
  const std::uint32_t homes = in.u32();
  if (homes > bytes.size()) return std::nullopt;
  for (std::uint32_t i = 0; i < homes; ++i) {
    HomeOverlay home{.path = in.string(), .masks = {}};
    home.masks = in.list();
    value.homes.push_back(std::move(home));
  }
  return if_complete(in, std::move(value));
}

namespace {

std::string encode_mount(const MountRequest& value) {
  WireWriter out;
  put_text(out, value.workspace);
  out.put(static_cast<std::uint32_t>(value.writable));
  out.put(value.copy_limit_bytes);
  put_flag(out, value.try_overlay);
  put_text(out, value.session);
  out.put(value.masked);
  out.put(value.unsaved);
  return out.take();
}

std::optional<MountRequest> decode_mount(std::string_view bytes) {
  WireReader in(bytes);
  MountRequest value;
  value.workspace = in.string();
  const std::optional<Writable> writable = to_writable(in.u32());
  value.copy_limit_bytes = in.u64();
  value.try_overlay = in.u32() != 0;
  value.session = in.string();
  value.masked = in.list();
  value.unsaved = in.map();
  if (!writable) return std::nullopt;
  value.writable = *writable;
  return if_complete(in, std::move(value));
}

}  // namespace

std::string encode(const RunRequest& value) {
  WireWriter out;
  out.put(std::string_view(encode_mount(value.mount)));
  out.put(std::string_view(encode(value.execute)));
  return out.take();
}

std::optional<RunRequest> decode_run(std::string_view bytes) {
  WireReader in(bytes);
  std::optional<MountRequest> mount = decode_mount(in.string());
  std::optional<ExecuteRequest> execute = decode_execute(in.string());
  if (!in.complete() || !mount || !execute) return std::nullopt;
  return RunRequest{std::move(*mount), std::move(*execute)};
}

std::string encode(const ExecuteRequest& value) {
  WireWriter out;
  out.put(value.argv);
  out.put(value.env);
  put_text(out, value.cwd);
  put_flag(out, value.pty.has_value());
  const PtySize size = value.pty.value_or(PtySize{});
  out.put(std::uint32_t{size.cols});
  out.put(std::uint32_t{size.rows});
  for (std::uint64_t limit :
       {value.limits.data_bytes, value.limits.tree_rss_bytes, value.limits.file_bytes, value.limits.pids,
        value.limits.files, value.limits.cpu_seconds, value.limits.stage_bytes})
    out.put(limit);
  out.put(value.landlock_read);
  out.put(value.landlock_write);
  return out.take();
}

std::optional<ExecuteRequest> decode_execute(std::string_view bytes) {
  WireReader in(bytes);
  ExecuteRequest value;
  value.argv = in.list();
  value.env = in.list();
  value.cwd = in.string();
  const bool pty = in.u32() != 0;
  const std::uint32_t cols = in.u32(), rows = in.u32();
  if (cols > 0xffff || rows > 0xffff) return std::nullopt;
  if (pty) value.pty = PtySize{static_cast<unsigned short>(cols), static_cast<unsigned short>(rows)};
  for (std::uint64_t* limit :
       {&value.limits.data_bytes, &value.limits.tree_rss_bytes, &value.limits.file_bytes, &value.limits.pids,
        &value.limits.files, &value.limits.cpu_seconds, &value.limits.stage_bytes})
    *limit = in.u64();
  value.landlock_read = in.list();
  value.landlock_write = in.list();
  return if_complete(in, std::move(value));
}

std::string encode(const MountedReport& value) {
  WireWriter out;
  put_text(out, value.writable);
  return out.take();
}

std::optional<MountedReport> decode_mounted(std::string_view bytes) {
  WireReader in(bytes);
  MountedReport value{.writable = in.string()};
  return if_complete(in, std::move(value));
}

std::string encode(const StartedReport& value) {
  WireWriter out;
  out.put(static_cast<std::uint32_t>(value.landlock_abi));
  return out.take();
}

std::optional<StartedReport> decode_started(std::string_view bytes) {
  WireReader in(bytes);
  StartedReport value{.landlock_abi = static_cast<int>(in.u32() & 0xffff)};
  return if_complete(in, value);
}

std::string encode(const ExitedReport& value) {
  WireWriter out;
  out.put(static_cast<std::uint32_t>(value.wait_status));
  out.put(value.cpu_us);
  out.put(value.max_rss_kib);
  put_text(out, value.limit);
  return out.take();
}

std::optional<ExitedReport> decode_exited(std::string_view bytes) {
  WireReader in(bytes);
  ExitedReport value;
  value.wait_status = static_cast<int>(in.u32() & 0xffff);
  value.cpu_us = in.u64();
  value.max_rss_kib = in.u64();
  value.limit = in.string();
  return if_complete(in, std::move(value));
}

std::string encode(const Error& value) {
  WireWriter out;
  out.put(static_cast<std::uint32_t>(value.kind));
  put_text(out, value.message);
  return out.take();
}

std::optional<Error> decode_error(std::string_view bytes) {
  WireReader in(bytes);
  const std::uint32_t kind = in.u32();
  Error value{ErrorKind::io, in.string()};
  if (kind > static_cast<std::uint32_t>(ErrorKind::io)) return std::nullopt;
  value.kind = static_cast<ErrorKind>(kind);
  return if_complete(in, std::move(value));
}

}  // namespace escrow::sandbox
