#include "engine/path_class.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "engine/path_name.h"
#include "engine/text.h"

namespace escrow::engine {
namespace {

using Extension = std::pair<std::string_view, Language>;
constexpr std::array kExtensions = {
    Extension{"c", Language::c},
    Extension{"h", Language::c},
    Extension{"cc", Language::c},
    Extension{"cpp", Language::c},
    Extension{"cxx", Language::c},
    Extension{"hpp", Language::c},
    Extension{"hh", Language::c},
    Extension{"m", Language::c},
    Extension{"mm", Language::c},
    Extension{"cu", Language::c},
    Extension{"java", Language::java},
    Extension{"kt", Language::kotlin},
    Extension{"kts", Language::kotlin},
    Extension{"scala", Language::kotlin},
    Extension{"groovy", Language::kotlin},
    Extension{"gradle", Language::kotlin},
    Extension{"dart", Language::kotlin},
    Extension{"cs", Language::csharp},
    Extension{"js", Language::javascript},
    Extension{"mjs", Language::javascript},
    Extension{"cjs", Language::javascript},
    Extension{"jsx", Language::javascript},
    Extension{"ts", Language::javascript},
    Extension{"mts", Language::javascript},
    Extension{"cts", Language::javascript},
    Extension{"tsx", Language::javascript},
    Extension{"vue", Language::javascript},
    Extension{"svelte", Language::javascript},
    Extension{"astro", Language::javascript},
    Extension{"sol", Language::javascript},
    Extension{"go", Language::go},
    Extension{"rs", Language::rust},
    Extension{"zig", Language::rust},
    Extension{"py", Language::python},
    Extension{"pyi", Language::python},
    Extension{"pyw", Language::python},
    Extension{"nim", Language::python},
    Extension{"bzl", Language::python},
    Extension{"star", Language::python},
    Extension{"rb", Language::ruby},
    Extension{"rake", Language::ruby},
    Extension{"cr", Language::ruby},
    Extension{"gemspec", Language::ruby},
    Extension{"php", Language::php},
    Extension{"phtml", Language::php},
    Extension{"pl", Language::perl},
    Extension{"pm", Language::perl},
    Extension{"sh", Language::shell},
    Extension{"bash", Language::shell},
    Extension{"zsh", Language::shell},
    Extension{"fish", Language::shell},
    Extension{"ksh", Language::shell},
    Extension{"bats", Language::shell},
    Extension{"envrc", Language::shell},
    Extension{"ps1", Language::powershell},
    Extension{"psm1", Language::powershell},
    Extension{"lua", Language::lua},
    Extension{"sql", Language::sql},
    Extension{"html", Language::html},
    Extension{"htm", Language::html},
    Extension{"erb", Language::html},
    Extension{"ejs", Language::html},
    Extension{"hbs", Language::html},
    Extension{"twig", Language::html},
    Extension{"j2", Language::html},
    Extension{"jinja", Language::html},
    Extension{"tmpl", Language::html},
    Extension{"cshtml", Language::html},
    Extension{"css", Language::css},
    Extension{"scss", Language::css},
    Extension{"less", Language::css},
    Extension{"json", Language::json},
    Extension{"json5", Language::json},
    Extension{"jsonc", Language::json},
    Extension{"yaml", Language::yaml},
    Extension{"yml", Language::yaml},
    Extension{"toml", Language::ini},
    Extension{"ini", Language::ini},
    Extension{"cfg", Language::ini},
    Extension{"conf", Language::ini},
    Extension{"properties", Language::ini},
    Extension{"env", Language::ini},
    Extension{"xml", Language::xml},
    Extension{"csproj", Language::xml},
    Extension{"plist", Language::xml},
    Extension{"svg", Language::xml},
    Extension{"config", Language::xml},
    Extension{"tf", Language::hcl},
    Extension{"tfvars", Language::hcl},
    Extension{"hcl", Language::hcl},
    Extension{"rego", Language::hcl},
    Extension{"mk", Language::makefile},
    Extension{"cmake", Language::makefile},
    Extension{"swift", Language::swift},
    Extension{"ex", Language::elixir},
    Extension{"exs", Language::elixir},
    Extension{"erl", Language::elixir},
    Extension{"hrl", Language::elixir},
    Extension{"r", Language::r},
    Extension{"jl", Language::r},
    Extension{"md", Language::prose},
    Extension{"mdx", Language::prose},
    Extension{"markdown", Language::prose},
    Extension{"mdc", Language::prose},
    Extension{"rst", Language::prose},
    Extension{"adoc", Language::prose},
    Extension{"txt", Language::prose},
    Extension{"tex", Language::prose},
};

constexpr LanguageMask kProgramming =
    Language::c | Language::java | Language::kotlin | Language::csharp | Language::javascript | Language::go |
    Language::rust | Language::python | Language::ruby | Language::php | Language::perl | Language::shell |
    Language::powershell | Language::lua | Language::sql | Language::html | Language::swift | Language::elixir |
    Language::r | Language::dockerfile | Language::makefile;
constexpr LanguageMask kStructured = Language::json | Language::yaml | Language::ini | Language::xml | Language::hcl;

bool is_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool has_any_component(std::string_view path, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return has_component(path, name); });
}

