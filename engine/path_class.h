#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/path_name.h"

/// What a path tells about a file: its language, its role, how much a finding in it matters.
namespace escrow::engine {

/// Families that share comment and string syntax and the same dangerous calls.
enum class Language : std::uint32_t {
  other = 1u << 0,
  c = 1u << 1,  ///< C, C++, Objective-C, CUDA
  java = 1u << 2,
  kotlin = 1u << 3,  ///< Kotlin, Scala, Groovy, Dart
  csharp = 1u << 4,
  javascript = 1u << 5,  ///< with TypeScript, JSX, Vue, Svelte
  go = 1u << 6,
  rust = 1u << 7,
  python = 1u << 8,
  ruby = 1u << 9,
  php = 1u << 10,
  perl = 1u << 11,
  shell = 1u << 12,
  powershell = 1u << 13,
  lua = 1u << 14,
  sql = 1u << 15,
  html = 1u << 16,  ///< and templates
  css = 1u << 17,
  json = 1u << 18,
  yaml = 1u << 19,
  ini = 1u << 20,  ///< TOML, INI, properties, dotenv
  xml = 1u << 21,
  hcl = 1u << 22,
  dockerfile = 1u << 23,
  makefile = 1u << 24,
  swift = 1u << 25,
  elixir = 1u << 26,
  r = 1u << 27,
  prose = 1u << 28,  ///< Markdown, reStructuredText, plain text
};
using LanguageMask = std::uint32_t;
constexpr LanguageMask bit(Language language) {
  return static_cast<LanguageMask>(language);
}
constexpr LanguageMask operator|(Language a, Language b) {
  return bit(a) | bit(b);
}
constexpr LanguageMask operator|(LanguageMask a, Language b) {
  return a | bit(b);
}
constexpr LanguageMask kAnyLanguage = ~LanguageMask{0};
constexpr LanguageMask kJavascript = bit(Language::javascript);

/// Roles a file can have; one file may have several.
enum FileRole : std::uint32_t {
  kSource = 1u << 0,    ///< program text, scripts included
  kScript = 1u << 1,    ///< holds shell commands: shell, Makefile, Dockerfile, CI steps, package scripts
  kConfig = 1u << 2,    ///< structured settings
  kWorkflow = 1u << 3,  ///< CI definition
  kInfra = 1u << 4,     ///< Terraform, CloudFormation, Kubernetes and other YAML/JSON that may be either
  kContainer = 1u << 5,
  kManifest = 1u << 6,  ///< names direct dependencies
  kLockfile = 1u << 7,
  kDocs = 1u << 8,
  kTest = 1u << 9,        ///< test code or fixtures
  kGenerated = 1u << 10,  ///< vendored, minified or generated
  kAgent = 1u << 11,      ///< instructions, permissions, hooks or servers of a coding agent
};
using FileRoles = std::uint32_t;

struct PathFacts {
  Language language = Language::other;
  FileRoles roles = 0;
  std::string lower;  ///< the path in lower case, with trailing dots and blanks of components dropped
  bool has(FileRoles any) const { return (roles & any) != 0; }
};

PathFacts classify_path(std::string_view path);

/// True if `component` is one whole component of the '/'-separated path.
bool has_component(std::string_view path, std::string_view component);

}  // namespace escrow::engine
