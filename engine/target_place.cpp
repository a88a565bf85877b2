#include "engine/target_place.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "engine/path_name.h"

namespace escrow::engine {
namespace {

using std::string_view;

string_view last_component(string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == string_view::npos ? path : path.substr(slash + 1);
}

template <std::size_t N>
bool any_of(const std::array<string_view, N>& list, string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

template <std::size_t N>
bool any_prefix(const std::array<string_view, N>& list, string_view text) {
  return std::any_of(list.begin(), list.end(), [&](string_view p) { return text.starts_with(p); });
}

/// True if `part` (one component, or several joined by '/') stands in `path` on component boundaries.
bool has_component(string_view path, string_view part) {
  for (std::size_t at = path.find(part); at != string_view::npos; at = path.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if ((at == 0 || path[at - 1] == '/') && (end == path.size() || path[end] == '/')) return true;
  }
  return false;
}

constexpr std::array<string_view, 12> kTemplates = {".example", ".sample", ".template", ".dist",   ".tmpl", ".defaults",
                                                    "-example", "-sample", ".tpl",      ".schema", ".spec", ".md"};
constexpr std::array<string_view, 34> kSecretNames = {".env",
                                                      ".envrc.local",
                                                      ".netrc",
                                                      "_netrc",
                                                      ".npmrc",
                                                      ".pypirc",
                                                      ".yarnrc.yml",
                                                      ".pgpass",
                                                      ".my.cnf",
                                                      ".git-credentials",
                                                      ".htpasswd",
                                                      ".vault-token",
                                                      "master.key",
                                                      "credentials",
                                                      "credentials.json",
                                                      "credentials.yml",
                                                      "credentials.yaml",
                                                      "credentials.toml",
                                                      "credentials.ini",
                                                      "secrets",
                                                      "secrets.yml",
                                                      "secrets.yaml",
                                                      "secrets.json",
                                                      "secrets.toml",
                                                      "secrets.env",
                                                      "secret.key",
                                                      "kubeconfig",
                                                      "service-account.json",
                                                      "service_account.json",
                                                      "application_default_credentials.json",
                                                      "terraform.tfstate",
                                                      "token.json",
                                                      ".dockercfg",
                                                      ".s3cfg"};
constexpr std::array<string_view, 11> kSecretEnds = {".pem",  ".key",     ".p12",    ".pfx", ".jks", ".keystore",
                                                     ".kdbx", ".tfstate", ".tfvars", ".ppk", ".asc"};
constexpr std::array<string_view, 22> kSecretDirs = {".ssh",
                                                     ".aws",
                                                     ".gnupg",
                                                     ".azure",
                                                     ".kube",
                                                     ".docker/config.json",
                                                     ".config/gcloud",
                                                     ".config/gh",
                                                     ".config/op",
                                                     ".cargo/credentials",
                                                     ".cargo/credentials.toml",
                                                     ".gem/credentials",
                                                     ".password-store",
                                                     ".mozilla",
                                                     ".config/google-chrome",
                                                     ".local/share/keyrings",
                                                     "keychains",
                                                     ".terraform.d",
                                                     ".config/hub",
                                                     ".config/rclone",
                                                     "secrets",
                                                     ".secrets"};
constexpr std::array<string_view, 18> kShellRc = {
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
    ".zshrc",  ".zshenv",       ".zprofile",   ".zlogin",      ".zlogout",      ".kshrc",
    ".cshrc",  ".tcshrc",       ".inputrc",    ".xprofile",    ".xinitrc",      ".envrc"};
constexpr std::array<string_view, 9> kAgentDirs = {".claude",   ".codex",        ".cursor", ".gemini",  ".opencode",
                                                   ".windsurf", ".github/hooks", ".aider",  ".continue"};
constexpr std::array<string_view, 7> kAgentFiles = {".mcp.json",
                                                    "mcp.json",
                                                    ".claude.json",
                                                    ".aider.conf.yml",
                                                    "opencode.json",
                                                    ".roomodes",
                                                    "claude_desktop_config.json"};
constexpr std::array<string_view, 7> kAgentTexts = {
    "agents.md", "claude.md", "gemini.md", ".cursorrules", ".windsurfrules", ".clinerules", "copilot-instructions.md"};

bool is_env_file(string_view name) {
  return name == ".env" || name.starts_with(".env.") || (name.ends_with(".env") && name.size() > 4);
}

bool is_key_name(string_view name) {
  static constexpr std::array<string_view, 5> kKeys = {"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "id_ed25519_sk"};
  return std::any_of(kKeys.begin(), kKeys.end(), [&](string_view key) { return name == key; });
}

/// `cert.pem`, `fullchain.pem`, `my-ca.pem`: shown to everyone who connects.
bool is_certificate_name(string_view name) {
  if (!name.ends_with(".pem") || name.find("key") != string_view::npos || name.find('*') != string_view::npos)
    return false;
  const string_view stem = name.substr(0, name.size() - 4);
  return stem == "ca" || stem.ends_with("-ca") || stem.ends_with("_ca") || stem.ends_with("cert") ||
         stem.ends_with("certs") || stem.ends_with("certificate") || stem.ends_with("chain") ||
         stem.ends_with("ca-bundle");
}

bool is_secret(string_view folded, string_view name) {
  if (is_env_file(name) || any_of(kSecretNames, name) || is_key_name(name)) return true;
  if (std::any_of(kSecretEnds.begin(), kSecretEnds.end(),
                  [&](string_view e) { return name.size() > e.size() && name.ends_with(e); })) {
    return !name.ends_with(".pub") && !is_certificate_name(name);
  }
  // A glob such as `.env*` or `id_*` reaches the secret too.
  if (name.starts_with(".env") && name.find('*') != string_view::npos) return true;
  if (name.ends_with(".pub") || name == "known_hosts") return false;
  return std::any_of(kSecretDirs.begin(), kSecretDirs.end(), [&](string_view d) { return has_component(folded, d); });
}

bool is_template_name(string_view name) {
  return std::any_of(kTemplates.begin(), kTemplates.end(), [&](string_view e) { return name.ends_with(e); });
}

bool is_autostart(string_view path) {
  static constexpr std::array<string_view, 12> kDirs = {
      "/etc/cron", "/var/spool/cron", "/etc/systemd",       "/lib/systemd", "/usr/lib/systemd", "/etc/init.d",
      "/etc/rc",   "/library/launch", "/etc/xdg/autostart", "/etc/udev",    "/etc/anacrontab",  "/etc/init"};
  return any_prefix(kDirs, path) || has_component(path, ".config/systemd") ||
         has_component(path, ".config/autostart") || has_component(path, "library/launchagents") ||
         has_component(path, "crontabs");
}

bool is_privilege_file(string_view path) {
  static constexpr std::array<string_view, 8> kFiles = {"/etc/sudoers",  "/etc/passwd",   "/etc/shadow",
                                                        "/etc/group",    "/etc/gshadow",  "/etc/pam.d",
                                                        "/etc/polkit-1", "/etc/doas.conf"};
  return any_prefix(kFiles, path);
}

bool is_guard(string_view path) {
  return has_component(path, ".escrow") || has_component(path, ".config/escrow") ||
         has_component(path, "state/escrow") || path.starts_with("/etc/escrow") ||
         has_component(path, "libexec/escrow") || path.ends_with("/bin/escrow");
}

Ward ward_of_folded(string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const string_view name = last_component(path);
  if (is_guard(path)) return Ward::guard;
  if (has_component(path, ".git/hooks") || has_component(path, ".husky") || has_component(path, "core.hookspath"))
    return Ward::git_hook;
  if (name == ".git" || path.ends_with(".git/*") || path.ends_with(".git/objects") || path.ends_with(".git/refs"))
    return Ward::git_dir;
  if (has_component(path, ".git/config") || has_component(path, ".git/config.worktree") ||
      has_component(path, ".git/info/attributes") || name == ".gitconfig" ||
      has_component(path, ".config/git/config") || path == "/etc/gitconfig") {
    return Ward::git_config;
  }
  if (name == "authorized_keys" || name == "authorized_keys2" || (name == "config" && has_component(path, ".ssh")) ||
      (name == "rc" && has_component(path, ".ssh"))) {
    return Ward::login_keys;
  }
  if (any_of(kShellRc, name) || has_component(path, "etc/profile.d") || path == "/etc/profile" ||
      path == "/etc/bash.bashrc" || path == "/etc/environment" || has_component(path, ".config/fish") ||
      has_component(path, ".oh-my-zsh")) {
    return Ward::shell_rc;
  }
  if (is_autostart(path)) return Ward::autostart;
  if (path.starts_with("/etc/ld.so")) return Ward::loader_file;
  if (is_privilege_file(path)) return Ward::privilege_file;
  if (any_of(kAgentTexts, name)) return Ward::agent_text;
  if (any_of(kAgentFiles, name) ||
      std::any_of(kAgentDirs.begin(), kAgentDirs.end(), [&](string_view d) { return has_component(path, d); })) {
    return Ward::agent_settings;
  }
  if (has_component(path, ".vscode") || has_component(path, ".idea") || has_component(path, ".zed") ||
      has_component(path, ".devcontainer")) {
    return Ward::editor_settings;
  }
  if (is_template_name(name)) return Ward::template_file;
  if (is_secret(path, name)) return Ward::secret;
  return Ward::none;
}

/// `a/./b/../c` → `a/c`; leading `..` are kept for a relative path, dropped below `/`.
std::string normalise(string_view path) {
  const bool absolute = path.starts_with('/');
  std::vector<string_view> parts;
  std::size_t at = 0;
  while (at <= path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const string_view part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..")
      parts.push_back(part);
    else if (!parts.empty() && parts.back() != "..")
      parts.pop_back();
    else if (!absolute)
      parts.push_back(part);
  }
  std::string out = absolute ? "/" : "";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.push_back('/');
    out += parts[i];
  }
  return out;
}

bool replace_prefix(std::string& text, string_view prefix, string_view with) {
  if (!text.starts_with(prefix)) return false;
  const std::size_t end = prefix.size();
  if (end < text.size() && text[end] != '/' && text[end] != '*') return false;
  text.replace(0, end, with);
  return true;
}

/// Variables and substitutions whose meaning as a place is known.
std::string with_known_places(std::string text) {
  static constexpr std::array<std::pair<string_view, string_view>, 18> kPlaces = {{
      {"$HOME", "~"},
      {"${HOME}", "~"},
      {"$PWD", "."},
      {"$OLDPWD", "."},
      {"$(pwd)", "."},
      {"`pwd`", "."},
      {"$(git rev-parse --show-toplevel)", "./"},
      {"$CI_PROJECT_DIR", "./"},
      {"$GITHUB_WORKSPACE", "./"},
      {"$TMPDIR", "/tmp/x"},
      {"${TMPDIR:-/tmp}", "/tmp"},
      {"$(mktemp)", "/tmp/x"},
      {"$(mktemp -d)", "/tmp/x"},
      {"$XDG_CONFIG_HOME", "~/.config"},
      {"$XDG_STATE_HOME", "~/.local/state"},
      {"$(echo ~)", "~"},
      {"${HOME%/}", "~"},
      {"${HOME:?}", "~"},
  }};
  for (const auto& [from, to] : kPlaces) {
    if (replace_prefix(text, from, to)) break;
  }
  return text;
}

bool is_quiet_device(string_view path) {
  static constexpr std::array<string_view, 10> kQuiet = {"/dev/null", "/dev/stdout", "/dev/stderr",  "/dev/stdin",
                                                         "/dev/tty",  "/dev/zero",   "/dev/urandom", "/dev/random",
                                                         "/dev/full", "/dev/ptmx"};
  return any_of(kQuiet, path) || path.starts_with("/dev/fd/") || path.starts_with("/dev/pts/") ||
         path.starts_with("/dev/shm/") || path.starts_with("/proc/self/fd/");
}

bool is_documentation(string_view path) {
  static constexpr std::array<string_view, 13> kTrees = {"/usr",
                                                         "/bin",
                                                         "/sbin",
                                                         "/lib",
                                                         "/opt",
                                                         "/nix/store",
                                                         "/etc/alternatives",
                                                         "/system/library",
                                                         "/library/developer",
                                                         "/applications/xcode.app",
                                                         "/snap",
                                                         "/etc/ssl/certs",
                                                         "/usr/share"};
  static constexpr std::array<string_view, 16> kFacts = {
      "/etc/os-release",     "/etc/debian_version", "/etc/lsb-release", "/etc/redhat-release",
      "/etc/alpine-release", "/etc/timezone",       "/etc/localtime",   "/proc/cpuinfo",
      "/proc/meminfo",       "/proc/version",       "/proc/loadavg",    "/proc/uptime",
      "/proc/filesystems",   "/proc/self/status",   "/proc/mounts",     "/etc/issue"};
  return any_of(kFacts, path) || std::any_of(kTrees.begin(), kTrees.end(), [&](string_view t) {
           return path.starts_with(t) && (path.size() == t.size() || path[t.size()] == '/' || t == "/lib");
         });
}

bool is_top_level(string_view path) {
  static constexpr std::array<string_view, 16> kTop = {"/bin", "/boot", "/dev",  "/etc",  "/lib", "/lib64",
                                                       "/opt", "/proc", "/sbin", "/srv",  "/sys", "/usr",
                                                       "/var", "/home", "/root", "/users"};
  return any_of(kTop, path);
}

/// `/home/u`, `/Users/u`, `/root`.
bool is_home_root(string_view path) {
  if (path == "/root" || path == "/home" || path == "/users") return true;
  for (const string_view base : {string_view("/home/"), string_view("/users/")}) {
    if (path.starts_with(base)) return path.find('/', base.size()) == string_view::npos;
  }
  return false;
}

Zone absolute_zone(string_view path) {
  if (path == "/") return Zone::filesystem_root;
  if (is_quiet_device(path)) return Zone::quiet_device;
  if (path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")) return Zone::socket_device;
  if (path.starts_with("/dev/")) return Zone::block_device;
  if (path == "/tmp" || path == "/var/tmp" || path.starts_with("/tmp/") || path.starts_with("/var/tmp/") ||
      path.starts_with("/private/tmp/")) {
    return Zone::scratch;
  }
  if (is_home_root(path)) return Zone::home_root;
  if (path.starts_with("/home/") || path.starts_with("/root/") || path.starts_with("/users/")) return Zone::home;
  if (is_documentation(path)) return Zone::documentation;
  return Zone::system;
}

/// Strips a trailing `/*` (and `/.*`, `/.[!.]*`): the whole of what lies before it.
bool strip_wide(std::string& path) {
  static constexpr std::array<string_view, 6> kEnds = {"*", ".*", ".[!.]*", "{*,.*}", "**", ".??*"};
  const string_view name = last_component(path);
  if (!any_of(kEnds, name)) return false;
  path.resize(path.size() - name.size());
  return true;
}

Target place_relative(const std::string& path, bool wide) {
  Target out;
  out.wide = wide;
  out.path = normalise(path);
  if (out.path.empty()) {
    out.zone = Zone::workspace_root;
  } else if (out.path.starts_with("..")) {
    out.zone = out.path == ".." || out.path[2] == '/' ? Zone::above : Zone::workspace;
  }
  out.ward = ward_of(out.path);
  return out;
}

Target place_home(const std::string& path, bool wide) {
  Target out;
  out.wide = wide;
  const std::size_t slash = std::min(path.find('/'), path.size());
  std::string rest = normalise(string_view(path).substr(slash));
  if (rest == "/") rest.clear();
  out.path = "~" + rest;
  out.zone = rest.empty() ? Zone::home_root : Zone::home;
  out.ward = ward_of(out.path);
  return out;
}

Target place_absolute(const std::string& path, bool wide, const Ground& ground) {
  std::string clean = normalise(path);
  const auto below = [&](const std::string& root) {
    return !root.empty() && clean.starts_with(root) && (clean.size() == root.size() || clean[root.size()] == '/');
  };
  if (below(ground.workspace_root)) {
    Target out = place_relative(clean.substr(std::min(clean.size(), ground.workspace_root.size() + 1)), wide);
    if (out.path.empty()) out.zone = Zone::workspace_root;
    return out;
  }
  Target out;
  out.wide = wide;
  const std::string folded = lenient_path(clean);
  if (below(ground.home)) {
    out = place_home("~" + clean.substr(ground.home.size()), wide);
  } else {
    out.path = clean;
    out.zone = absolute_zone(folded);
    if (wide && is_top_level(folded)) out.zone = Zone::filesystem_root;
    out.ward = ward_of(clean);
  }
  if (!ground.workspace_root.empty() && ground.workspace_root.starts_with(clean + "/") && out.zone == Zone::system)
    out.zone = Zone::above;
  return out;
}

std::string join(const std::string& cwd, const std::string& path) {
  if (cwd.empty()) return path;
  return cwd + "/" + path;
}

Target locate_text(std::string text, bool tilde, bool opaque, const Ground& ground) {
  if (opaque) text = with_known_places(std::move(text));
  if (text.starts_with("file://")) text.erase(0, 7);
  const bool home = (tilde || opaque) && text.starts_with('~');
  if (opaque && text.find_first_of("$`") != std::string::npos) {
    Target out;
    out.zone = Zone::unknown;
    out.path = text;
    // `$X/.ssh/id_rsa` is a key wherever $X points; `$X/*` may be everything.
    out.ward = ward_of(text);
    std::string copy = text;
    out.wide = strip_wide(copy) || text.ends_with('/');
    return out;
  }
  bool wide = strip_wide(text);
  if (home) return place_home(text, wide);
  if (text.starts_with('/')) return place_absolute(text, wide, ground);
  if (text.empty() && !wide) text = ".";
  if (ground.cwd == "?") {
    Target out = place_relative(text, wide);
    out.zone = Zone::unknown;
    return out;
  }
  const std::string whole = join(ground.cwd, text);
  if (whole.starts_with('/')) return place_absolute(whole, wide, ground);
  if (ground.cwd.starts_with('~')) return place_home(whole, wide);
  return place_relative(whole, wide);
}

}  // namespace

Ward ward_of(string_view path) {
  return ward_of_folded(lenient_path(path));
}

Target locate(const Word& word, const Ground& ground) {
  return locate_text(word.text, word.tilde, word.opaque, ground);
}

Target locate(string_view text, const Ground& ground) {
  return locate_text(std::string(text), true, true, ground);
}

std::string change_directory(const Word& word, const Ground& ground) {
  if (word.text == "-") return "?";
  const Target target = locate(word, ground);
  switch (target.zone) {
    case Zone::workspace_root:
      return "";
    case Zone::unknown:
      return "?";
    case Zone::workspace:
    case Zone::above:
    case Zone::scratch:
    case Zone::quiet_device:
    case Zone::socket_device:
    case Zone::block_device:
    case Zone::documentation:
    case Zone::system:
    case Zone::home:
    case Zone::home_root:
    case Zone::filesystem_root:
      return target.path;
  }
  return "?";
}

bool is_artefact(string_view path) {
  static constexpr std::array<string_view, 46> kNames = {
      "node_modules", "dist",          "build",        "target",        "out",         "output",
      ".cache",       "coverage",      "__pycache__",  ".pytest_cache", ".mypy_cache", ".ruff_cache",
      ".tox",         ".nox",          ".venv",        "venv",          ".next",       ".nuxt",
      ".turbo",       ".parcel-cache", ".gradle",      "cmakefiles",    "obj",         "bin",
      ".eggs",        "htmlcov",       ".nyc_output",  "tmp",           "temp",        ".tmp",
      "logs",         "log",           "_build",       ".angular",      ".svelte-kit", "storybook-static",
      ".vite",        "deriveddata",   ".ds_store",    "thumbs.db",     ".dart_tool",  ".terraform",
      ".coverage",    "site",          "public/build", "cmakecache.txt"};
  static constexpr std::array<string_view, 17> kEnds = {".o",     ".obj",      ".a",    ".so",   ".pyc",        ".pyo",
                                                        ".class", ".log",      ".tmp",  ".bak",  ".swp",        ".orig",
                                                        ".rej",   ".egg-info", ".gcda", ".gcno", ".tsbuildinfo"};
  const std::string folded = lenient_path(path);
  string_view rest = folded;
  while (rest.size() > 1 && rest.ends_with('/')) rest.remove_suffix(1);
  if (std::any_of(kEnds.begin(), kEnds.end(),
                  [&](string_view e) { return rest.size() > e.size() && rest.ends_with(e); }))
    return true;
  std::size_t at = 0;
  while (at <= rest.size()) {
    const std::size_t end = std::min(rest.find('/', at), rest.size());
    const string_view part = rest.substr(at, end - at);
    if (any_of(kNames, part) || part.starts_with("cmake-build-") || part.starts_with("build-") ||
        part.starts_with("build_") || part.ends_with("~") || part.ends_with(".egg-info")) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

}  // namespace escrow::engine
