#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/profile.h"

/// The cage in the language of macOS's sandbox-exec. Pure, so that it is written and tested on any system.
namespace escrow::sandbox {

/// Where things lie on the host, as real paths.
struct SeatbeltPlaces {
  std::string workspace;  ///< what the guest works in: the copy, or, in direct mode, the workspace itself
  std::string home;       ///< the guest's own, thrown away
  std::string temporary;  ///< its TMPDIR, thrown away
  std::string person_home;
  std::string state_dir;             ///< Escrow's; closed but for the three above, which may lie in it
  std::vector<std::string> tools;    ///< read-only directories with programs, of the person's home or elsewhere
  std::vector<std::string> read;     ///< further read-only paths, by policy
  std::vector<std::string> hidden;   ///< secrets within the workspace
  std::vector<std::string> guarded;  ///< in direct mode: what may not be written there, nor renamed away
  std::uint16_t proxy_port = 0;      ///< on localhost; 0: no network at all
  std::string tag;                   ///< marks this run's denials in the system's log; letters, digits and dashes
};

struct SeatbeltProfile {
  std::string text;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< for -D; paths are never spliced into the text
  bool operator==(const SeatbeltProfile&) const = default;
};

/// Everything is denied but what programs, compilers and interpreters need. Later rules win, so the order is: the
/// system; tools and what policy lets read; never the person's secrets nor Escrow's state; the guest's own places;
/// never what is hidden or guarded in them.
SeatbeltProfile seatbelt_profile(const Profile& profile, const SeatbeltPlaces& places);

/// /tmp, /var and /etc are links into /private, and rules are matched after links are followed.
std::string seatbelt_path(const std::string& path);

inline constexpr const char* kSandboxExec = "/usr/bin/sandbox-exec";

/// The whole command line that runs `argv` under the profile.
std::vector<std::string> seatbelt_command(const SeatbeltProfile& profile, const std::vector<std::string>& argv);

}  // namespace escrow::sandbox
