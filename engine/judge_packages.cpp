#include <algorithm>
#include <array>

#include "engine/command_case.h"

// Package managers, toolchains and build tools: by sub-command, with the few options that change the meaning.

namespace escrow::engine {
namespace {

using std::string_view;

constexpr CategorySet kInstall = Category::package_install | Category::network;

bool is_foreign_source(string_view text) {
  return text.starts_with("git+") || text.starts_with("git:") || text.starts_with("git@") ||
         text.starts_with("github:") || text.starts_with("gitlab:") || text.starts_with("bitbucket:") ||
         text.starts_with("gist:") || text.starts_with("http://") || text.starts_with("https://") ||
         text.starts_with("ssh://") || contains(text, "@git+") || contains(text, "@ git+") ||
         contains(text, "@https://");
}

/// Package names from a place that nobody vouches for.
void judge_sources(Case& c, const Arguments& args, std::size_t first) {
  for (std::size_t i = first; i < args.positionals.size(); ++i) {
    if (is_foreign_source(args.positionals[i]->text))
      c.note(Level::high, kInstall, "installs code straight from an address");
  }
  for (const Option& option : args.options) {
    if (in_list("--index-url --extra-index-url --trusted-host --find-links -i --registry --index --source --git "
                "--default-index --add-source --repository-url",
                option.name) &&
        option.value) {
      if (option.name == "-i" && c.key != "pip") continue;
      if (option.name == "-f" || is_loopback(host_of(*option.value))) continue;
      if (c.key == "gem" && option.name == "--source" && option.value->starts_with("https://")) continue;
      c.note(Level::high, kInstall, "installs from another index");
    }
    if (option.value && in_list("-e --editable -r --requirement", option.name) && is_foreign_source(*option.value))
      c.note(Level::high, kInstall, "installs code straight from an address");
  }
}

bool is_local_tool(string_view name) {
  const CommandProfile* profile = find_profile(name.substr(0, name.find('@', 1)));
  return profile != nullptr && (profile->role == Role::build || name == "husky" || name == "lefthook" ||
                                name == "prisma" || name == "serve" || name == "rimraf");
}

/// `npx TOOL`: the project's own tool if it is a known one, else a package fetched and run.
void judge_runner(Case& c, const Arguments& args, std::size_t first) {
  const string_view tool = args.positional(first);
  // Options behind the tool's name are the tool's own: `npx tsc -p x`.
  const std::size_t tool_at =
      tool.empty() ? c.argv.size() : static_cast<std::size_t>(args.positionals[first] - c.argv.data());
  const auto own = [&](string_view names) -> const Option* {
    for (const Option& option : args.options) {
      if (option.index < tool_at && in_list(names, option.name)) return &option;
    }
    return nullptr;
  };
  if (const Option* call = own("-c --call"); call != nullptr && call->value) {
    const ScriptJudgement inner = c.judge_text(*call->value);
    c.note(std::max(inner.level, Level::low), inner.categories | Category::build_test,
           "runs a command with the project's tools");
    return;
  }
  if (tool.empty()) return;
  const bool fetches =
      own("-y --yes -p --package") != nullptr || contains(tool.substr(std::min<std::size_t>(1, tool.size())), "@");
  if (is_local_tool(tool) && !fetches) {
    if (args.positional(first + 1) == "install" && in_list("playwright cypress husky", tool)) {
      if (tool == "husky") return c.note(Level::high, bit(Category::persistence), "installs git hooks");
      return c.note(Level::medium, kInstall, "downloads tools");
    }
    return c.note(Level::low, bit(Category::build_test), "runs the project's own tools");
  }
  if (is_foreign_source(tool)) return c.note(Level::high, kInstall, "runs code straight from an address");
  c.note(Level::medium, kInstall, "fetches a package and runs it");
}

void judge_npm_config(Case& c, const Arguments& args) {
  if (!in_list("set edit", args.positional(1))) return;
  const string_view key = args.positional(2);
  if (contains(key, "script-shell") || contains(key, "registry") || contains(key, "init-module") ||
      contains(key, "git") || contains(key, "_auth")) {
    return c.note(Level::high, bit(Category::env_hijack), "changes where packages come from or what runs them");
  }
  c.note(Level::low, bit(Category::workspace_write), "changes settings");
}

constexpr std::array<string_view, 6> kScriptEnds = {".ts", ".js", ".tsx", ".jsx", ".mjs", ".cjs"};

bool judge_node_packages(Case& c, const Arguments& args, string_view sub) {
  if (in_list("npx pnpx bunx", c.key)) {
    if (args.positionals.empty() && !args.has("-c --call -p --package")) return true;
    judge_runner(c, args, 0);
    return true;
  }
  if (!in_list("npm pnpm yarn bun", c.key)) return false;
  const string_view script = sub == "run" ? args.positional(1) : sub;
  const bool file =
      std::any_of(kScriptEnds.begin(), kScriptEnds.end(), [&](string_view e) { return script.ends_with(e); });
  if (c.key == "bun" && file) {
    c.note(Level::medium, bit(Category::inline_code), "runs a script whose content is not seen");
    return true;
  }
  if (sub == "dlx" || (sub == "x" && (c.key == "bun" || c.key == "npm")) || (sub == "exec" && c.key == "npm")) {
    judge_runner(c, args, 1);
    return true;
  }
  if (sub == "exec" || (c.key == "yarn" && sub == "exec")) {
    c.note(Level::low, bit(Category::build_test), "runs the project's own tools");
    return true;
  }
  if (sub == "config" || sub == "set") {
    judge_npm_config(c, args);
    return true;
  }
  if (args.has("--script-shell")) c.note(Level::high, bit(Category::env_hijack), "names the shell that runs scripts");
  return false;
}

bool judge_go(Case& c, string_view sub) {
  const Arguments args = c.arguments();
  const string_view what = args.positional(1);
  if (args.has("-exec -toolexec -vettool")) c.note(Level::medium, bit(Category::inline_code), "has go run a program");
  if (sub == "mod") {
    if (in_list("tidy download vendor", what))
      c.note(Level::medium, kInstall, "fetches modules");
    else
      c.note(Level::low, bit(Category::workspace_write), "changes the module file");
    return true;
  }
  if (sub == "run" || sub == "install") {
    const bool fetched = contains(what, "@") || (contains(what, ".") && contains(what, "/") && !what.starts_with('.') &&
                                                 !what.ends_with(".go") && what.find('.') < what.find('/'));
    if (fetched)
      c.note(Level::medium, kInstall, "fetches a module and builds it");
    else
      c.note(Level::low, bit(Category::build_test), "builds and runs the project's own code");
    return true;
  }
  if (sub == "env" && args.has("-w -u")) {
    c.note(Level::medium, Category::env_hijack | Category::path_escape, "changes settings for every project");
    return true;
  }
  return false;
}

bool judge_python_packages(Case& c, const Arguments& args, string_view sub) {
  if (c.key == "uv" && in_list("pip tool python", sub)) {
    if (in_list("list show freeze check tree dir find", args.positional(1))) return true;
    if (sub == "tool" && args.positional(1) == "run") {
      judge_runner(c, args, 2);
      return true;
    }
  }
  if (c.key == "uvx" || (c.key == "pipx" && sub == "run")) {
    if (!args.positionals.empty()) c.note(Level::medium, kInstall, "fetches a package and runs it");
    judge_sources(c, args, 0);
    return true;
  }
  if (c.key == "pip" && sub == "config" && in_list("set edit", args.positional(1))) {
    c.note(Level::high, bit(Category::env_hijack), "changes where packages come from");
    return true;
  }
  return false;
}

void judge_writes_outside(Case& c, const Arguments& args) {
  for (const Option& option : args.options) {
    if (!option.value ||
        !in_list(
            "-o --output --target-dir --prefix --out-dir --outDir --outfile -d --install-dir --junitxml --log-file",
            option.name))
      continue;
    const Target target = c.place(option.word != nullptr ? *option.word : Word{.text = *option.value, .span = {}});
    const PlaceEffect effect = effect_of_write(target);
    if (effect.level > Level::low) c.note(effect);
  }
}

}  // namespace

void judge_package(Case& c) {
  // Bun is an interpreter as well.
  for (std::size_t i = 1; c.key == "bun" && i + 1 < c.argv.size(); ++i) {
    if (in_list("-e --eval -p --print", c.word(i))) return judge_code(c, c.word(i + 1));
  }
  Arguments args = c.arguments();
  std::size_t first = 0;
  if (c.key == "cargo" && args.positional(0).starts_with('+')) first = 1;
  string_view sub = args.positional(first);
  // `dpkg -l`, `rpm -qa`: there the first option is the sub-command.
  if (in_list("dpkg rpm pacman code codium cursor", c.key) && c.word(1).starts_with('-')) sub = c.word(1);
  if (sub.empty() && args.has("--version -v -V --help -h -version --list --info --list-sdks --list-runtimes")) return;
  if (c.key == "go" && judge_go(c, sub)) return;
  if (judge_node_packages(c, args, sub) || judge_python_packages(c, args, sub)) return;
  const SubcommandEffect* effect = find_effect(c.key, sub, args.positional(first + 1));
  if (effect == nullptr)
    return c.note(Level::medium, bit(Category::inline_code), "runs a sub-command that is not known");
  c.note(effect->level, effect->categories,
         effect->level == Level::none ? "shows information" : c.key + " " + std::string(sub));
  if (in_list("mvn mvnw gradle gradlew", c.key)) {
    for (const Word* word : args.positionals) {
      const SubcommandEffect* goal = find_effect(c.key, word->text);
      if (goal != nullptr) c.note(goal->level, goal->categories, "runs the goal " + word->text);
    }
  }
  if ((effect->categories & bit(Category::package_install)) != 0) judge_sources(c, args, first + 1);
  judge_writes_outside(c, args);
}

namespace {

/// Recipe lines of a makefile given on standard input.
void judge_recipe(Case& c, string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    string_view text_line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!text_line.starts_with('\t')) {
      // `all: ; command` has its recipe on the same line.
      const std::size_t colon = text_line.find(':');
      const std::size_t semicolon = colon == string_view::npos ? colon : text_line.find(';', colon);
      if (semicolon == string_view::npos) continue;
      text_line.remove_prefix(semicolon + 1);
    }
    while (!text_line.empty() && std::string_view("\t@-+ ").find(text_line.front()) != string_view::npos)
      text_line.remove_prefix(1);
    c.launches(text_line, true);
  }
}