/// `requirements.txt`, `requirements-dev.txt`, `requirements/base.txt`.
bool lists_requirements(std::string_view path) {
  const std::string_view name = base_name(path);
  if (!ends_in_any(name, {".txt", ".in"})) return false;
  return name.starts_with("requirements") || name.starts_with("constraints") ||
         ends_in_any(name, {"requirements.txt", "requirements.in"}) || has_component(path, "requirements");
}

Language language_of_name(std::string_view name) {
  if (name.starts_with("dockerfile") || name.ends_with(".dockerfile") || name.starts_with("containerfile")) {
    return Language::dockerfile;
  }
  if (is_any(name, {"makefile", "gnumakefile", "justfile", "cmakelists.txt"})) return Language::makefile;
  if (is_any(name, {"build.bazel", "workspace.bazel", "meson.build", "sconstruct", "snakefile", "tiltfile"}))
    return Language::python;
  if (is_any(name, {"brewfile", "gemfile", "rakefile", "podfile", "vagrantfile", "fastfile"})) return Language::ruby;
  if (is_any(name, {"jenkinsfile"})) return Language::kotlin;
  if (is_any(name, {".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
                    ".kshrc", ".envrc", ".xprofile", ".xinitrc"})) {
    return Language::shell;
  }
  if (name == ".env" || name.starts_with(".env.")) return Language::ini;
  if (is_any(name, {".npmrc", ".pypirc", ".netrc", ".gitconfig", ".gitmodules", "pipfile", "pip.conf"})) {
    return Language::ini;
  }
  if (is_any(name, {"go.mod", "go.sum"})) return Language::other;
  if (is_any(name, {"license", "readme", "changelog", "notice", "authors", "copying", "contributing"})) {
    return Language::prose;
  }
  return Language::other;
}

Language language_of(std::string_view lower) {
  const std::string_view name = base_name(lower);
  if (lists_requirements(lower)) return Language::ini;
  const Language by_name = language_of_name(name);
  if (by_name != Language::other) return by_name;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) {
    // Git hooks and bin/ scripts carry no extension.
    return has_any_component(lower, {".husky", "hooks", "bin", "scripts", ".githooks"}) ? Language::shell
                                                                                        : Language::other;
  }
  const std::string_view extension = name.substr(dot + 1);
  const auto* const found = std::find_if(kExtensions.begin(), kExtensions.end(),
                                         [&](const Extension& entry) { return entry.first == extension; });
  return found == kExtensions.end() ? Language::other : found->second;
}

bool is_workflow(std::string_view path) {
  const std::string_view name = base_name(path);
  return contains(path, ".github/workflows/") || contains(path, ".github/actions/") || contains(path, ".circleci/") ||
         contains(path, ".buildkite/") || contains(path, ".gitlab/ci/") || contains(path, ".woodpecker") ||
         is_any(name,
                {".gitlab-ci.yml", ".gitlab-ci.yaml", ".travis.yml", "jenkinsfile", "appveyor.yml", ".appveyor.yml",
                 "bitbucket-pipelines.yml", ".drone.yml", "cloudbuild.yaml", "action.yml", "action.yaml"}) ||
         name.starts_with("azure-pipelines");
}

bool is_lockfile(std::string_view name) {
  return is_any(name, {"package-lock.json",  "npm-shrinkwrap.json",
                       "yarn.lock",          "pnpm-lock.yaml",
                       "cargo.lock",         "poetry.lock",
                       "pdm.lock",           "uv.lock",
                       "pipfile.lock",       "gemfile.lock",
                       "composer.lock",      "go.sum",
                       "bun.lock",           "mix.lock",
                       "pubspec.lock",       "podfile.lock",
                       "packages.lock.json", "deno.lock",
                       "flake.lock",         "gradle.lockfile"});
}

