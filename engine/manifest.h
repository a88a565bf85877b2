#pragma once

#include <string>
#include <vector>

#include "engine/change_view.h"

namespace escrow::engine {

/// A direct dependency as a manifest line names it.
struct Dependency {
  std::string name;
  std::string spec;  ///< version, range, URL or path as written; empty if none
  std::uint32_t line = 0;
  bool added = false;  ///< on an added line; else on a removed or context line
  bool removed = false;
};

/// The dependencies that the lines of a hunk name, in both sides. Reads package.json, requirements files, pyproject,
/// Pipfile, setup.py, Cargo.toml, go.mod, Gemfile, composer.json, pom.xml, Gradle, mix.exs, pubspec, .csproj, Podfile.
/// Section headers out of sight are made up for by the shape of the value.
std::vector<Dependency> read_dependencies(const FileView& file, const HunkView& hunk);

}  // namespace escrow::engine
