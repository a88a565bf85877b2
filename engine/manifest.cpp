#include "engine/manifest.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/lazy_regex.h"

namespace escrow::engine {
namespace {

struct Entry {
  std::string name, spec;
};

/// Two groups of the leftmost match, or nothing.
std::optional<Entry> read_pair(const LazyRegex& regex, std::string_view text) {
  std::array<std::string_view, 3> groups;
  if (!regex.capture_all(text, groups)) return std::nullopt;
  return Entry{std::string(groups[1]), std::string(groups[2])};
}

/// Which part of the manifest a line is in, as far as the hunk shows.
enum class Section { unknown, dependencies, other };

/// Reads one line; may move the section.
using LineReader = std::optional<Entry> (*)(std::string_view line, Section& section);

bool looks_like_version(std::string_view spec) {
  static const LazyRegex regex(
      R"re(^(?:[\^~<>=v]*\s*\d+(?:\.|\b)|\*$|latest$|next$|x$|workspace:|npm:|git|https?:|file:|link:|github:|[\w-]+/[\w.-]+(?:#|$)|catalog:))re");
  return regex.matches(spec);
}

std::optional<Entry> read_package_json(std::string_view line, Section& section) {
  static const LazyRegex header(R"re("([\w-]+)"\s*:\s*\{)re");
  static const LazyRegex pair(R"re(^\s*"((?:@?[\w.~-]+/)?[\w.~-]+)"\s*:\s*"([^"]*)")re");
  const std::string_view key = header.capture(line);
  if (!key.empty()) {
    section = key.ends_with("ependencies") || key == "overrides" || key == "resolutions" || key == "require" ||
                      key == "require-dev"
                  ? Section::dependencies
                  : Section::other;
    return std::nullopt;
  }
  if (line.find('}') != std::string_view::npos && line.find('"') == std::string_view::npos) {
    section = Section::unknown;
    return std::nullopt;
  }
  if (section == Section::other) return std::nullopt;
  auto entry = read_pair(pair, line);
  if (!entry) return std::nullopt;
  if (section == Section::dependencies) return entry;
  constexpr std::array kOwnKeys{"version",        "node",        "npm",      "yarn",       "pnpm",
                                "packageManager", "main",        "type",     "license",    "name",
                                "$schema",        "url",         "homepage", "repository", "extends",
                                "target",         "description", "module",   "types",      "php"};
  const bool own = std::find(kOwnKeys.begin(), kOwnKeys.end(), entry->name) != kOwnKeys.end();
  return !own && looks_like_version(entry->spec) ? entry : std::nullopt;
}

std::optional<Entry> read_requirements(std::string_view line, Section&) {
  static const LazyRegex regex(
      R"re(^\s*(?:-e\s+)?((?:git\+)?https?://\S+|git\+\S+|[A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*((?:@\s*\S+|[=<>!~].*)?))re");
  if (line.starts_with("#") || line.starts_with("-r") || line.starts_with("-c") || line.starts_with("--"))
    return std::nullopt;
  auto entry = read_pair(regex, line.substr(0, line.find(" #")));
  if (entry && entry->name.find("://") != std::string::npos) entry->spec = entry->name;
  return entry;
}

bool is_dependency_table(std::string_view table) {
  static const LazyRegex regex(
      R"re((?:^|\.)(?:dev-|build-|optional-|workspace\.)?dependencies(?:\.|$)|^packages$|^dev-packages$|^dependency-groups$|^tool\.poetry\.group\.\w+\.dependencies|^tool\.uv\.sources$|^build-system$|^patch\.|^versions$|^libraries$)re");
  return regex.matches(table);
}

/// TOML tables: Cargo, pyproject (Poetry, PEP 621), Pipfile, Gradle's version catalogue.
std::optional<Entry> read_toml(std::string_view line, Section& section, bool cargo) {
  static const LazyRegex table(R"re(^\s*\[+\s*([^\]]+?)\s*\]+)re");
  static const LazyRegex pair(R"re(^\s*["']?([A-Za-z0-9_.-]+)["']?\s*=\s*(.+?)\s*$)re");
  static const LazyRegex list_item(
      R"re(^\s*["']([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*((?:[=<>!~@;][^"']*)?)["'],?\s*(?:#.*)?$)re");
  static const LazyRegex dotted(R"re(dependencies\.["']?([\w.-]+))re");
  const std::string_view name = table.capture(line);
  if (!name.empty() && line.find('=') == std::string_view::npos) {
    section = is_dependency_table(name) ? Section::dependencies : Section::other;
    const std::string_view single = dotted.capture(name);
    if (!single.empty()) return Entry{std::string(single), ""};
    if (name == "project") section = Section::unknown;
    return std::nullopt;
  }
  if (section == Section::other) return std::nullopt;
  static const LazyRegex list_open(R"re(^\s*(?:dependencies|requires|dev|test|docs|lint)\s*=\s*\[)re");
  if (list_open.matches(line)) {
    static const LazyRegex inline_item(R"re(\[\s*["']([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*([^"']*)["'])re");
    return read_pair(inline_item, line);
  }
  if (!cargo) {
    if (auto item = read_pair(list_item, line)) return item;
  }
  auto entry = read_pair(pair, line);
  if (!entry) return std::nullopt;
  if (section == Section::dependencies) return entry;
  // Without a table in sight: `name = "1.2"` or `name = { version = … }` reads like a dependency, in Cargo only.
  static const LazyRegex value(
      R"re(^["'][\^~=<>]*\d+(?:\.\d+)*["']|^\{.*\b(?:version|git|path|workspace|features)\s*=)re");
  constexpr std::array kOwnKeys{"version", "edition", "rust-version", "resolver", "name"};
  const bool own = std::find(kOwnKeys.begin(), kOwnKeys.end(), entry->name) != kOwnKeys.end();
  return cargo && !own && value.matches(entry->spec) ? entry : std::nullopt;
}

std::optional<Entry> read_cargo(std::string_view line, Section& section) {
  return read_toml(line, section, true);
}
std::optional<Entry> read_pyproject(std::string_view line, Section& section) {
  return read_toml(line, section, false);
}

std::optional<Entry> read_go_mod(std::string_view line, Section&) {
  static const LazyRegex regex(R"re(^\s*(?:require\s+)?([\w.-]+\.[\w-]+/\S+)\s+(v\S+))re");
  if (line.find("// indirect") != std::string_view::npos || line.find("=>") != std::string_view::npos)
    return std::nullopt;
  return read_pair(regex, line);
}

std::optional<Entry> read_gemfile(std::string_view line, Section&) {
  static const LazyRegex regex(
      R"re(^\s*(?:gem|spec\.add_(?:runtime_|development_)?dependency|s\.add_(?:runtime_|development_)?dependency|pod)\s*\(?\s*["']([\w./-]+)["']\s*,?\s*(.*))re");
  return read_pair(regex, line);
}

