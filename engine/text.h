#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

/// ASCII text, locale-free: bytes above 0x7F pass through every function here unchanged.
namespace escrow::engine {

char lower(char c);
std::string lower(std::string_view text);
bool is_ascii(std::string_view text);
bool contains(std::string_view text, std::string_view part);
bool ends_in_any(std::string_view text, std::initializer_list<std::string_view> ends);
/// The parts between single blanks.
std::vector<std::string> split_words(std::string_view text);

}  // namespace escrow::engine
