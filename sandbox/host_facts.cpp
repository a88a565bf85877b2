#include "sandbox/host_facts.h"

#include <pwd.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "sandbox/path_pattern.h"

namespace escrow::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::array kRoots = {"/usr",   "/bin",    "/sbin", "/lib",       "/lib32",
                               "/lib64", "/libx32", "/opt",  "/nix/store", "/etc"};

constexpr std::array kBlankFiles = {"/etc/shadow",  "/etc/shadow-",          "/etc/gshadow",    "/etc/gshadow-",
                                    "/etc/sudoers", "/etc/security/opasswd", "/etc/krb5.keytab"};
constexpr std::array kBlankDirectories = {
    "/etc/ssl/private", "/etc/sudoers.d",  "/etc/pki/tls/private", "/etc/NetworkManager/system-connections",
    "/etc/wireguard",   "/etc/kubernetes", "/etc/rancher"};

// Writable, by file mode, for the host's root, whatever its capabilities: outside a container's reach otherwise.
constexpr std::array kProcReadOnly = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq",  "/proc/bus",
                                      "/proc/fs",  "/proc/acpi",          "/proc/mtrr", "/proc/dynamic_debug"};

constexpr std::array kToolDirectories = {".cargo",
                                         ".rustup",
                                         ".nvm",
                                         ".pyenv",
                                         ".rbenv",
                                         ".sdkman",
                                         ".asdf",
                                         ".deno",
                                         ".bun",
                                         ".volta",
                                         ".ghcup",
                                         ".juliaup",
                                         ".elan",
                                         ".opam",
                                         ".fnm",
                                         "go",
                                         "sdk",
                                         ".local/bin",
                                         ".local/lib",
                                         ".local/pipx",
                                         ".local/share/pipx",
                                         ".local/share/mise",
                                         ".local/share/pnpm",
                                         ".local/share/uv",
                                         ".local/share/fnm",
                                         ".local/share/rtx",
                                         "bin",
                                         "miniconda3",
                                         "anaconda3"};

constexpr std::array kSystem = {"/",      "/bin", "/boot",      "/dev", "/etc",  "/lib",  "/lib32",
                                "/lib64", "/nix", "/nix/store", "/opt", "/proc", "/root", "/run",
                                "/sbin",  "/sys", "/tmp",       "/usr", "/var",  "/home"};

constexpr std::array kScaffolds = {"/sys", "/mnt", "/srv", "/media", "/boot"};

