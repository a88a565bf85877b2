#include "sandbox/dns_message.h"

namespace escrow::sandbox {
namespace {

constexpr std::size_t kHeader = 12;

std::uint16_t u16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) << 8 |
                                    static_cast<unsigned char>(bytes[at + 1]));
}

void put(std::string& out, unsigned value) {
  out.push_back(static_cast<char>(value >> 8 & 0xff));
  out.push_back(static_cast<char>(value & 0xff));
}

char printable(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  const bool usual = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  return usual ? c : '?';
}

std::string reply(const DnsQuestion& question, unsigned code, unsigned answers) {
  std::string out;
  put(out, question.id);
  // A response, recursion available, and the asker's wish for recursion.
  put(out, 0x8080u | (question.flags & 0x0100u) | code);
  put(out, 1);
  put(out, answers);
  put(out, 0);
  put(out, 0);
  return out + question.encoded;
}

}  // namespace

std::optional<DnsQuestion> parse_dns_query(std::string_view message) {
  if (message.size() < kHeader || u16(message, 4) != 1) return std::nullopt;
  DnsQuestion question{.id = u16(message, 0), .flags = u16(message, 2), .name = {}, .type = 0, .encoded = {}};
  if ((question.flags & 0xf800) != 0) return std::nullopt;  // an answer, or another kind of query
  std::size_t at = kHeader;
  for (;;) {
    if (at >= message.size()) return std::nullopt;
    const auto length = static_cast<unsigned char>(message[at++]);
    if (length == 0) break;
    if (length > 63 || at + length > message.size() || question.name.size() + length > 253) return std::nullopt;
    if (!question.name.empty()) question.name.push_back('.');
    for (char c : message.substr(at, length)) question.name.push_back(printable(c));
    at += length;
  }
  if (at + 4 > message.size()) return std::nullopt;
  question.type = u16(message, at);
  question.encoded = message.substr(kHeader, at + 4 - kHeader);
  return question;
}

std::string dns_no_such_name(const DnsQuestion& question) {
  return reply(question, 3, 0);
}

std::string dns_answer(const DnsQuestion& question, std::optional<std::array<std::uint8_t, 4>> address) {
  std::string out = reply(question, 0, address ? 1 : 0);
  if (!address) return out;
  put(out, 0xc00c);  // the name of the question
  put(out, kDnsA);
  put(out, 1);  // IN
  put(out, 0);
  put(out, 60);  // seconds to live
  put(out, 4);
  for (std::uint8_t byte : *address) out.push_back(static_cast<char>(byte));
  return out;
}

}  // namespace escrow::sandbox
