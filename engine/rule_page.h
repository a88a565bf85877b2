#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The documentation of rules and categories as Markdown, written from the tables that judge: docs/rules holds nothing
/// else, and `escrow rules` prints the same.
namespace escrow::engine {

/// Ids that have a page: the diff rules, what cannot be read, then the command categories by name.
std::vector<std::string_view> rule_page_ids();

/// What it means, a case that is found, one that is not, how to accept it. Empty for an unknown id.
std::string rule_page(std::string_view id);

/// All of them in two tables, and how a score adds up.
std::string rule_index();

/// Where a weakness class (`CWE-295`) is described; empty if it is none.
std::string cwe_page(std::string_view cwe);

}  // namespace escrow::engine
