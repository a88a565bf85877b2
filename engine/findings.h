#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/change_view.h"
#include "engine/signal.h"

namespace escrow::engine {

/// One thing a rule has seen, before the path and the rule table have their say.
struct Finding {
  std::string_view rule;
  std::uint32_t line = 0;      ///< new-file line; 0 is the whole file
  std::uint32_t end_line = 0;  ///< 0: the same line
  int weight = 0;              ///< 0: the rule's own
  int raise = 0;               ///< added to the weight
  std::string message = {};    ///< empty: the rule's own
  bool in_string = false;      ///< seen inside a string literal
};

/// Collects findings as signals.
///
/// Applies what the place means for a rule: nothing in prose for rules about code, less in tests and in vendored or
/// generated files. Keeps one signal a rule and line, the heaviest.
class Findings {
 public:
  void add(const FileView& file, Finding finding);
  /// A signal as it is: a rule of a policy file, whose author has named the places.
  void add(Signal signal) { signals_.push_back(std::move(signal)); }

  /// Takes over what another has collected, after its own.
  void append(Findings&& other);

  /// In order of file, line, rule. The object is spent.
  std::vector<Signal> take();

 private:
  std::vector<Signal> signals_;
};

}  // namespace escrow::engine
