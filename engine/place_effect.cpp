#include <array>

#include "engine/command_signals.h"

// What reading, writing or removing means by place. Commands and file tools share these tables.

namespace escrow::engine {
namespace {

constexpr CategorySet kEscape = bit(Category::path_escape);

bool is_outside(Zone zone) {
  switch (zone) {
    case Zone::workspace:
    case Zone::workspace_root:
    case Zone::scratch:
    case Zone::quiet_device:
    case Zone::unknown:
      return false;
    case Zone::above:
    case Zone::socket_device:
    case Zone::block_device:
    case Zone::documentation:
    case Zone::system:
    case Zone::home:
    case Zone::home_root:
    case Zone::filesystem_root:
      return true;
  }
  return true;
}

CategorySet with_escape(CategorySet set, const Target& target) {
  return is_outside(target.zone) ? set | kEscape : set;
}

bool in_git_directory(std::string_view path) {
  return path.starts_with(".git/") || path.find("/.git/") != std::string_view::npos;
}

PlaceEffect read_by_zone(const Target& target) {
  switch (target.zone) {
    case Zone::workspace:
    case Zone::workspace_root:
    case Zone::scratch:
    case Zone::quiet_device:
    case Zone::documentation:
    case Zone::unknown:
      return {Level::none, bit(Category::read_only), "reads the workspace"};
    case Zone::socket_device:
      return {Level::high, bit(Category::network), "opens a network connection through the shell"};
    case Zone::block_device:
      return {Level::high, Category::credential_access | Category::path_escape, "reads a raw device"};
    case Zone::system:
      if (target.path.ends_with("/environ") || target.path.ends_with("/mem")) {
        return {Level::high, Category::credential_access | Category::path_escape,
                "reads the environment or memory of a process"};
      }
      return {Level::medium, kEscape, "reads outside the workspace: " + target.path};
    case Zone::above:
    case Zone::home:
    case Zone::home_root:
    case Zone::filesystem_root:
      return {Level::medium, kEscape, "reads outside the workspace: " + target.path};
  }
  return {};
}

PlaceEffect write_by_zone(const Target& target) {
  switch (target.zone) {
    case Zone::workspace:
    case Zone::workspace_root:
    case Zone::scratch:
    case Zone::unknown:
      return {Level::low, bit(Category::workspace_write), "writes files in the workspace"};
    case Zone::quiet_device:
      return {};
    case Zone::socket_device:
      return {Level::critical, Category::exfiltration | Category::network, "sends data through a network device"};
    case Zone::block_device:
      return {Level::critical, Category::destructive | Category::path_escape, "overwrites a device: " + target.path};
    case Zone::above:
    case Zone::home:
    case Zone::home_root:
      return {Level::medium, kEscape, "writes outside the workspace: " + target.path};
    case Zone::documentation:
    case Zone::system:
    case Zone::filesystem_root:
      if (target.path == "/proc/sysrq-trigger")
        return {Level::critical, Category::system | Category::path_escape, "crashes or restarts the machine"};
      return {Level::high, kEscape, "writes a system path: " + target.path};
  }
  return {};
}

/// `/etc`, `/usr`: a directory at the top as a whole.
bool is_top_directory(std::string_view path) {
  return path.size() > 1 && path.front() == '/' && path.find('/', 1) == std::string_view::npos && path != "/tmp";
}

bool looks_like_file(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name.find('.', 1) != std::string_view::npos;
}

PlaceEffect remove_in_workspace(const Target& target, Reach reach) {
  constexpr CategorySet kDelete = Category::destructive | Category::workspace_write;
  if (target.zone == Zone::workspace_root) {
    return {Level::high, bit(Category::destructive), "deletes the whole workspace"};
  }
  if (is_artefact(target.path)) return {Level::low, kDelete, "deletes build output"};
  if (target.wide || (reach == Reach::tree && !looks_like_file(target.path))) {
    return {Level::medium, bit(Category::destructive), "deletes a directory of the workspace: " + target.path};
  }
  return {Level::low, kDelete, "deletes a file of the workspace"};
}

PlaceEffect remove_by_zone(const Target& target, Reach reach) {
  constexpr CategorySet kBoth = Category::destructive | Category::path_escape;
  const bool tree = reach == Reach::tree || target.wide;
  switch (target.zone) {
    case Zone::workspace:
    case Zone::workspace_root:
      return remove_in_workspace(target, reach);
    case Zone::scratch:
      if (target.wide && target.path == "/tmp") return {Level::medium, kBoth, "empties the scratch directory"};
      return {Level::low, bit(Category::destructive), "deletes scratch files"};
    case Zone::quiet_device:
    case Zone::socket_device:
    case Zone::block_device:
      return {Level::critical, kBoth, "deletes a device"};
    case Zone::filesystem_root:
    case Zone::home_root:
      return {Level::critical, kBoth, "wipes " + (target.path.empty() ? std::string("/") : target.path)};
    case Zone::documentation:
    case Zone::system:
      if (tree && is_top_directory(target.path)) return {Level::critical, kBoth, "wipes " + target.path};
      return {Level::high, kBoth, "deletes a system path: " + target.path};
    case Zone::above:
    case Zone::home:
      return {tree ? Level::high : Level::medium, kBoth, "deletes outside the workspace: " + target.path};
    case Zone::unknown:
      if (target.wide)
        return {Level::high, bit(Category::destructive), "deletes everything below a path that is not known"};
      if (reach == Reach::tree) return {Level::medium, bit(Category::destructive), "deletes a path that is not known"};
      return {Level::low, Category::destructive | Category::workspace_write, "deletes a file"};
  }
  return {};
}

}  // namespace

PlaceEffect effect_of_read(const Target& target) {
  switch (target.ward) {
    case Ward::secret:
      if (is_outside(target.zone)) {
        return {Level::high, Category::credential_access | Category::path_escape,
                "reads a key or credential: " + target.path};
      }
      return {Level::medium, bit(Category::credential_access), "reads a secret file: " + target.path};
    case Ward::privilege_file:
      if (target.path.starts_with("/etc/passwd") || target.path.starts_with("/etc/group")) return read_by_zone(target);
      return {Level::high, Category::credential_access | Category::path_escape,
              "reads a password or rights file: " + target.path};
    case Ward::none:
    case Ward::template_file:
    case Ward::git_dir:
    case Ward::git_hook:
    case Ward::git_config:
    case Ward::shell_rc:
    case Ward::login_keys:
    case Ward::autostart:
    case Ward::loader_file:
    case Ward::agent_settings:
    case Ward::agent_text:
    case Ward::editor_settings:
    case Ward::guard:
      return read_by_zone(target);
  }
  return {};
}

PlaceEffect effect_of_write(const Target& target) {
  const std::string& path = target.path;
  switch (target.ward) {
    case Ward::guard:
      return {Level::critical, bit(Category::guard_tamper), "changes the guard's own policy or state: " + path};
    case Ward::git_hook:
      return {Level::high, with_escape(bit(Category::persistence), target), "plants a git hook: " + path};
    case Ward::git_config:
      return {Level::high, with_escape(bit(Category::env_hijack), target), "changes what git runs: " + path};
    case Ward::git_dir:
      return {Level::high, bit(Category::destructive), "overwrites the repository's own data: " + path};
    case Ward::shell_rc:
      return {Level::high, with_escape(bit(Category::persistence), target),
              "changes a file that shells run at start: " + path};
    case Ward::login_keys:
      return {Level::high, with_escape(bit(Category::persistence), target), "changes who may log in: " + path};
    case Ward::autostart:
      return {Level::high, with_escape(bit(Category::persistence), target),
              "adds something that starts by itself: " + path};
    case Ward::privilege_file:
      return {Level::high, with_escape(bit(Category::privilege), target), "changes accounts or rights: " + path};
    case Ward::loader_file:
      return {Level::high, Category::env_hijack | Category::path_escape | Category::persistence,
              "changes what every program loads: " + path};
    case Ward::agent_settings:
      return {Level::high, Category::guard_tamper | Category::workspace_write,
              "changes an agent's permissions or hooks: " + path};
    case Ward::agent_text:
      return {Level::medium, Category::guard_tamper | Category::workspace_write,
              "changes the instructions agents follow: " + path};
    case Ward::editor_settings:
      return {Level::medium, Category::persistence | Category::workspace_write,
              "changes what the editor runs: " + path};
    case Ward::secret:
      if (is_outside(target.zone)) {
        return {Level::high, Category::credential_access | Category::path_escape,
                "changes a key or credential: " + path};
      }
      return write_by_zone(target);
    case Ward::none:
    case Ward::template_file:
      if (in_git_directory(path)) {
        return {Level::high, bit(Category::destructive), "overwrites the repository's own data: " + path};
      }
      return write_by_zone(target);
  }
  return {};
}

PlaceEffect effect_of_removal(const Target& target, Reach reach) {
  switch (target.ward) {
    case Ward::guard:
      return {Level::critical, bit(Category::guard_tamper), "removes the guard's own policy or state: " + target.path};
    case Ward::git_dir:
      return {Level::high, bit(Category::destructive), "destroys the repository's history"};
    case Ward::git_hook:
      return {Level::medium, Category::guard_tamper | Category::destructive, "removes a git hook: " + target.path};
    case Ward::agent_settings:
      return {Level::high, Category::guard_tamper | Category::destructive,
              "removes an agent's permissions: " + target.path};
    case Ward::none:
    case Ward::secret:
    case Ward::template_file:
    case Ward::git_config:
    case Ward::shell_rc:
    case Ward::login_keys:
    case Ward::autostart:
    case Ward::privilege_file:
    case Ward::loader_file:
    case Ward::agent_text:
    case Ward::editor_settings:
      break;
  }
  if (in_git_directory(target.path))
    return {Level::high, bit(Category::destructive), "destroys the repository's own data"};
  PlaceEffect effect = remove_by_zone(target, reach);
  // Ignored by git, so git cannot bring it back.
  if (target.ward == Ward::secret && effect.level < Level::medium) effect.level = Level::medium;
  return effect;
}

}  // namespace escrow::engine