bool is_manifest(std::string_view path) {
  const std::string_view name = base_name(path);
  return lists_requirements(path) ||
         is_any(name, {"package.json",
                       "cargo.toml",
                       "pyproject.toml",
                       "setup.py",
                       "setup.cfg",
                       "pipfile",
                       "go.mod",
                       "gemfile",
                       "composer.json",
                       "pom.xml",
                       "build.gradle",
                       "build.gradle.kts",
                       "mix.exs",
                       "pubspec.yaml",
                       "package.swift",
                       "podfile",
                       "directory.packages.props",
                       "environment.yml",
                       "libs.versions.toml",
                       "deno.json"}) ||
         ends_in_any(name, {".csproj", ".gemspec"});
}

bool is_test(std::string_view path) {
  const std::string_view name = base_name(path);
  return has_any_component(path, {"test", "tests", "spec", "specs", "__tests__", "testdata", "fixtures", "__mocks__",
                                  "e2e", "testing", "testsuite"}) ||
         contains(path, "src/test/") || name.starts_with("test_") || contains(name, "_test.") ||
         contains(name, ".test.") || contains(name, ".spec.") || contains(name, "_spec.") || name == "conftest.py" ||
         ends_in_any(name, {"test.java", "tests.java", "test.kt", "tests.cs", "test.php", "tests.swift"});
}

bool is_generated(std::string_view path) {
  const std::string_view name = base_name(path);
  return has_any_component(path, {"vendor", "vendored", "third_party", "third-party", "node_modules", "dist",
                                  "generated", "__generated__", "bower_components", ".yarn"}) ||
         contains(name, ".min.") || contains(name, ".generated.") || contains(name, "_generated.") ||
         ends_in_any(name, {".pb.go", "_pb2.py", ".pb.cc", ".pb.h", ".bundle.js", ".map", ".snap"});
}

bool is_docs(std::string_view path, Language language) {
  if (language == Language::prose) return true;
  // Translations are prose in a table.
  const bool translates = has_any_component(path, {"locale", "locales", "i18n", "l10n", "lang", "translations"});
  if (translates && (bit(language) & kStructured) != 0) return true;
  return has_any_component(path, {"docs", "doc", "documentation", "man"}) && (bit(language) & kProgramming) == 0;
}

bool is_agent_file(std::string_view path) {
  const std::string_view name = base_name(path);
  return has_any_component(path, {".claude", ".cursor", ".codex", ".gemini", ".opencode", ".windsurf", ".roo",
                                  ".continue", ".kiro", ".amazonq", ".junie", ".escrow", ".clinerules", ".agents"}) ||
         is_any(name, {"agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", ".cursorrules",
                       ".windsurfrules", ".clinerules", ".mcp.json", "mcp.json", "copilot-instructions.md",
                       ".aider.conf.yml", "opencode.json", ".goosehints", "skill.md"}) ||
         contains(path, ".github/instructions/") || contains(path, ".github/agents/") ||
         contains(path, ".github/hooks/") || contains(path, ".github/prompts/");
}

FileRoles roles_of(std::string_view path, Language language) {
  const std::string_view name = base_name(path);
  FileRoles roles = 0;
  const LanguageMask mask = bit(language);
  if ((mask & kProgramming) != 0) roles |= kSource;
  if ((mask & (Language::shell | Language::makefile | Language::dockerfile | Language::powershell)) != 0) {
    roles |= kScript;
  }
  if ((mask & kStructured) != 0) roles |= kConfig;
  if ((mask & (Language::yaml | Language::json | Language::hcl)) != 0) roles |= kInfra;
  if ((mask & (Language::yaml | Language::dockerfile)) != 0 || name.starts_with("docker-compose")) roles |= kContainer;
  if (is_workflow(path)) roles |= kWorkflow | kScript | kConfig;
  if (is_manifest(path)) roles |= kManifest | kScript | kConfig;
  if (is_lockfile(name)) roles = kLockfile;
  if (is_test(path)) roles |= kTest;
  if (is_generated(path)) roles |= kGenerated;
  if (is_agent_file(path)) {
    roles |= kAgent | kConfig;
  } else if (is_docs(path, language)) {
    roles |= kDocs;
  }
  if (contains(path, ".devcontainer") || contains(path, ".vscode/")) roles |= kScript;
  return roles;
}

}  // namespace

bool has_component(std::string_view path, std::string_view component) {
  for (std::size_t at = path.find(component); at != std::string_view::npos; at = path.find(component, at + 1)) {
    const std::size_t end = at + component.size();
    if ((at == 0 || path[at - 1] == '/') && (end == path.size() || path[end] == '/')) return true;
  }
  return false;
}

PathFacts classify_path(std::string_view path) {
  PathFacts facts;
  facts.lower = lenient_path(path);
  facts.language = language_of(facts.lower);
  facts.roles = roles_of(facts.lower, facts.language);
  return facts;
}

}  // namespace escrow::engine
