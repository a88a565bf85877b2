#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace escrow::sandbox {

/// What a trusted program of the host prints, started with an empty environment; cut at 64 KiB. One that does not end
/// within `limit` is killed. Empty if it cannot be started.
std::string output_of(const std::string& program, std::vector<std::string> argv,
                      std::chrono::milliseconds limit = std::chrono::seconds(2));

/// Reads until the end, 64 KiB or the deadline.
std::string read_until(int fd, std::chrono::steady_clock::time_point deadline);

/// False if nothing came by the deadline.
bool wait_readable(int fd, std::chrono::steady_clock::time_point deadline);

}  // namespace escrow::sandbox
