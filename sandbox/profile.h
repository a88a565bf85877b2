#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace escrow::sandbox {

/// How the workspace may be written: copy-on-write, not at all, or for real (needs a grant).
enum class Writable { overlay, none, direct };

/// What one execution may use. A caller may ask for less, never for more than policy gives.
struct Limits {
  std::chrono::milliseconds wall{std::chrono::minutes(10)};
  std::optional<std::chrono::milliseconds> cpu;
  std::uint64_t memory_bytes = 0;  ///< 0: min(4 GiB, half of RAM)
  std::uint32_t pids = 2048;
  std::optional<std::uint64_t> file_size_bytes;
  std::uint64_t output_shown_bytes = 1u << 20;  ///< head + tail handed on, per stream
  std::uint64_t output_kept_bytes = 16u << 20;  ///< after this much the middle is only counted
  std::uint64_t stage_bytes = 8ull << 30;
  bool operator==(const Limits&) const = default;
};

/// What a sandbox may see and do. Paths are absolute host paths.
struct Profile {
  std::string name = "default";  ///< default, build, debug (ptrace allowed)
  std::string workspace;         ///< realpath of the workspace root
  Writable writable = Writable::overlay;
  std::vector<std::string> network_allow;  ///< host[:port]; empty: no egress at all
  std::vector<std::string> env_allow;      ///< names passed through from the server's environment
  std::vector<std::string> mask;           ///< globs inside the workspace, beside the built-in ones
  std::vector<std::string> read;           ///< further host paths, read-only
  /// Text of open, unsaved documents by workspace-relative path: the guest sees it instead of the file.
  std::map<std::string, std::string> unsaved;
  /// Tracked files (relative) that a mask would hide: never masked, since git would see a deletion.
  std::vector<std::string> tracked_secrets;
  /// Whose writes this command sees and adds to (see session_stage.h); empty: a stage of its own, thrown away after it.
  std::string session;
  Limits limits;
  bool operator==(const Profile&) const = default;
};

}  // namespace escrow::sandbox