std::string unescape_printf(string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == 'n' || text[i + 1] == 't')) {
      out.push_back(text[++i] == 'n' ? '\n' : '\t');
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

void judge_make(Case& c, const Arguments& args) {
  bool installs = false, placed = false;
  for (const Word* word : args.positionals) {
    const string_view text = word->text;
    if (text == "install" || text == "uninstall") installs = true;
    if (text.starts_with("PREFIX=") || text.starts_with("DESTDIR=") || text.starts_with("prefix=")) {
      const string_view value = text.substr(text.find('=') + 1);
      if (value.empty()) continue;
      const Target target = c.place(value);
      placed = placed || target.zone == Zone::workspace || target.zone == Zone::scratch ||
               target.zone == Zone::workspace_root || target.zone == Zone::unknown;
    }
    if (text.starts_with("SHELL=") && !in_list("/bin/sh /bin/bash bash sh /usr/bin/bash", text.substr(6)))
      c.note(Level::high, Category::inline_code | Category::env_hijack, "names the shell that runs every recipe");
  }
  if (installs && !placed) c.note(Level::medium, bit(Category::path_escape), "installs outside the workspace");
  for (const Option& option : args.options) {
    if (!option.value) continue;
    if (in_list("--eval -E", option.name))
      c.note(Level::high, bit(Category::inline_code), "gives make a recipe on the command line");
    if (in_list("-C --directory", option.name)) c.note(effect_of_read(c.place(*option.value)));
    if (!in_list("-f --file --makefile", option.name)) continue;
    if (*option.value != "-" && *option.value != "/dev/stdin") {
      const Target target = c.place(*option.value);
      if (target.zone != Zone::workspace)
        c.note(Level::medium, bit(Category::inline_code), "runs a makefile from outside the workspace");
      continue;
    }
    c.note(Level::medium, bit(Category::inline_code), "runs a makefile from its input");
    if ((c.input() & kFromNetwork) != 0)
      c.note(Level::critical, Category::remote_code | Category::network, "runs text downloaded from the network");
    for (const Redirect& redirect : c.command.redirects) {
      if (redirect.kind == RedirectKind::here_doc || redirect.kind == RedirectKind::here_string)
        judge_recipe(c, redirect.target.text);
    }
    if (c.command.piped_from == SimpleCommand::npos) continue;
    for (const Word& word : c.line.script.commands[c.command.piped_from].argv)
      judge_recipe(c, unescape_printf(word.text));
  }
}

void judge_cmake(Case& c, const Arguments& args) {
  if (args.has("--install") && !args.has("--prefix"))
    c.note(Level::medium, bit(Category::path_escape), "installs outside the workspace");
  if (args.has("-P")) c.note(Level::medium, bit(Category::inline_code), "runs a script whose content is not seen");
  if (c.key == "cmake" && args.has("-E")) {
    const Option* command = args.find("-E");
    if (command->value && in_list("rm remove remove_directory", *command->value)) {
      for (const Word* word : args.positionals) c.removes(*word, Reach::tree);
    }
    if (command->value && in_list("env time chdir", *command->value))
      c.note(Level::low, bit(Category::inline_code), "has cmake run a program");
  }
}

}  // namespace

