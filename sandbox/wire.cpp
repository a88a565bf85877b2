#include "sandbox/wire.h"

#include <cassert>
#include <limits>

namespace escrow::sandbox {
namespace {

template <class Integer>
void put_integer(std::string& out, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}

template <class Integer>
Integer get_integer(std::string_view bytes) {
  Integer value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value |= static_cast<Integer>(static_cast<Integer>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  return value;
}

std::uint32_t count_of(std::size_t size) {
  assert(size <= std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::uint32_t>(size);
}

}  // namespace

void WireWriter::put(std::uint32_t value) {
  put_integer(bytes_, value);
}
void WireWriter::put(std::uint64_t value) {
  put_integer(bytes_, value);
}

void WireWriter::put(std::string_view bytes) {
  put(count_of(bytes.size()));
  bytes_.append(bytes);
}

void WireWriter::put(const std::vector<std::string>& list) {
  put(count_of(list.size()));
  for (const std::string& item : list) put(std::string_view(item));
}

void WireWriter::put(const std::map<std::string, std::string>& map) {
  put(count_of(map.size()));
  for (const auto& [key, value] : map) {
    put(std::string_view(key));
    put(std::string_view(value));
  }
}

std::string_view WireReader::take(std::size_t count) {
  if (!ok_ || count > bytes_.size()) {
    ok_ = false;
    return {};
  }
  std::string_view taken = bytes_.substr(0, count);
  bytes_.remove_prefix(count);
  return taken;
}

std::uint32_t WireReader::u32() {
  return get_integer<std::uint32_t>(take(4));
}
std::uint64_t WireReader::u64() {
  return get_integer<std::uint64_t>(take(8));
}
std::string WireReader::string() {
  return std::string(take(u32()));
}

std::vector<std::string> WireReader::list() {
  std::vector<std::string> result;
  // No reserve: the count is the sender's word, and each item is checked against the bytes that are really there.
  for (std::uint32_t left = u32(); ok_ && left > 0; --left) result.push_back(string());
  return result;
}

std::map<std::string, std::string> WireReader::map() {
  std::map<std::string, std::string> result;
  for (std::uint32_t left = u32(); ok_ && left > 0; --left) {
    std::string key = string();
    result[std::move(key)] = string();
  }
  return result;
}

}  // namespace escrow::sandbox
