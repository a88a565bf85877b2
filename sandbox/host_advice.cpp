#include "sandbox/host_advice.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "sandbox/program_output.h"

namespace escrow::sandbox {
namespace {

/// Leading numbers of a version, at most four.
std::vector<unsigned long> numbers_of(std::string_view version) {
  std::vector<unsigned long> numbers;
  std::size_t at = 0;
  while (numbers.size() < 4 && at < version.size() && version[at] >= '0' && version[at] <= '9') {
    unsigned long number = 0;
    for (; at < version.size() && version[at] >= '0' && version[at] <= '9'; ++at)
      number = std::min(number * 10 + static_cast<unsigned long>(version[at] - '0'), 1'000'000ul);
    numbers.push_back(number);
    if (at >= version.size() || version[at] != '.') break;
    ++at;
  }
  return numbers;
}

bool same_line(std::string_view a, std::string_view b) {
  const auto left = numbers_of(a), right = numbers_of(b);
  return left.size() > 1 && right.size() > 1 && left[0] == right[0] && left[1] == right[1];
}

struct Advisory {
  std::string_view program, id, what;
  std::vector<std::string_view> fixed_in;  ///< ascending, one a release line
};

const std::vector<Advisory>& advisories() {
  static const std::vector<Advisory> list = {
      {"bubblewrap", "CVE-2020-5291", "a set-uid bwrap gives root to its users", {"0.4.1"}},
      {"git",
       "CVE-2022-24765",
       "commands run by the settings of another user's repository",
       {"2.30.3", "2.31.2", "2.32.1", "2.33.2", "2.34.2", "2.35.2"}},
      {"git",
       "CVE-2024-32002",
       "cloning with submodules runs a hook of the repository",
       {"2.39.4", "2.40.2", "2.41.1", "2.42.2", "2.43.4", "2.44.1", "2.45.1"}},
      {"git",
       "CVE-2025-48384",
       "cloning with submodules writes a hook through a carriage return",
       {"2.43.7", "2.44.4", "2.45.4", "2.46.4", "2.47.3", "2.48.2", "2.49.1", "2.50.1"}},
  };
  return list;
}

bool is_affected(const Advisory& advisory, std::string_view version) {
  for (std::string_view fixed : advisory.fixed_in)
    if (same_line(version, fixed)) return is_older_version(version, fixed);
  return is_older_version(version, advisory.fixed_in.back());
}

std::string first_line_in(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool exists(const char* path) {
  return access(path, F_OK) == 0;
}

ProbeItem apparmor_item(const Probe& probe, const std::string& libexec_dir) {
  ProbeItem item{.name = "apparmor", .available = true, .detail = "does not restrict user namespaces", .fix = {}};
  if (first_line_in("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") != "1") return item;
  item.detail = "restricts user namespaces; a profile lets the sandbox make them";
  if (probe.available) return item;
  item.available = false;
  item.detail = "restricts user namespaces, and no profile lets the sandbox make them";
  item.fix = apparmor_command(libexec_dir + "/escrow-launcher",
                              probe.bwrap_path.empty() ? "/usr/bin/bwrap" : probe.bwrap_path);
  return item;
}

/// The outer container's name, or nothing.
std::string container() {
  if (getenv("ESCROW") && exists("/run/escrow/runner")) return "a sandbox of Escrow";
  if (exists("/.dockerenv")) return "Docker";
  if (exists("/run/.containerenv")) return "Podman";
  if (const char* name = getenv("container")) return name;
  return {};
}

ProbeItem container_item(const Probe& probe, const std::string& outer) {
  const bool forbids = probe.reason == ProbeReason::nested_container || probe.reason == ProbeReason::userns_off;
  ProbeItem item{.name = "container", .available = !forbids, .detail = "inside " + outer, .fix = {}};
  if (!forbids) return item;
  item.detail += ", which forbids namespaces";
  if (outer == "Docker" || outer == "Podman")
    item.fix = std::string(outer == "Docker" ? "docker" : "podman") +
               " run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
               "systempaths=unconfined IMAGE";
  else
    item.detail += ": run Escrow outside of it";
  return item;
}

/// `git version 2.39.5` and `git version 2.39.5 (Apple Git-154)` → `2.39.5`.
std::string git_version() {
  for (const char* git : {"/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git"}) {
    if (!exists(git)) continue;
    std::istringstream words(output_of(git, {"git", "--version"}));
    std::string word;
    words >> word >> word >> word;
    return word;
  }
  return {};
}

ProbeItem git_item() {
  const std::string version = git_version();
  if (version.empty())
    return {.name = "git",
            .available = false,
            .detail = "not in the usual places; workspaces are judged without its history",
            .fix = install_command(os_release(), "git")};
  ProbeItem item{.name = "git", .available = true, .detail = version, .fix = {}};
  const std::vector<std::string> known = advisories_for("git", version);
  for (const std::string& advisory : known) item.detail += "; " + advisory;
  if (known.empty()) return item;
  item.detail += " (your distribution may have mended it under this number)";
  item.fix = install_command(os_release(), "git");
  return item;
}

std::string field_of(std::string_view os_release, std::string_view name) {
  std::istringstream lines{std::string(os_release)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(std::string(name) + "=")) continue;
    std::string value = line.substr(name.size() + 1);
    std::erase(value, '"');
    return value;
  }
  return {};
}

struct Installer {
  std::string_view system, command;
};
constexpr std::array kInstallers = {
    Installer{"debian", "sudo apt-get install "},  Installer{"ubuntu", "sudo apt-get install "},
    Installer{"fedora", "sudo dnf install "},      Installer{"rhel", "sudo dnf install "},
    Installer{"arch", "sudo pacman -S "},          Installer{"suse", "sudo zypper install "},
    Installer{"opensuse", "sudo zypper install "}, Installer{"alpine", "sudo apk add "},
    Installer{"void", "sudo xbps-install "},       Installer{"gentoo", "sudo emerge --ask "}};

}  // namespace

bool is_older_version(std::string_view version, std::string_view than) {
  auto left = numbers_of(version), right = numbers_of(than);
  left.resize(4);
  right.resize(4);
  return left < right;
}

std::vector<std::string> advisories_for(std::string_view program, std::string_view version) {
  std::vector<std::string> found;
  if (numbers_of(version).empty()) return found;
  for (const Advisory& advisory : advisories())
    if (advisory.program == program && is_affected(advisory, version))
      found.push_back(std::string(advisory.id) + ": " + std::string(advisory.what));
  return found;
}

std::string install_command(std::string_view os_release, std::string_view package) {
  std::istringstream names(field_of(os_release, "ID") + " " + field_of(os_release, "ID_LIKE"));
  for (std::string name; names >> name;)
    for (const Installer& installer : kInstallers)
      if (name == installer.system || name.starts_with(std::string(installer.system) + "-"))
        return std::string(installer.command) + std::string(package);
  return {};
}

std::string apparmor_command(std::string_view launcher, std::string_view bwrap) {
  const auto profile = [](std::string_view name, std::string_view path) {
    return "'profile " + std::string(name) + " \"" + std::string(path) + "\" flags=(unconfined) { userns, }' ";
  };
  return "printf '%s\\n' 'abi <abi/4.0>,' 'include <tunables/global>' " + profile("escrow-launcher", launcher) +
         profile("escrow-bwrap", bwrap) +
         "| sudo tee /etc/apparmor.d/escrow && sudo apparmor_parser -r /etc/apparmor.d/escrow";
}

std::string os_release() {
  std::ifstream file("/etc/os-release");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<ProbeItem> host_advice(const Probe& probe, const std::string& libexec_dir) {
  std::vector<ProbeItem> items;
  if (exists("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"))
    items.push_back(apparmor_item(probe, libexec_dir));
  if (const std::string outer = container(); !outer.empty()) items.push_back(container_item(probe, outer));
  items.push_back(git_item());
  return items;
}

}  // namespace escrow::sandbox