std::optional<Entry> read_gradle(std::string_view line, Section&) {
  static const LazyRegex regex(
      R"re(^\s*(?:implementation|api|compileOnly|runtimeOnly|testImplementation|testRuntimeOnly|annotationProcessor|kapt|ksp|classpath|androidTestImplementation|debugImplementation|compile|provided)\s*\(?\s*(?:platform\()?["']([\w.-]+:[\w.-]+):?([^"']*)["'])re");
  return read_pair(regex, line);
}

std::optional<Entry> read_xml(std::string_view line, Section&) {
  static const LazyRegex package(
      R"re(<(?:PackageReference|PackageVersion)\s+Include="([\w.-]+)"(?:\s+Version="([^"]*)")?)re");
  if (auto entry = read_pair(package, line)) return entry;
  static const LazyRegex artifact(R"re(<artifactId>\s*([\w.-]+)\s*</artifactId>())re");
  return read_pair(artifact, line);
}

std::optional<Entry> read_mix(std::string_view line, Section&) {
  static const LazyRegex regex(R"re(^\s*\{\s*:(\w+)\s*,\s*(.*?)\}?,?\s*$)re");
  return read_pair(regex, line);
}

std::optional<Entry> read_pubspec(std::string_view line, Section& section) {
  static const LazyRegex header(R"re(^(\w+):\s*$)re");
  static const LazyRegex pair(R"re(^\s{2}([a-z][\w]*):\s*([\^\d<>=].*|any)?\s*$)re");
  const std::string_view key = header.capture(line);
  if (!key.empty()) {
    section = key.ends_with("dependencies") ? Section::dependencies : Section::other;
    return std::nullopt;
  }
  return section == Section::other ? std::nullopt : read_pair(pair, line);
}

std::optional<Entry> read_setup_py(std::string_view line, Section& section) {
  static const LazyRegex item(R"re(^\s*["']([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*((?:[=<>!~@][^"']*)?)["'],?\s*$)re");
  static const LazyRegex inline_item(R"re(install_requires\s*=\s*\[\s*["']([A-Za-z0-9][\w.-]*)\s*([^"']*)["'])re");
  if (line.find("_require") != std::string_view::npos) section = Section::dependencies;
  if (auto entry = read_pair(inline_item, line)) return entry;
  if (section != Section::dependencies) return std::nullopt;
  if (line.find(']') != std::string_view::npos) section = Section::unknown;
  return read_pair(item, line);
}

LineReader reader_for(std::string_view name) {
  if (name == "package.json" || name == "composer.json") return read_package_json;
  if (name.ends_with(".txt") || name.ends_with(".in")) return read_requirements;
  if (name == "cargo.toml") return read_cargo;
  if (name == "pyproject.toml" || name == "pipfile" || name == "libs.versions.toml") return read_pyproject;
  if (name == "go.mod") return read_go_mod;
  if (name == "gemfile" || name.ends_with(".gemspec") || name == "podfile") return read_gemfile;
  if (name.starts_with("build.gradle")) return read_gradle;
  if (name == "pom.xml" || name.ends_with(".csproj") || name == "directory.packages.props") return read_xml;
  if (name == "mix.exs") return read_mix;
  if (name == "pubspec.yaml") return read_pubspec;
  if (name == "setup.py" || name == "setup.cfg") return read_setup_py;
  return nullptr;
}

}  // namespace

std::vector<Dependency> read_dependencies(const FileView& file, const HunkView& hunk) {
  std::vector<Dependency> out;
  const LineReader read = reader_for(base_name(file.facts.lower));
  if (read == nullptr) return out;
  Section section = Section::unknown;
  const std::string& above = hunk.hunk().section;
  if (!above.empty()) read(above, section);
  for (const DiffLine& line : hunk.lines()) {
    std::string_view text = line.text;
    if (text.ends_with('\r')) text.remove_suffix(1);
    auto entry = read(text, section);
    if (!entry || entry->name.empty()) continue;
    out.push_back({std::move(entry->name), std::move(entry->spec), line.new_line, line.kind == LineKind::added,
                   line.kind == LineKind::removed});
  }
  return out;
}

}  // namespace escrow::engine
