#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

/// ASCII text, locale-free: bytes above 0x7F pass through every function here unchanged.
namespace escrow::engine {

char lower(char c);
std::string lower(std::string_view text);
bool is_ascii(std::string_view text);
bool contains(std::string_view text, std::string_view part);
bool ends_in_any(std::string_view text, std::initializer_list<std::string_view> ends);

}  // namespace escrow::engine