bool is_directory(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_file(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

/// May the guest enter every directory down to `path` and read it? Asked when the guest is another user than we are.
bool guest_reaches(const std::string& path, const GuestIdentity& guest) {
  if (guest.uid == geteuid()) return access(path.c_str(), R_OK | X_OK) == 0;
  fs::path at;
  for (const fs::path& part : fs::path(path)) {
    at /= part;
    struct stat info {};
    if (stat(at.c_str(), &info) != 0) return false;
    const unsigned shift = info.st_uid == guest.uid ? 6 : info.st_gid == guest.gid ? 3 : 0;
    if (((info.st_mode >> shift) & 1) == 0) return false;
  }
  return true;
}

std::vector<RootEntry> existing_roots() {
  std::vector<RootEntry> roots;
  for (const char* path : kRoots) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (fs::is_symlink(status))
      roots.push_back({path, fs::read_symlink(path, error).string()});
    else if (fs::is_directory(status))
      roots.push_back({path, {}});
  }
  return roots;
}

template <class List, class Predicate>
std::vector<std::string> those_that(const List& paths, Predicate predicate) {
  std::vector<std::string> found;
  for (const char* path : paths)
    if (predicate(std::string(path))) found.emplace_back(path);
  return found;
}

std::vector<std::string> blank_files() {
  std::vector<std::string> found = those_that(kBlankFiles, is_file);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/etc/ssh", error)) {
    const std::string name = entry.path().filename().string();
    if (matches_glob("ssh_host_*_key", name) && is_file(entry.path().string())) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// PATH entries that lie in HOME, so that what the person installed there can be called.
std::vector<std::string> path_entries(const std::string& home) {
  std::vector<std::string> entries;
  const char* path = getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    std::string entry = fs::path(rest.substr(0, colon)).lexically_normal().string();
    while (entry.size() > 1 && entry.back() == '/') entry.pop_back();
    if (lies_within(entry, home) && entry != home) entries.push_back(std::move(entry));
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  return entries;
}

std::vector<std::string> tool_directories(const Profile& profile, const GuestIdentity& guest,
                                          const std::string& state_dir) {
  std::vector<std::string> candidates;
  for (const char* name : kToolDirectories) candidates.push_back(guest.home + "/" + name);
  for (std::string& entry : path_entries(guest.home)) candidates.push_back(std::move(entry));
  std::sort(candidates.begin(), candidates.end());
  std::vector<std::string> chosen;
  for (const std::string& path : candidates) {
    const bool covered = std::any_of(chosen.begin(), chosen.end(), [&](const auto& c) { return lies_within(path, c); });
    const bool near_workspace = lies_within(path, profile.workspace) || lies_within(profile.workspace, path);
    if (covered || near_workspace || lies_within(state_dir, path) || secrecy_of(path.substr(1)) != Secrecy::open)
      continue;
    std::error_code error;
    if (fs::canonical(path, error) != path || !is_directory(path) || !guest_reaches(path, guest)) continue;
    chosen.push_back(path);
  }
  return chosen;
}

std::string first_line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The value of `core.worktree`, as git writes it into a submodule's configuration.
std::string configured_worktree(const fs::path& config) {
  std::ifstream file(config);
  for (std::string line; std::getline(file, line);) {
    const std::size_t start = line.find_first_not_of(" \t"), equals = line.find('=');
    if (start == std::string::npos || equals == std::string::npos || line.compare(start, 8, "worktree") != 0) continue;
    const std::size_t value = line.find_first_not_of(" \t", equals + 1);
    return value == std::string::npos ? std::string() : line.substr(value);
  }
  return {};
}

/// Does the git directory, for its part, name this workspace? The workspace's `.git` file is the repository's to write,
/// and may name any repository of the person; what git laid out over there is not.
bool names_workspace(const fs::path& directory, const fs::path& workspace) {
  const auto is = [&](const fs::path& named, const fs::path& expected) {
    std::error_code error;
    return !named.empty() && fs::canonical(directory / named, error) == expected && !error;
  };
  return is(first_line_of(directory / "gitdir"), workspace / ".git") ||
         is(configured_worktree(directory / "config"), workspace);
}

/// A worktree's or submodule's `.git` file names a directory outside: git needs to read it.
std::optional<std::string> outer_git_directory(const std::string& workspace) {
  const std::string line = is_file(workspace + "/.git") ? first_line_of(workspace + "/.git") : std::string();
  if (!line.starts_with("gitdir: ")) return std::nullopt;
  std::error_code error;
  fs::path directory = fs::canonical(fs::path(workspace) / line.substr(8), error);
  if (error || !fs::is_regular_file(directory / "HEAD", error) || !names_workspace(directory, workspace))
    return std::nullopt;
  if (const std::string common = first_line_of(directory / "commondir"); !common.empty())
    directory = fs::canonical(directory / common, error);
  if (error || !fs::is_directory(directory / "objects", error) || !fs::is_directory(directory / "refs", error))
    return std::nullopt;
  return directory.string();
}

std::vector<std::string> read_only_paths(const Profile& profile, const GuestIdentity& guest,
                                         const std::string& state_dir) {
  std::vector<std::string> paths;
  for (const std::string& path : profile.read) paths.push_back(path);
  if (std::optional<std::string> git = outer_git_directory(profile.workspace)) paths.push_back(*git);
  std::erase_if(paths, [&](const std::string& path) {
    std::error_code error;
    return fs::canonical(path, error) != path || lies_within(path, profile.workspace) ||
           lies_within(profile.workspace, path) || lies_within(state_dir, path) || lies_within(path, state_dir) ||
           !guest_reaches(path, guest);
  });
  return paths;
}

/// A directory that exists everywhere and that the sandbox never shows. Covered in the launcher's own mount namespace
/// only: on the host nothing changes.
std::string scaffold_for(const Profile& profile) {
  for (const char* path : kScaffolds) {
    const bool wanted = std::any_of(profile.read.begin(), profile.read.end(),
                                    [&](const std::string& read) { return lies_within(read, path); });
    if (is_directory(path) && !wanted && !lies_within(profile.workspace, path)) return path;
  }
  return {};
}

std::string real_resolv_conf() {
  std::error_code error;
  if (!fs::exists(fs::symlink_status("/etc/resolv.conf", error))) return {};
  return fs::weakly_canonical("/etc/resolv.conf", error).string();
}

}  // namespace

bool lies_within(const std::string& path, const std::string& root) {
  if (root == "/") return path.starts_with('/');
  return path == root || (path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/');
}

std::uint64_t memory_limit(const Limits& limits) {
  struct sysinfo info {};
  sysinfo(&info);
  const std::uint64_t half = std::uint64_t{info.totalram} * info.mem_unit / 2;
  const std::uint64_t most = std::min<std::uint64_t>(4ull << 30, half);
  return limits.memory_bytes == 0 ? most : limits.memory_bytes;
}

GuestIdentity guest_identity(const std::string& workspace) {
  GuestIdentity guest{.uid = geteuid(), .gid = getegid(), .name = {}, .home = {}};
  struct stat info {};
  if (guest.uid == 0 && stat(workspace.c_str(), &info) == 0 && info.st_uid != 0) {
    guest.uid = info.st_uid;
    guest.gid = info.st_gid;
  }
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> buffer{};
  getpwuid_r(guest.uid, &entry, buffer.data(), buffer.size(), &found);
  const char* own_home = guest.uid == geteuid() ? getenv("HOME") : nullptr;
  std::string home = own_home ? own_home : found ? found->pw_dir : "";
  std::error_code error;
  const fs::path real = fs::canonical(home, error);
  if (!error && real != "/") guest.home = real.string();
  if (found) guest.name = found->pw_name;
  if (found && guest.uid != geteuid()) guest.gid = found->pw_gid;
  return guest;
}

Result<void> check_workspace(const std::string& workspace, const GuestIdentity& guest) {
  const auto refuse = [&](const char* why) {
    return Error{ErrorKind::invalid_argument, "workspace \"" + workspace + "\": " + why};
  };
  std::error_code error;
  if (!workspace.starts_with('/') || fs::canonical(workspace, error) != workspace)
    return refuse("not the real path of a directory; pass it with symbolic links resolved");
  if (!is_directory(workspace)) return refuse("not a directory");
  if (workspace.find('\0') != std::string::npos) return refuse("contains a zero byte");
  if (std::find(kSystem.begin(), kSystem.end(), workspace) != kSystem.end())
    return refuse("a directory of the system; open the project's own directory instead");
  if (!guest.home.empty() && lies_within(guest.home, workspace))
    return refuse("contains the home directory; open the project's own directory instead");
  return {};
}

HostFacts gather_host_facts(const Profile& profile, const GuestIdentity& guest, const std::string& state_dir) {
  HostFacts facts;
  facts.scaffold = scaffold_for(profile);
  facts.roots = existing_roots();
  facts.blank_files = blank_files();
  facts.blank_directories = those_that(kBlankDirectories, is_directory);
  facts.resolv_conf = real_resolv_conf();
  if (guest.uid == 0)
    facts.proc_read_only =
        those_that(kProcReadOnly, [](const std::string& path) { return access(path.c_str(), F_OK) == 0; });
  facts.home = guest.home;
  if (!guest.home.empty()) facts.home_overlays = tool_directories(profile, guest, state_dir);
  facts.read_only = read_only_paths(profile, guest, state_dir);
  facts.tmp_bytes = memory_limit(profile.limits) / 2;
  return facts;
}

std::vector<HomeOverlay> home_overlays(const HostFacts& facts) {
  std::vector<HomeOverlay> overlays;
  for (const std::string& path : facts.home_overlays) {
    HomeOverlay overlay{.path = path, .masks = {}};
    for (const std::string& secret : home_secrets()) {
      const std::string whole = facts.home + "/" + secret;
      if (lies_within(whole, path) && whole != path) overlay.masks.push_back(whole.substr(path.size() + 1));
    }
    overlays.push_back(std::move(overlay));
  }
  return overlays;
}

}  // namespace escrow::sandbox
