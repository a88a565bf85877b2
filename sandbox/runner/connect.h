#pragma once

namespace escrow::sandbox {

/// Run by a guest as `runner --connect HOST PORT`: a tunnel through the sandbox's proxy between standard input and
/// output, for programs (ssh) that know no proxy but take a command in its place. Returns the exit status.
int tunnel_through_proxy(const char* host, const char* port);

}  // namespace escrow::sandbox
