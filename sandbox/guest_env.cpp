#include "sandbox/guest_env.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "sandbox/bwrap_args.h"

extern char** environ;

namespace escrow::sandbox {
namespace {

constexpr std::array kPassed = {
    "PATH",     "LANG",           "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR",
    "CLICOLOR", "CLICOLOR_FORCE", "TZ",       "CI",   "COLUMNS",   "LINES",    "SOURCE_DATE_EPOCH"};

constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool is_passed(const std::string& name, const Profile& profile) {
  return name.starts_with("LC_") || std::find(kPassed.begin(), kPassed.end(), name) != kPassed.end() ||
         std::find(profile.env_allow.begin(), profile.env_allow.end(), name) != profile.env_allow.end();
}

void set_place(Environment& env, const GuestIdentity& guest) {
  env["HOME"] = guest.home.empty() ? "/tmp" : guest.home;
  env["TMPDIR"] = "/tmp";
  env["SHELL"] = "/bin/sh";
  env["ESCROW"] = "1";
  env.emplace("PATH", kDefaultPath);
  if (guest.name.empty()) return;
  env["USER"] = guest.name;
  env["LOGNAME"] = guest.name;
}

/// Programs that know a proxy name the host they want, which is what the person is asked about; the proxy refuses
/// what is not allowed. Those that know none (Java, older Node) resolve an allowed name to an address of the sandbox's
/// own, at which it is reached too.
void set_proxies(Environment& env, const Profile& profile) {
  const std::string proxy = "http://127.0.0.1:" + std::to_string(kProxyPort);
  for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
                           "npm_config_proxy", "npm_config_https_proxy"})
    env[name] = proxy;
  env["NODE_USE_ENV_PROXY"] = "1";  // its own fetch, from version 24
  env["GIT_SSH_COMMAND"] = std::string("ssh -o 'ProxyCommand=") + kRunnerPath + " --connect %h %p'";
  env["NO_PROXY"] = env["no_proxy"] = "localhost,127.0.0.1,::1";
  if (!profile.network_allow.empty()) return;
  // Nothing can be reached: a tool that waits and tries again only hides the refusal.
  env["npm_config_fetch_retries"] = "0";
  env["PIP_RETRIES"] = "0";
  env["CARGO_NET_RETRY"] = "0";
}

/// Repository configuration is data: neither a file-system monitor nor a pager is started because it says so.
void set_git(Environment& env, const Profile& profile) {
  const std::array<std::pair<const char*, std::string>, 3> settings = {
      std::pair("core.fsmonitor", std::string("false")), {"core.pager", "cat"}, {"safe.directory", profile.workspace}};
  env["GIT_CONFIG_COUNT"] = std::to_string(settings.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    env["GIT_CONFIG_KEY_" + std::to_string(i)] = settings[i].first;
    env["GIT_CONFIG_VALUE_" + std::to_string(i)] = settings[i].second;
  }
  env["GIT_TERMINAL_PROMPT"] = "0";
}

/// LeakSanitizer traces its own process, which the filter refuses outside of the profile `debug`.
void set_sanitizers(Environment& env, const Profile& profile) {
  if (profile.name == "debug") return;
  std::string& options = env["ASAN_OPTIONS"];
  if (options.find("detect_leaks") != std::string::npos) return;
  options += options.empty() ? "detect_leaks=0" : ":detect_leaks=0";
}

}  // namespace

Environment host_environment() {
  Environment env;
  for (char** entry = environ; entry && *entry; ++entry)
    if (const char* equals = std::strchr(*entry, '='))
      env.emplace(std::string(static_cast<const char*>(*entry), equals), equals + 1);
  return env;
}

std::vector<std::string> guest_env(const Environment& host, const GuestIdentity& guest, const Profile& profile,
                                   const Command& command) {
  Environment env;
  for (const auto& [name, value] : host)
    if (is_passed(name, profile)) env[name] = value;
  set_place(env, guest);
  set_proxies(env, profile);
  set_git(env, profile);
  for (const auto& [name, value] : command.env) env[name] = value;
  set_sanitizers(env, profile);
  std::vector<std::string> entries;
  for (const auto& [name, value] : env) entries.push_back(name + "=" + value);
  return entries;
}

}  // namespace escrow::sandbox
