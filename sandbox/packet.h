#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/error.h"
#include "sandbox/unique_fd.h"

namespace escrow::sandbox {

enum class PacketType : unsigned char {
  // server → launcher
  launch = 1,
  run,
  // launcher → server
  ready,
  mounted,
  gone,
  // launcher → runner
  execute,
  // runner → server
  started,
  exited,
  // server → runner
  kill,
  // launcher or runner → server
  failed,
};

/// One message of the private channel and the descriptors that came with it.
struct Packet {
  PacketType type{};
  std::string payload;
  std::vector<UniqueFd> fds;
};

inline constexpr std::size_t kMaxPacketFds = 8;
inline constexpr std::size_t kMaxPacketPayload = 256u << 20;

/// A SOCK_SEQPACKET pair, close-on-exec.
Result<std::pair<UniqueFd, UniqueFd>> make_channel();

/// Sends one message. A payload too large for a datagram travels in a sealed memory file.
Result<void> send_packet(int socket, PacketType type, std::string_view payload, const std::vector<int>& fds = {});

/// Receives one message; nothing at the end of the stream. `flags` as for recvmsg: with MSG_DONTWAIT an empty channel
/// gives an Error that `is_nothing_to_read`.
Result<std::optional<Packet>> receive_packet(int socket, int flags = 0);
bool is_nothing_to_read(const Error& error);

/// A memory file holding `bytes`, sealed, read from its start.
Result<UniqueFd> make_memory_file(const char* name, std::string_view bytes);

/// `what: strerror(errno)` as an io Error.
Error io_error(std::string_view what);

}  // namespace escrow::sandbox
