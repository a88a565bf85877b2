#include "sandbox/packet.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>

namespace escrow::sandbox {
namespace {

// The default send buffer of a Unix socket is 208 KiB; stay well below it.
constexpr std::size_t kMaxInline = 96u << 10;

const Error kNothingToRead{ErrorKind::io, "nothing to read"};

struct PacketHeader {
  unsigned char type;
  unsigned char in_memory_file;  // the payload is the first descriptor
};

template <class Call>
ssize_t retry(Call call) {
  ssize_t done;
  do {
    done = call();
  } while (done < 0 && errno == EINTR);
  return done;
}

Result<std::string> read_memory_file(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return io_error("reading a message");
  if (static_cast<std::size_t>(info.st_size) > kMaxPacketPayload)
    return Error{ErrorKind::io, "reading a message: longer than 256 MiB"};
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    ssize_t got = retry([&] { return pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at)); });
    if (got <= 0) return io_error("reading a message");
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<void> send_inline(int socket, PacketHeader header, std::string_view payload, const std::vector<int>& fds) {
  assert(fds.size() <= kMaxPacketFds);
  std::array<iovec, 2> parts{iovec{&header, sizeof header}, iovec{const_cast<char*>(payload.data()), payload.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxPacketFds)> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
  }
  if (retry([&] { return sendmsg(socket, &message, MSG_NOSIGNAL); }) < 0) return io_error("sending a message");
  return {};
}

std::vector<UniqueFd> descriptors_of(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + at, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

bool is_known(unsigned char type) {
  return type >= static_cast<unsigned char>(PacketType::launch) &&
         type <= static_cast<unsigned char>(PacketType::failed);
}

}  // namespace

Error io_error(std::string_view what) {
  return {ErrorKind::io, std::string(what) + ": " + std::strerror(errno)};
}

bool is_nothing_to_read(const Error& error) {
  return error == kNothingToRead;
}

Result<std::pair<UniqueFd, UniqueFd>> make_channel() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return io_error("making a channel");
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

Result<UniqueFd> make_memory_file(const char* name, std::string_view bytes) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return io_error("making a memory file");
  for (std::size_t at = 0; at < bytes.size();) {
    ssize_t put = retry([&] { return write(fd.get(), bytes.data() + at, bytes.size() - at); });
    if (put <= 0) return io_error("filling a memory file");
    at += static_cast<std::size_t>(put);
  }
  if (lseek(fd.get(), 0, SEEK_SET) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return io_error("sealing a memory file");
  return fd;
}

Result<void> send_packet(int socket, PacketType type, std::string_view payload, const std::vector<int>& fds) {
  const auto code = static_cast<unsigned char>(type);
  if (payload.size() <= kMaxInline) return send_inline(socket, {code, 0}, payload, fds);
  Result<UniqueFd> file = make_memory_file("escrow-message", payload);
  if (!file) return file.error();
  std::vector<int> all{file->get()};
  all.insert(all.end(), fds.begin(), fds.end());
  return send_inline(socket, {code, 1}, {}, all);
}

Result<std::optional<Packet>> receive_packet(int socket, int flags) {
  static thread_local std::array<char, kMaxInline + 1> buffer;
  PacketHeader header{};
  std::array<iovec, 2> parts{iovec{&header, sizeof header}, iovec{buffer.data(), buffer.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxPacketFds)> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = retry([&] { return recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC); });
  if (got == 0 || (got < 0 && errno == ECONNRESET)) return std::optional<Packet>();
  if (got < 0 && errno == EAGAIN) return kNothingToRead;
  if (got < 0) return io_error("receiving a message");
  Packet packet{.type = static_cast<PacketType>(header.type), .payload = {}, .fds = descriptors_of(message)};
  if (static_cast<std::size_t>(got) < sizeof header || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
      !is_known(header.type) || header.in_memory_file > 1 || (header.in_memory_file == 1 && packet.fds.empty()))
    return Error{ErrorKind::io, "receiving a message: it is malformed"};
  if (header.in_memory_file == 0) {
    packet.payload.assign(buffer.data(), static_cast<std::size_t>(got) - sizeof header);
    return std::optional(std::move(packet));
  }
  Result<std::string> payload = read_memory_file(packet.fds.front().get());
  if (!payload) return payload.error();
  packet.payload = std::move(*payload);
  packet.fds.erase(packet.fds.begin());
  return std::optional(std::move(packet));
}

}  // namespace escrow::sandbox
