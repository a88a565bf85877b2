#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Where in a JSON text its parts stand, so that a complaint about a file can name its line. Pure.
namespace escrow::server {

/// `line:column`, both 1-based; columns count bytes.
std::string place_of_offset(std::string_view text, std::size_t offset);

/// Where the text stops being JSON; its size if it is cut short, or is JSON.
std::size_t end_of_json(std::string_view text);

/// An object or another value of an array, and where its members' values begin.
struct JsonElement {
  std::size_t offset = 0;
  std::map<std::string, std::size_t, std::less<>> members;
  std::string repeated;  ///< a member that is there twice: parsers differ on which one counts; empty if none
};

struct JsonMembers {
  JsonElement root;
  std::vector<JsonElement> elements;  ///< of the array that is the root's member `array`
};

/// `text` must be JSON (a parser has said so); anything else gives what was found until then.
JsonMembers find_members(std::string_view text, std::string_view array);

}  // namespace escrow::server
