#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/lazy_regex.h"
#include "engine/manifest.h"
#include "engine/package_names.h"
#include "engine/rules.h"

namespace escrow::engine {
namespace {

/// A source that is no registry: git, a tarball, a path, another registry's alias.
const LazyRegex& foreign_source() {
  static const LazyRegex regex(
      R"re((?i)\bgit\+|\bgit://|\bgit@|^["']?git:|\bgithub:|\bgitlab:|\bbitbucket:|\bgit\s*[=:]\s*["']|\bgithub\s*[=:]\s*["']|https?://|\bfile:|\blink:|^["']?npm:|\bpath\s*[=:]\s*["']\.\./|\burl\s*[=:]\s*["']|\bsource\s*[=:]\s*["']http|\bregistry\s*=\s*["']|\bbranch\s*[=:]|^[\w-]+/[\w.-]+(?:#\S+)?$)re");
  return regex;
}

bool is_pinned(std::string_view spec) {
  static const LazyRegex regex(R"re(^["']?\s*(?:==\s*|=\s*|v)?\d+\.\d+[\w.+-]*["']?\s*(?:,.*)?(?:#.*)?(?:\\)?\s*$)re");
  return regex.matches(spec);
}

/// Takes any version at all, or whatever is newest.
bool is_unbounded(std::string_view spec) {
  static const LazyRegex regex(
      R"re(^["']?\s*(?:\*|x|latest|next|any|>=?\s*\d[\w.]*|>\s*0|LATEST|RELEASE|\+)["']?\s*,?\s*$|\bversion\s*=\s*["']\*["'])re");
  return spec.empty() || regex.matches(spec);
}

/// The folder of a `path`, `file:` or `link:` source; empty if the source is something else.
std::string_view local_folder(std::string_view spec) {
  static const LazyRegex regex(R"re((?:\bpath\s*[=:]\s*["']|^["']?(?:file|link):)([^"',}\s]+))re");
  static const LazyRegex elsewhere(R"re(\bgit\b|\burl\b|://|\bregistry\b)re");
  return elsewhere.matches(spec) ? std::string_view() : regex.capture(spec);
}

/// A package of this very repository: the folder does not lead out of it.
bool is_in_repository(const PathFacts& manifest, std::string_view spec) {
  const std::string_view folder = local_folder(spec);
  if (folder.empty() || folder[0] == '/' || folder[0] == '~' || folder.find(':') != std::string_view::npos)
    return false;
  auto depth = std::count(manifest.lower.begin(), manifest.lower.end(), '/');
  for (std::size_t from = 0; from < folder.size();) {
    const std::size_t slash = std::min(folder.find('/', from), folder.size());
    const std::string_view part = folder.substr(from, slash - from);
    if (part == "..")
      --depth;
    else if (!part.empty() && part != ".")
      ++depth;
    if (depth < 0) return false;
    from = slash + 1;
  }
  return true;
}

const Dependency* find_before(const std::vector<Dependency>& all, const Dependency& added) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Dependency& other) { return other.removed && other.name == added.name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_listed(const std::vector<Dependency>& all, const Dependency& added) {
  return std::any_of(all.begin(), all.end(), [&](const Dependency& other) {
    return !other.added && !other.removed && other.name == added.name;
  });
}

/// A name one slip from a well-known package, or from the one it replaces.
std::optional<std::string> imitated(const std::vector<Dependency>& all, const Dependency& added) {
  std::string_view name = added.name;
  const std::size_t slash = name.rfind('/');
  if (slash != std::string_view::npos && name[0] != '@') name = name.substr(slash + 1);
  if (const auto known = find_lookalike_package(name)) return std::string(*known);
  for (const Dependency& other : all) {
    if (other.added || other.name.size() < 5 || other.name == added.name) continue;
    if (other.removed && is_one_slip_apart(other.name, added.name)) return other.name;
  }
  return std::nullopt;
}

void judge_new(const FileView& file, const std::vector<Dependency>& all, const Dependency& added, Findings& findings) {
  if (const auto known = imitated(all, added)) {
    findings.add(file, {.rule = "dependency-suspicious",
                        .line = added.line,
                        .message = "`" + added.name + "` looks like `" + *known + "`"});
    return;
  }
  if (!is_listed(all, added))
    findings.add(
        file,
        {.rule = "dependency-added", .line = added.line, .message = "a new direct dependency: `" + added.name + "`"});
  static const LazyRegex exact_manifest(R"re(requirements|constraints|package\.json|cargo\.toml|composer\.json)re");
  const bool loose = !added.spec.empty() && is_unbounded(added.spec) && exact_manifest.matches(file.facts.lower);
  if (loose && added.spec.find_first_of("*xl") != std::string::npos)
    findings.add(file, {.rule = "unpinned-reference", .line = added.line, .message = "any version will do"});
}

void judge_changed(const FileView& file, const Dependency& before, const Dependency& added, Findings& findings) {
  const bool loosened =
      (is_pinned(before.spec) && is_unbounded(added.spec)) || (!is_unbounded(before.spec) && is_unbounded(added.spec));
  if (loosened)
    findings.add(file, {.rule = "unpinned-reference",
                        .line = added.line,
                        .message = "the version of `" + added.name + "` is no longer held"});
}

void find_manifest_changes(const FileView& file, const HunkView& hunk, Findings& findings) {
  const std::vector<Dependency> all = read_dependencies(file, hunk);
  for (const Dependency& added : all) {
    if (!added.added) continue;
    const Dependency* before = find_before(all, added);
    const bool foreign = foreign_source().matches(added.spec) && added.spec.find("workspace") == std::string::npos &&
                         !is_in_repository(file.facts, added.spec);
    if (foreign && (before == nullptr || !foreign_source().matches(before->spec) || before->spec != added.spec)) {
      findings.add(file, {.rule = "dependency-suspicious",
                          .line = added.line,
                          .message = "`" + added.name + "` does not come from the registry"});
      continue;
    }
    if (is_in_repository(file.facts, added.spec)) continue;
    if (before == nullptr) {
      judge_new(file, all, added, findings);
    } else {
      judge_changed(file, *before, added, findings);
    }
  }
}

/// Which lines of a manifest say where packages come from, where only the lines above them tell.
class SourceContext {
 public:
  explicit SourceContext(std::string_view name)
      : xml_(name == "pom.xml"), json_(name == "composer.json"), toml_(name.ends_with(".toml") || name == "pipfile") {}

  /// Reads the next line of the new side; true if it gives the address of a source.
  bool names_source(std::string_view text) {
    if (xml_) return in_xml(text);
    if (json_) return in_composer(text);
    return toml_ && in_toml(text);
  }

 private:
  bool in_xml(std::string_view text) {
    static const LazyRegex open(R"re(<(?:repository|pluginRepository|mirror)>)re");
    static const LazyRegex close(R"re(</(?:repository|pluginRepository|mirror)>|<(?:distributionManagement|scm)>)re");
    static const LazyRegex url(R"re(<url>\s*https?:)re");
    if (text.find("<distributionManagement>") != std::string_view::npos) publishes_ = true;
    if (text.find("</distributionManagement>") != std::string_view::npos) publishes_ = false;
    if (open.matches(text)) inside_ = true;
    const bool found = inside_ && !publishes_ && url.matches(text);
    if (close.matches(text)) inside_ = false;
    return found;
  }

  bool in_composer(std::string_view text) {
    static const LazyRegex open(R"re("repositories"\s*:)re");
    static const LazyRegex url(R"re("url"\s*:\s*"(?:https?:|git|ssh:|file:|/|\.\./|[\w.-]+@))re");
    static const LazyRegex typed(R"re("type"\s*:\s*"(?:vcs|git|github|gitlab|svn|hg|composer|package|artifact)")re");
    if (open.matches(text)) inside_ = true;
    if (text.starts_with("    ]") || text.starts_with("    }") || text.starts_with("  ]")) inside_ = false;
    const bool found = url.matches(text) && (inside_ || typed_ || typed.matches(text));
    typed_ = typed.matches(text) || (typed_ && text.find('}') == std::string_view::npos);
    return found;
  }

  bool in_toml(std::string_view text) {
    static const LazyRegex table(R"re(^\s*\[+\s*([^\]]+?)\s*\]+)re");
    static const LazyRegex source(
        R"re(^(?:tool\.(?:poetry|pdm)\.source|source(?:\..*)?|tool\.uv\.(?:index|pip)|registries\..*|registry)$)re");
    static const LazyRegex url(
        R"re(^\s*(?:url|index|index-url|registry|default)\s*=\s*["'](?:sparse\+)?(?:https?:|git))re");
    const std::string_view name = table.capture(text);
    if (!name.empty()) inside_ = source.matches(name);
    return inside_ && url.matches(text);
  }

  bool xml_, json_, toml_;
  bool inside_ = false, publishes_ = false, typed_ = false;
};

/// Redirections that no dependency line shows: other registries, replacements, direct URLs.
void find_redirections(const FileView& file, const HunkView& hunk, Findings& findings) {
  static const LazyRegex redirect(
      R"re(^\s*replace\s+\S+.*=>|^\s+[^\s"':]+\s+(?:v\S+\s+)?=>\s+\S+|^\s*\[patch\.|^\s*(?:--)?(?:extra-)?index-url\s*[= ]\s*\S+|^\s*--find-links\s|^\s*-[fi]\s+https?:|\bextra-index-url\s*=|^\s*source\s+["']http|^\s*\[\[(?:tool\.poetry\.)?source\]\]|^\s*(?:@[\w-]+:)?registry\s*=\s*\S+|^\s*npmRegistryServer\s*:|^\s*replace-with\s*=|\bdependency_links\b|\bmaven\s*\{\s*url|^\s*<url>https?:)re");
  static const LazyRegex official(
      R"re(registry\.npmjs\.org|registry\.yarnpkg\.com|pypi\.org|files\.pythonhosted\.org|crates\.io|rubygems\.org|repo1?\.maven\.(?:apache\.)?org|repo\.maven\.apache\.org|proxy\.golang\.org|api\.nuget\.org|packagist\.org|plugins\.gradle\.org)re");
  static const LazyRegex fallback(R"re(extra-index-url)re");
  const std::string_view name = base_name(file.facts.lower);
  const bool settings = name == ".npmrc" || name == ".yarnrc.yml" || name == ".yarnrc" || name == "pip.conf" ||
                        name == "pip.ini" || name == ".pypirc" ||
                        file.facts.lower.find(".cargo/config") != std::string::npos || name == "nuget.config" ||
                        name == "settings.gradle" || name == "bunfig.toml";
  if (!settings && !file.facts.has(kManifest)) return;
  SourceContext around(name);
  for (const DiffLine& line : hunk.lines()) {
    if (line.kind == LineKind::removed) continue;
    const bool inside = around.names_source(line.text);
    if (line.kind != LineKind::added || !(inside || (name != "pom.xml" && redirect.matches(line.text)))) continue;
    if (official.matches(line.text) && !fallback.matches(line.text)) continue;
    // `[[source]]` and `[patch…` open a table; its own lines say the rest.
    findings.add(file, {.rule = "dependency-suspicious",
                        .line = line.new_line,
                        .message = "packages are fetched from somewhere else"});
  }
}

// --- Code that runs on install
// ------------------------------------------------------------------------------------------

bool can_run_on_install(const PathFacts& facts) {
  const std::string_view name = base_name(facts.lower);
  constexpr std::array<std::string_view, 8> kNames{"package.json", "setup.py", "composer.json", "extconf.rb",
                                                   "binding.gyp",  "build.rs", ".npmrc",        ".yarnrc.yml"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.ends_with(".gemspec") ||
         facts.lower.find("debian/") != std::string::npos;
}

void find_install_scripts(const FileView& file, const HunkView& hunk, Findings& findings) {
  if (!can_run_on_install(file.facts)) return;
  static const LazyRegex npm_hook(
      R"re(^\s*"(preinstall|install|postinstall|preprepare|prepare|postprepare|prepublish|preuninstall|postuninstall|dependencies)"\s*:\s*"([^"]*)")re");
  static const LazyRegex harmless(
      R"re(^(?:husky(?:\s+install)?(?:\s*\|\|\s*true)?|patch-package|lefthook install|simple-git-hooks|is-ci \|\| husky(?: install)?|(?:npm|yarn|pnpm)(?: run)? build|tsc(?: -[\w.-]+)*|prisma generate|ngcc|nuxt prepare|svelte-kit sync|electron-builder install-app-deps|node-gyp rebuild|node-gyp-build|opencollective(?:-postinstall)?.*|npx only-allow \w+)$)re");
  static const LazyRegex python_hook(
      R"re(\bcmdclass\s*=|\bclass\s+\w+\s*\(\s*(?:install|develop|egg_info|build_py|build_ext|sdist|bdist_egg)\s*\)|\bentry_points\b.*(?:distutils\.commands|egg_info\.writers))re");
  static const LazyRegex composer_hook(
      R"re(^\s*"(?:(?:pre|post)-(?:install|update|autoload-dump|package-install)(?:-cmd)?|post-create-project-cmd|post-root-package-install)"\s*:)re");
  static const LazyRegex gem_hook(R"re(\.extensions\s*(?:=|<<)|\bGem\.(?:pre|post)_install\b)re");
  static const LazyRegex gyp_action(R"re("<!\(|"action"\s*:|'action'\s*:|"<!@\()re");
  static const LazyRegex process(
      R"re(\bCommand::new\s*\(|\bos\.system\s*\(|\bsubprocess\.|\burlopen\s*\(|\brequests\.(?:get|post)|\bsystem\s*[( ]|(?:^|[=(\s])`[^`]+`|\breqwest::|\bureq::|\bTcpStream\b)re");
  static const LazyRegex trusted_list(
      R"re("(?:trustedDependencies|onlyBuiltDependencies|allowScripts)"\s*:|\bignore-scripts\s*[=:]\s*false|\benableScripts\s*:\s*true)re");
  static const LazyRegex rust_process(R"re(\bCommand::new\s*\([^)]*\)?|\breqwest::|\bureq::|\bTcpStream\b)re");
  const std::string_view name = base_name(file.facts.lower);
  const auto starts_process = [&](std::string_view text) { return rust_process.matches(text); };
  // A call that was there before is no new one.
  const auto call_in = [&](std::string_view text) {
    std::size_t begin = 0, end = 0;
    return rust_process.find(text, 0, begin, end) ? text.substr(begin, end - begin) : std::string_view();
  };
  for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
    const DiffLine& line = hunk.lines()[i];
    if (line.kind != LineKind::added) continue;
    const std::string text = hunk.text_of(i);
    bool runs = false;
    const std::string_view call = name == "build.rs" ? call_in(text) : std::string_view();
    const bool started_before =
        !call.empty() && std::any_of(hunk.lines().begin(), hunk.lines().end(), [&](const DiffLine& other) {
          return other.kind != LineKind::added && other.text.find(call) != std::string::npos;
        });
    if (name == "package.json") {
      const std::string_view hook = npm_hook.capture(text);
      static const LazyRegex command(R"re(:\s*"([^"]*)")re");
      runs = !hook.empty() && hook != "dependencies" && !harmless.matches(command.capture(text));
      runs = runs || trusted_list.matches(text);
    } else if (name == "setup.py") {
      runs = python_hook.matches(text) || process.matches(text);
    } else if (name == "composer.json") {
      runs = composer_hook.matches(text);
    } else if (name.ends_with(".gemspec") || name == "extconf.rb") {
      runs = gem_hook.matches(text) || (name == "extconf.rb" && process.matches(text));
    } else if (name == "binding.gyp") {
      runs = gyp_action.matches(text);
    } else if (name == "build.rs") {
      runs = starts_process(text) && !started_before;
    } else if (name == ".npmrc" || name == ".yarnrc.yml") {
      runs = trusted_list.matches(text);
    } else if (file.facts.lower.find("debian/") != std::string::npos) {
      runs = name.starts_with("postinst") || name.starts_with("preinst");
    }
    if (runs) findings.add(file, {.rule = "install-script", .line = line.new_line});
  }
}

// --- Images and other references by a name that can move
// -----------------------------------------------------------------

bool is_loose_image(std::string_view image) {
  if (image.empty() || image == "scratch" || image.find('$') != std::string_view::npos ||
      image.find('@') != std::string_view::npos)
    return false;
  const std::size_t colon = image.rfind(':');
  if (colon == std::string_view::npos || image.find('/', colon) != std::string_view::npos) return true;
  const std::string_view tag = image.substr(colon + 1);
  return tag == "latest" || tag == "main" || tag == "master" || tag == "edge" || tag == "nightly" || tag == "dev" ||
         tag == "stable";
}

/// Names that `FROM … AS name` gives to stages of the same file.
std::set<std::string, std::less<>> stage_names(const FileView& file) {
  static const LazyRegex stage(R"re((?i)^\s*FROM\s+.*\s+AS\s+(\S+))re");
  std::set<std::string, std::less<>> names{"build", "builder", "base", "deps", "runtime"};
  for (const HunkView& hunk : file.hunks) {
    for (const DiffLine& line : hunk.lines()) {
      const std::string_view name = line.kind == LineKind::removed ? std::string_view() : stage.capture(line.text);
      if (!name.empty()) names.emplace(name);
    }
  }
  return names;
}

void find_loose_references(const FileView& file, const HunkView& hunk, Findings& findings) {
  static const LazyRegex from(R"re((?i)^\s*FROM\s+(?:--platform=\S+\s+)?(\S+))re");
  static const LazyRegex image(R"re(^\s*(?:-\s+)?["']?image["']?\s*:\s*["']?([^\s"'#]+))re");
  static const LazyRegex reference(
      R"re(^\s*rev:\s*["']?(?:main|master|develop|HEAD|latest)\b|\?ref=(?:main|master|develop|HEAD)\b|\bsource\s*=\s*["']git::[^"']*[^0-9a-f"'][^"'?]*["']\s*$|raw\.githubusercontent\.com/[^/\s]+/[^/\s]+/(?:main|master)/|\b(?:npx|bunx|pnpm dlx|uvx|pipx run)\s+(?:-\S+\s+)*\S+@latest\b|\bgo\s+install\s+\S+@(?:latest|master|main)\b|\bcargo\s+install\s+--git\s)re");
  const bool docker = file.facts.language == Language::dockerfile;
  const bool manifest = file.facts.has(kContainer | kWorkflow) && !docker;
  const bool settings = file.facts.has(kScript | kConfig | kInfra | kWorkflow);
  const auto image_of = [&](const DiffLine& line) {
    return docker ? from.capture(line.text) : manifest ? image.capture(line.text) : std::string_view();
  };
  const auto stages = docker ? stage_names(file) : std::set<std::string, std::less<>>();
  // What was as loose before is not loosened now.
  bool image_before = false, reference_before = false;
  for (const LineKind side : {LineKind::removed, LineKind::added}) {
    for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
      const DiffLine& line = hunk.lines()[i];
      if (line.kind != side || !hunk.is_about(i, Topic::reference)) continue;
      const std::string_view name = image_of(line);
      const bool loose_image = is_loose_image(name) && stages.count(name) == 0;
      const bool loose_reference = settings && reference.matches(line.text);
      if (side == LineKind::removed) {
        image_before = image_before || loose_image;
        reference_before = reference_before || loose_reference;
      } else if ((loose_image && !image_before) || (loose_reference && !reference_before)) {
        findings.add(file, {.rule = "unpinned-reference", .line = line.new_line});
      }
    }
  }
}

}  // namespace

void find_dependency_risks(const FileView& file, Findings& findings) {
  if (file.facts.has(kLockfile | kDocs | kGenerated)) return;
  for (const HunkView& hunk : file.hunks) {
    if (file.facts.has(kManifest)) find_manifest_changes(file, hunk, findings);
    find_redirections(file, hunk, findings);
    find_install_scripts(file, hunk, findings);
    find_loose_references(file, hunk, findings);
  }
}

// --- Lock files
// -----------------------------------------------------------------------------------------------------------

namespace {

std::string_view host_of_locked(std::string_view text) {
  static const LazyRegex regex(
      R"re((?:"?resolved"?:?\s+|"resolved"\s*:\s*|\btarball:\s*|^\s*source\s*=\s*|"dist"\s*:\s*\{[^}]*"url"\s*:\s*|\burl\s*=\s*|^\s*remote:\s*|^\s*resolution:.*\btarball:\s*|git\+)["']?(?:git\+|registry\+|sparse\+)?(?:https?|ssh|git)://(?:[^@/\s"']+@)?([^/:\s"'?#]+))re");
  return regex.capture(text);
}

bool is_registry_host(std::string_view host) {
  static const LazyRegex regex(
      R"re(^(?:registry\.npmjs\.org|registry\.yarnpkg\.com|registry\.npmmirror\.com|npm\.pkg\.github\.com|pypi\.org|files\.pythonhosted\.org|index\.crates\.io|static\.crates\.io|crates\.io|rubygems\.org|proxy\.golang\.org|packagist\.org|api\.github\.com|repo\.packagist\.org|hex\.pm|repo\.hex\.pm|pub\.dev|pub\.dartlang\.org|api\.nuget\.org|jsr\.io|npm\.jsr\.io)$)re");
  return regex.matches(host);
}

}  // namespace

void find_lockfile_risks(const FileView& file, Findings& findings) {
  if (!file.facts.has(kLockfile)) return;
  std::set<std::string, std::less<>> known;  // hosts that the file already used: a private registry, for one
  for (const LineKind side : {LineKind::removed, LineKind::context, LineKind::added}) {
    for (const HunkView& hunk : file.hunks) {
      for (const DiffLine& line : hunk.lines()) {
        if (line.kind != side) continue;
        const std::string_view host = host_of_locked(line.text);
        if (host.empty()) continue;
        if (side != LineKind::added) {
          known.emplace(host);
          continue;
        }
        const bool crates_index = line.text.find("crates.io-index") != std::string::npos;
        if (is_registry_host(host) || crates_index || known.count(host) != 0) continue;
        findings.add(file, {.rule = "dependency-suspicious",
                            .line = line.new_line,
                            .message = "a package is fetched from `" + std::string(host) + "`"});
      }
    }
  }
}

}  // namespace escrow::engine
