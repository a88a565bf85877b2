#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/error.h"

/// LSP's base protocol: ASCII header lines, an empty line, then `Content-Length` bytes of UTF-8 JSON
/// (LSP 3.17, "Base Protocol").
namespace escrow::protocol {

/// Header and body as they go on the wire: exactly `Content-Length: N\r\n\r\n` and the body. Some clients match
/// that spelling to the letter, so there is no other header and no other case.
std::string frame(std::string_view body);

/// Cuts a byte stream into bodies, whatever the sizes of the chunks it comes in.
///
/// Lenient in what it takes: header names in any case, bare LF, no blank after the colon, unknown headers, a
/// byte order mark before a header or a body. A body that is too large or in another charset is skipped and
/// reported, and the stream goes on. After a header that gives no usable length the body's end is unknown: that
/// is reported once, and reading resumes at the next line that ends in `Content-Length: N`.
///
/// A value: no descriptor, no thread. Each byte is looked at a bounded number of times.
class FrameReader {
 public:
  struct Limits {
    std::size_t header_bytes = std::size_t{8} << 10;
    std::size_t body_bytes = std::size_t{64} << 20;
  };

  FrameReader() = default;
  explicit FrameReader(Limits limits) : limits_(limits) {}

  /// Takes the next bytes of the stream. Call next() until it is empty before feeding more.
  void feed(std::string_view bytes);

  /// A body, or why there is none (bad_frame, too_large); empty when it needs more bytes. Bodies are not decoded: the
  /// UTF-8 is checked when the whole body is parsed.
  std::optional<Result<std::string>> next();

  /// The stream has ended: an error if that was in the middle of a frame.
  std::optional<Error> finish() const;

 private:
  enum class State { header, body, skip, lost };
  using Event = std::optional<Result<std::string>>;

  Event read_header();
  Event take_header_line(std::string_view line);
  Event end_header();
  bool read_body();
  bool skip_body();
  bool find_header();
  /// The next line without its \n, consumed; empty when its end has not come yet.
  std::optional<std::string_view> take_line();
  Error lose(std::string reason);
  void start_frame();

  Limits limits_{};
  State state_ = State::header;
  std::string buffer_;     // fed and not consumed; consumed bytes go at the next feed
  std::size_t start_ = 0;  // first unconsumed byte of buffer_
  std::size_t seen_ = 0;   // bytes after start_ already searched for a line end
  std::size_t header_used_ = 0;
  std::optional<std::uint64_t> length_;
  std::string problem_;  // why the body will be skipped
  std::string body_;
  std::uint64_t remaining_ = 0;
};

}  // namespace escrow::protocol
