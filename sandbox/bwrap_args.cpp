#include "sandbox/bwrap_args.h"

#include <initializer_list>

namespace escrow::sandbox {
namespace {

using Args = std::vector<std::string>;

void add(Args& args, std::initializer_list<std::string> more) {
  args.insert(args.end(), more);
}

void add_tmpfs(Args& args, const char* mode, std::uint64_t bytes, const std::string& path) {
  add(args, {"--perms", mode, "--size", std::to_string(bytes), "--tmpfs", path});
}

void add_privileges(Args& args) {
  add(args, {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"});
  add(args, {"--disable-userns", "--new-session", "--die-with-parent", "--as-pid-1", "--clearenv"});
  add(args, {"--cap-drop", "ALL", "--hostname", "escrow", "--seccomp", std::to_string(kSeccompFd)});
}

void add_root(Args& args, const HostFacts& facts) {
  for (const RootEntry& root : facts.roots) {
    if (root.link_target.empty())
      add(args, {"--ro-bind", root.path, root.path});
    else
      add(args, {"--symlink", root.link_target, root.path});
  }
  for (const std::string& path : facts.blank_files) add(args, {"--ro-bind", facts.scaffold + "/blank", path});
  for (const std::string& path : facts.blank_directories) add(args, {"--ro-bind", facts.scaffold + "/blank.d", path});
  if (!facts.resolv_conf.empty()) add(args, {"--ro-bind", facts.scaffold + "/resolv.conf", facts.resolv_conf});
}

void add_kernel_trees(Args& args, const HostFacts& facts) {
  add(args, {"--dev", "/dev"});
  add_tmpfs(args, "1777", facts.tmp_bytes / 4, "/dev/shm");
  add(args, {"--remount-ro", "/dev", "--proc", "/proc"});
  for (const std::string& path : facts.proc_read_only) add(args, {"--ro-bind", path, path});
}

void add_home(Args& args, const HostFacts& facts) {
  if (facts.home.empty()) return;
  add_tmpfs(args, "0700", facts.tmp_bytes / 2, facts.home);
  for (std::size_t i = 0; i < facts.home_overlays.size(); ++i)
    add(args, {"--bind", facts.scaffold + "/home/" + std::to_string(i), facts.home_overlays[i]});
}

}  // namespace

std::vector<std::string> bwrap_args(const Profile& profile, const HostFacts& facts) {
  Args args;
  add_privileges(args);
  add_root(args, facts);
  add_kernel_trees(args, facts);
  add_tmpfs(args, "1777", facts.tmp_bytes, "/tmp");
  add(args, {"--symlink", "../tmp", "/var/tmp"});
  add_home(args, facts);
  for (const std::string& path : facts.read_only) add(args, {"--ro-bind", path, path});
  add(args, {"--bind", facts.scaffold + "/m", profile.workspace});
  add(args, {"--ro-bind", facts.scaffold + "/runner", kRunnerPath});
  add(args, {"--remount-ro", "/", "--chdir", "/"});
  return args;
}

}  // namespace escrow::sandbox
