#include "server/lsp/exec_output.h"

#include <openssl/evp.h>

namespace escrow::server::lsp {
namespace {

/// Length of the sequence a lead byte begins (RFC 3629, section 3); 0 for a byte that begins none.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

/// Rejects overlong forms, surrogates, and what lies above U+10FFFF by the range of the second byte.
bool second_byte_fits(unsigned char lead, unsigned char second) {
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second <= 0x9F;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second <= 0x8F;
  return true;
}

bool is_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const std::size_t length = sequence_length(lead);
    if (length == 0 || i + length > bytes.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if (!is_continuation(static_cast<unsigned char>(bytes[i + k]))) return false;
    }
    if (length > 1 && !second_byte_fits(lead, static_cast<unsigned char>(bytes[i + 1]))) return false;
    i += length;
  }
  return true;
}

std::string to_base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

}  // namespace

std::pair<std::string, protocol::Encoding> to_text(std::string_view bytes) {
  if (is_utf8(bytes)) return {std::string(bytes), protocol::Encoding::utf8};
  return {to_base64(bytes), protocol::Encoding::base64};
}

std::pair<std::string, bool> from_text(const std::string& data, protocol::Encoding encoding) {
  if (encoding == protocol::Encoding::utf8) return {data, true};
  if (data.size() % 4 != 0) return {{}, false};
  std::string bytes(data.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(data.data()), static_cast<int>(data.size()));
  if (size < 0) return {{}, false};
  std::size_t length = static_cast<std::size_t>(size);
  for (std::size_t i = data.size(); i > 0 && data[i - 1] == '=' && length > 0; --i) --length;
  bytes.resize(length);
  return {bytes, true};
}

std::size_t unfinished_tail(std::string_view bytes) {
  for (std::size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if (is_continuation(byte)) continue;
    return sequence_length(byte) > back ? back : 0;
  }
  return 0;
}

protocol::ExecuteOutputParams OutputStream::take(std::string_view bytes, bool end) {
  std::string whole = held_ + std::string(bytes);
  const std::size_t held = end ? 0 : unfinished_tail(whole);
  held_ = whole.substr(whole.size() - held);
  whole.resize(whole.size() - held);
  protocol::ExecuteOutputParams params;
  params.stream = stream_ == sandbox::Stream::err ? protocol::OutputStream::err : protocol::OutputStream::out;
  params.offset = offset_;
  offset_ += static_cast<std::int64_t>(whole.size());
  std::tie(params.data, params.encoding) = to_text(whole);
  return params;
}

}  // namespace escrow::server::lsp
