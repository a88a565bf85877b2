#include "protocol/framing.h"

#include <algorithm>
#include <charconv>

#include "protocol/ascii.h"

namespace escrow::protocol {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kLengthName = "content-length";

std::optional<std::uint64_t> parse_length(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The charset of a Content-Type, unquoted and in lower case; empty when it names none.
std::string charset_of(std::string_view content_type) {
  const std::string lower = to_lower_ascii(content_type);
  const std::size_t at = lower.find("charset");
  if (at == std::string::npos) return {};
  std::string_view rest = trim_blanks(std::string_view(lower).substr(at + std::string_view("charset").size()));
  if (rest.empty() || rest.front() != '=') return {};
  rest = trim_blanks(rest.substr(1, rest.find(';') - 1));
  if (rest.size() >= 2 && rest.front() == '"' && rest.back() == '"') rest = rest.substr(1, rest.size() - 2);
  return std::string(rest);
}

bool is_utf8(std::string_view charset) {
  return charset.empty() || charset == "utf-8" || charset == "utf8";
}

std::string_view without_cr(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// The length that a line ends with, as in `…}Content-Length: 52`: how a peer's frame shows after lost bytes.
std::optional<std::uint64_t> trailing_length(std::string_view line) {
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string name = to_lower_ascii(trim_blanks(line.substr(0, colon)));
  if (!name.ends_with(kLengthName)) return std::nullopt;
  return parse_length(trim_blanks(line.substr(colon + 1)));
}

}  // namespace

std::string frame(std::string_view body) {
  std::string out = "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  out.append(body);
  return out;
}

void FrameReader::feed(std::string_view bytes) {
  buffer_.erase(0, start_);
  start_ = 0;
  buffer_.append(bytes);
}

std::optional<Result<std::string>> FrameReader::next() {
  for (;;) {
    switch (state_) {
      case State::header: {
        const State before = state_;
        if (Event event = read_header()) return event;
        if (state_ == before) return std::nullopt;
        break;
      }
      case State::body:
        if (!read_body()) return std::nullopt;
        start_frame();
        if (body_.starts_with(kByteOrderMark)) body_.erase(0, kByteOrderMark.size());
        return Result<std::string>(std::move(body_));
      case State::skip:
        if (!skip_body()) return std::nullopt;
        start_frame();
        break;
      case State::lost:
        if (!find_header()) return std::nullopt;
        break;
    }
  }
}

std::optional<Error> FrameReader::finish() const {
  const bool clean = state_ == State::header && header_used_ == 0 && start_ == buffer_.size();
  if (clean || state_ == State::lost) return std::nullopt;
  return Error{ErrorKind::bad_frame, "the stream ended in the middle of a frame"};
}

/// Takes header lines until the empty one. Changes state_ when the header is over.
FrameReader::Event FrameReader::read_header() {
  while (state_ == State::header) {
    const std::size_t line_start = start_;
    const std::optional<std::string_view> line = take_line();
    const std::size_t size = line ? header_used_ : header_used_ + (buffer_.size() - start_);
    if (size > limits_.header_bytes) {
      start_ = line_start;  // the line may hold the next header
      seen_ = 0;
      return lose("header is longer than " + std::to_string(limits_.header_bytes) + " bytes");
    }
    if (!line) return std::nullopt;
    if (Event event = take_header_line(without_cr(*line))) return event;
  }
  return std::nullopt;
}

FrameReader::Event FrameReader::take_header_line(std::string_view line) {
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) return end_header();
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;  // noise, such as a stray line of a wrapper script
  const std::string name = to_lower_ascii(trim_blanks(line.substr(0, colon)));
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  if (name == kLengthName) {
    const std::optional<std::uint64_t> length = parse_length(value);
    if (!length) return lose("Content-Length is not a number: send the body's size in bytes");
    if (length_ && *length_ != *length) return lose("two Content-Length headers that differ");
    length_ = length;
  } else if (name == "content-type" && !is_utf8(charset_of(value))) {
    problem_ = "charset is not utf-8: send the body in UTF-8";
  }
  return std::nullopt;
}

FrameReader::Event FrameReader::end_header() {
  // Blank lines between frames are noise too: nothing was promised, so nothing is missing.
  if (!length_ && header_used_ <= 2) {
    start_frame();
    return std::nullopt;
  }
  if (!length_) return lose("header without Content-Length");
  remaining_ = *length_;
  if (*length_ > limits_.body_bytes) {
    state_ = State::skip;
    return Error{ErrorKind::too_large, "message of " + std::to_string(*length_) + " bytes is over the limit of " +
                                           std::to_string(limits_.body_bytes)};
  }
  if (!problem_.empty()) {
    state_ = State::skip;
    return Error{ErrorKind::bad_frame, problem_};
  }
  body_.clear();
  body_.reserve(static_cast<std::size_t>(*length_));  // bounded above; untouched pages cost nothing
  state_ = State::body;
  return std::nullopt;
}

bool FrameReader::read_body() {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, buffer_.size() - start_));
  body_.append(buffer_, start_, size);
  start_ += size;
  remaining_ -= size;
  return remaining_ == 0;
}

bool FrameReader::skip_body() {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, buffer_.size() - start_));
  start_ += size;
  remaining_ -= size;
  return remaining_ == 0;
}

/// Lost: looks for a line that can only be a header, and reads on from there.
bool FrameReader::find_header() {
  while (const std::optional<std::string_view> line = take_line()) {
    // No more of a line than is kept of an endless one, so that it is the same whatever the chunks.
    const std::string_view end = line->substr(line->size() - std::min(line->size(), limits_.header_bytes));
    if (const std::optional<std::uint64_t> length = trailing_length(without_cr(end))) {
      start_frame();
      header_used_ = kLengthName.size();  // not the lost bytes before it
      length_ = length;
      return true;
    }
  }
  // Only the end of an endless line can still matter.
  if (buffer_.size() - start_ > limits_.header_bytes) {
    start_ = buffer_.size() - limits_.header_bytes;
    seen_ = limits_.header_bytes;
  }
  return false;
}

std::optional<std::string_view> FrameReader::take_line() {
  const std::size_t end = buffer_.find('\n', start_ + seen_);
  if (end == std::string::npos) {
    seen_ = buffer_.size() - start_;
    return std::nullopt;
  }
  const std::string_view line(buffer_.data() + start_, end - start_);
  header_used_ += line.size() + 1;
  start_ = end + 1;
  seen_ = 0;
  return line;
}

Error FrameReader::lose(std::string reason) {
  start_frame();
  state_ = State::lost;
  return Error{ErrorKind::bad_frame, std::move(reason)};
}

void FrameReader::start_frame() {
  state_ = State::header;
  header_used_ = 0;
  length_.reset();
  problem_.clear();
}

}  // namespace escrow::protocol