void judge_build(Case& c) {
  const Arguments args = c.arguments();
  c.note(Level::low, bit(Category::build_test), "runs the project's own build or tests");
  for (const Option& option : args.options) {
    if (option.value && in_list(c.profile->run_options, option.name)) c.launches(*option.value, true);
    if (option.name == "-wrapper") c.note(Level::high, bit(Category::inline_code), "has the compiler run a program");
  }
  if (in_list("make gmake bmake remake", c.key)) judge_make(c, args);
  if (c.key == "cmake") judge_cmake(c, args);
  if (in_list("ninja meson scons", c.key) && !args.positionals.empty() && args.positional(0) == "install")
    c.note(Level::medium, bit(Category::path_escape), "installs outside the workspace");
  if (in_list("playwright cypress", c.key) && args.positional(0) == "install")
    c.note(Level::medium, kInstall, "downloads tools");
  if (c.key == "terraform-docs") return;
  for (const Word* word : args.positionals) {
    const string_view text = word->text;
    if (text.starts_with("//") && in_list("bazel bazelisk buck2 pants gn", c.key)) continue;  // a label
    const bool path = text.starts_with('/') || text.starts_with("../") || word->tilde || text.starts_with("$HOME");
    if (!path) continue;
    const Target target = c.place(*word);
    if (target.zone == Zone::above || target.zone == Zone::home || target.zone == Zone::system ||
        target.ward == Ward::secret)
      c.note(effect_of_read(target));
  }
  judge_writes_outside(c, args);
}

}  // namespace escrow::engine
