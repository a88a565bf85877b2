#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

/// What each rule speaks about, shown by one change (or command) that it fires on and a close one that it leaves alone.
///
/// The rule pages print them and the tests run them, so that no page says what the engine does not do.
namespace escrow::engine {

/// A change to one file, as short as it can be.
struct ExampleChange {
  std::string_view path;
  std::string_view lines;        ///< of one hunk, each marked ` `, `+` or `-`; empty if the header says it all
  std::string_view header = "";  ///< git's extended header lines (`new file mode 120000`), or its stub for binaries
  int repeat = 1;                ///< how often the last line stands there; a page shows it once
  std::optional<double> confidence = std::nullopt;  ///< the agent's own, where the rule is about that
};

struct DiffRuleExample {
  std::string_view id;
  ExampleChange fires;
  ExampleChange silent;
};

struct CategoryExample {
  std::string_view id;
  std::string_view fires;  ///< a shell line in the workspace
  std::string_view silent;
};

/// One for every diff rule; one for every command category.
std::span<const DiffRuleExample> diff_rule_examples();
std::span<const CategoryExample> category_examples();

/// Nullptr for an unknown id.
const DiffRuleExample* find_diff_rule_example(std::string_view id);
const CategoryExample* find_category_example(std::string_view id);

/// What a page shows cut off or by name, so that no scanner stumbles over it and every reader sees it.
inline constexpr std::string_view kShownToken = "ghp_…";
inline constexpr std::string_view kShownHidden = "‹U+202E›";

/// The change in git's format: as a page shows it, or with the invented token, the hidden character and the repeated
/// lines in their place, as it would be scored.
enum class ExampleForm { shown, real };
std::string to_diff(const ExampleChange& change, ExampleForm form);

}  // namespace escrow::engine
