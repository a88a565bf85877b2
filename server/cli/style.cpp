#include "server/cli/style.h"

#include <algorithm>

namespace escrow::server::cli {
namespace {

const char* code_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::bold:
      return "1";
    case Tone::dim:
      return "2";
    case Tone::green:
      return "32";
    case Tone::yellow:
      return "33";
    case Tone::red:
      return "31";
    case Tone::alarm:
      return "1;31";
  }
  return "";
}

}  // namespace

Tone tone_of(engine::Level level) {
  switch (level) {
    case engine::Level::none:
      return Tone::dim;
    case engine::Level::low:
      return Tone::green;
    case engine::Level::medium:
      return Tone::yellow;
    case engine::Level::high:
      return Tone::red;
    case engine::Level::critical:
      return Tone::alarm;
  }
  return Tone::plain;
}

Tone tone_of(engine::Lane lane) {
  switch (lane) {
    case engine::Lane::low:
      return Tone::green;
    case engine::Lane::medium:
      return Tone::yellow;
    case engine::Lane::high:
      return Tone::red;
  }
  return Tone::plain;
}

Tone tone_of(engine::Verdict verdict) {
  switch (verdict) {
    case engine::Verdict::allow:
      return Tone::green;
    case engine::Verdict::prompt:
      return Tone::yellow;
    case engine::Verdict::deny:
      return Tone::alarm;
  }
  return Tone::plain;
}

std::string Style::paint(Tone tone, std::string_view text) const {
  if (color_ == Color::off || tone == Tone::plain || text.empty()) return std::string(text);
  return "\033[" + std::string(code_of(tone)) + "m" + std::string(text) + "\033[0m";
}

std::size_t columns(std::string_view text) {
  const auto starts_code_point = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string padded(std::string_view text, std::size_t width) {
  const auto used = columns(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace escrow::server::cli
