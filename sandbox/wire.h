#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Bytes of the private channel between server, launcher and runner: little-endian integers, and strings and
/// lists behind a 32-bit count. Both ends are of one build, so there is no versioning here.
namespace escrow::sandbox {

class WireWriter {
 public:
  void put(std::uint32_t value);
  void put(std::uint64_t value);
  void put(std::string_view bytes);
  void put(const std::vector<std::string>& list);
  void put(const std::map<std::string, std::string>& map);
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what WireWriter wrote. After the first thing that does not fit, every read gives an empty value and `ok`
/// is false: the caller checks once, at the end.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}
  std::uint32_t u32();
  std::uint64_t u64();
  std::string string();
  std::vector<std::string> list();
  std::map<std::string, std::string> map();
  /// Everything was read and fitted, and nothing is left over.
  bool complete() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view take(std::size_t count);

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace escrow::sandbox
