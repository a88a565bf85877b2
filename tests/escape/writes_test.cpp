#include <sys/stat.h>
#include <sys/xattr.h>

#include "tests/escape/escape_fixture.h"

// Attacks on what must not be written.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;
using Lines = std::vector<std::string>;

namespace {

/// A workspace and something of the person's beside it, in $OUT.
class Targets {
 public:
  explicit Targets(const TempTree& tree) : tree_(tree) {
    fs::create_directory(tree.outside() / "d");
    std::ofstream(tree.outside() / "d/f") << "mine\n";
    fs::create_symlink(tree.outside() / "d", tree.workspace() / "out");
    fs::create_symlink(tree.outside() / "d/f", tree.workspace() / "file");
  }
  std::string out() const { return (tree_.outside() / "d").string(); }
  std::vector<std::string> state() const { return snapshot(tree_.outside()); }

 private:
  const TempTree& tree_;
};

struct Vandalism {
  const char* name;
  const char* script;
};

const std::vector<Vandalism> kVandalism = {
    {"overwriting a file by its path", "echo x > $OUT/f"},
    {"overwriting a file through a symlink to it", "echo x > file"},
    {"overwriting a file through a symlink to its directory", "echo x > out/f"},
    {"creating a file through a symlink", "echo x > out/new"},
    {"overwriting a file by a path that climbs", "echo x > ../outside/d/f"},
    {"overwriting a file through the root of a process", "echo x > /proc/self/root$OUT/f"},
    {"overwriting a file through a working directory", "cd out && echo x > /proc/self/cwd/f"},
    {"overwriting a file through a descriptor", "exec 7>>$OUT/f && echo x > /proc/self/fd/7"},
    {"appending to a file", "echo x >> $OUT/f"},
    {"truncating a file", "truncate -s 0 $OUT/f"},
    {"deleting a file", "rm -f $OUT/f"},
    {"deleting a directory through a symlink", "rm -rf out/*"},
    {"deleting a directory", "rm -rf $OUT"},
    {"moving a file into the workspace", "mv $OUT/f stolen"},
    {"moving the directory above", "mv ../outside ../elsewhere"},
    {"replacing a directory by a symlink to another", "mv $OUT $OUT.old; ln -s /tmp $OUT"},
    {"making a hard link to a file and writing it", "ln $OUT/f linked && echo x > linked"},
    {"changing a file's mode", "chmod 0777 $OUT/f"},
    {"making a file set-uid", "chmod u+s $OUT/f"},
    {"changing a file's times", "touch -d 2001-01-01 $OUT/f"},
    {"making a directory that was not there and filling it", "mkdir -p $OUT/a/b && echo x > $OUT/a/b/c"},
    {"unpacking an archive that climbs",
     "mkdir a && cd a && echo x > f && tar -P --transform=s,f,$OUT/new, -cf ../t.tar f && tar -P -xf ../t.tar"},
    {"editing in place by a tool that follows links", "sed -i --follow-symlinks s/mine/yours/ file"},
    {"copying over it, attributes and all", "echo x > y && cp -af y out/f"},
};

}  // namespace

TEST_CASE("writes outside of the workspace do not reach the host") {
  for (const Vandalism& row : kVandalism) {
    INFO(row.name << ": " << row.script);
    Cage cage;
    const Targets targets(cage.tree);
    const auto before = targets.state();
    Result<Execution> result =
        cage.run({.argv = {"/bin/sh", "-c", row.script}, .cwd = {}, .env = {{"OUT", targets.out()}}});
    REQUIRE(result);
    CHECK(targets.state() == before);
    // The same, with nothing around it.
    const TempTree tree;
    const Targets real(tree);
    const auto untouched = real.state();
    const char* path = std::getenv("PATH");
    run_bare({"/bin/sh", "-c", row.script}, {std::string("PATH=") + (path ? path : ""), "OUT=" + real.out()},
             tree.workspace().string());
    const bool moved = !fs::exists(tree.outside());
    CHECK((moved || real.state() != untouched));
  }
}

TEST_CASE("the system cannot be written") {
  Cage cage;
  const Execution execution = cage.sh(
      "for d in / /usr /usr/bin /usr/local/bin /etc /etc/profile.d /etc/cron.d /opt /dev /run /run/escrow /var /lib "
      "/proc "
      "/proc/sys; do touch $d/escrow-escape 2>/dev/null && echo wrote $d; done; "
      "for f in /etc/passwd /etc/hosts /etc/resolv.conf /usr/bin/env /run/escrow/runner /etc/ld.so.preload; do "
      "(: >> $f) 2>/dev/null && echo wrote $f; done; true");
  CHECK(text(execution.out).empty());
}

TEST_CASE("the kernel's settings and devices cannot be opened for writing") {
  std::vector<Attack> table;
  for (const char* path : {"/proc/sys/kernel/core_pattern",
                           "/proc/sys/kernel/modprobe",
                           "/proc/sys/vm/overcommit_memory",
                           "/proc/sys/net/ipv4/ip_forward",
                           "/proc/sysrq-trigger",

                           "/proc/kcore",
                           "/sys/fs/cgroup/cgroup.procs",
                           "/sys/kernel/mm/transparent_hugepage/enabled",
                           "/sys/power/state",
                           "/dev/mem",
                           "/dev/kmsg",
                           "/dev/sda",
                           "/dev/vda",
                           "/dev/fuse",
                           "/dev/kvm",
                           "/dev/loop-control",
                           "/dev/vhost-vsock",
                           "/dev/userfaultfd",
                           "/dev/tty0",
                           "/dev/snapshot"})
    table.push_back({path, std::string("open-to-write=") + path, "EACCES|EPERM|EROFS|ENOENT", Control::harmful,
                     "it is the host's own"});
  table.push_back({"a control group of its own", "make-directory=/sys/fs/cgroup/escrow-escape", "ENOENT|EROFS|EACCES",
                   Control::harmful, "it would be the host's"});
  check_attacks(table);
}

TEST_CASE("a guest that makes devices of its own gets none that works") {
  AttackedCage cage;
  for (const char* directory : {"", "/tmp", "/dev/shm"}) {
    const std::string place = *directory ? directory : cage.profile.workspace;
    for (const char* device : {"make-memory-device=", "make-disk=", "make-terminal-device="})
      check_attack(
          cage, {"a device of its own", device + place, "EPERM|EACCES", Control::harmful, "the device would be real"});
  }
}

TEST_CASE("a guest that mounts, unmounts or changes root is refused") {
  check_attacks({
      {"a file system of its own over a directory", "mount-tmpfs=/mnt", "EPERM", Control::namespaces},
      {"a second /proc", "mount-proc=/mnt", "EPERM", Control::namespaces},
      {"the root again, elsewhere", "bind-mount=/mnt", "EPERM", Control::namespaces},
      {"making the system writable", "remount-writable=/usr", "EPERM", Control::namespaces, "ok|EINVAL"},
      {"uncovering what a mount hides", "umount=/mnt", "EPERM", Control::namespaces},
      {"uncovering the password file", "umount-only=/etc/shadow", "EPERM", Control::harmful, "nothing lies over it"},
      {"another root by pivot_root", "pivot-root=/tmp", "EPERM", Control::namespaces, "ok|EINVAL"},
      {"another root by chroot", "chroot=/tmp", "EPERM", Control::namespaces},
      {"a file system by the new interface", "fsopen", "ENOSYS", Control::namespaces},
      {"a copy of a mount by the new interface", "open-tree=/", "ENOSYS", Control::namespaces, "ok|EINVAL"},
      {"moving a mount by the new interface", "move-mount=/mnt", "ENOSYS", Control::namespaces, "ok|EINVAL"},
      {"reconfiguring a mount by the new interface", "fspick=/", "ENOSYS", Control::namespaces},
      {"a directory by its handle, past all above it", "open-by-handle=/usr", "EPERM"},
  });
}

TEST_CASE("what is written to /tmp and HOME is thrown away") {
  Cage cage;
  cage.sh(
      "echo x > /tmp/escrow-escape; echo x > \"$HOME/escrow-escape\"; echo x > /dev/shm/escrow-escape; echo x > "
      "/var/tmp/escrow-escape; echo 'touch x' >> \"$HOME/.bashrc\"; mkdir -p \"$HOME/.config/autostart\"");
  CHECK_FALSE(fs::exists("/tmp/escrow-escape"));
  CHECK_FALSE(fs::exists("/dev/shm/escrow-escape"));
  CHECK_FALSE(fs::exists("/var/tmp/escrow-escape"));
  if (const char* home = std::getenv("HOME")) CHECK_FALSE(fs::exists(fs::path(home) / "escrow-escape"));
  CHECK(text(cage.sh("ls /tmp/escrow-escape \"$HOME/escrow-escape\" /dev/shm/escrow-escape 2>/dev/null").out).empty());
}

TEST_CASE("a guest that forges the overlay's own marks hides and shows nothing") {
  AttackedCage cage;
  cage.tree.write("dir/kept", "x\n");
  cage.tree.write("dir/.env", canary());
  // In one run: a mark that took would make the directory look replaced, and `kept` deleted; or uncover what is masked.
  const Execution execution = cage.sh(
      "for mark in opaque redirect metacopy whiteout trusted capability immutable; do ./attacker mark-$mark=$PWD/dir; "
      "./attacker mark-$mark=$PWD/dir/kept; done >/dev/null; touch dir/new; mknod gone c 0 0; mknod dir/.env c 0 0; "
      "mkdir moved; mv dir/kept moved; mv moved/kept dir; ls -A dir; cat dir/.env");
  CHECK(text(execution.out) == "kept\nnew\n");
  CHECK(text(execution.err).find(canary()) == std::string::npos);
  for (const TreeChange& change : execution.changes.changes) {
    CHECK(change.path != "gone");
    CHECK(change.after.kind != EntryKind::absent);
    CHECK(change.before.content.find(canary()) == std::string::npos);
  }
  CHECK(cage.tree.read("dir/kept") == "x\n");
}

TEST_CASE("a repository that brings the overlay's marks along hides and shows nothing") {
  Cage cage;
  cage.tree.write("dir/kept", "x\n");
  for (const char* name :
       {"user.overlay.opaque", "user.overlay.redirect", "user.overlay.metacopy", "user.overlay.origin"})
    if (setxattr((cage.tree.workspace() / "dir").c_str(), name, "y", 1, 0) != 0)
      skipped(name, "no user attributes on this file system");
  cage.tree.write("dir/.env", canary());
  const Execution execution = cage.sh("cat dir/kept; cat dir/.env; echo y > dir/new");
  CHECK(text(execution.out) == "x\n");
  CHECK(summary(execution.changes) == Lines{"A dir/new"});
}

TEST_CASE("in direct mode what steers other programs cannot be written, renamed, replaced or linked away") {
  for (const Vandalism& row : std::vector<Vandalism>{
           {"a hook", "echo x > .git/hooks/pre-commit"},
           {"a hook by another spelling", "echo x > ./.git/../.git/hooks//pre-commit"},
           {"git's configuration", "echo x >> .git/config"},
           {"git's configuration by renaming over it", "echo x > c; mv -f c .git/config"},
           {"git's configuration by renaming the directory above", "mv .git moved && echo x >> moved/config"},
           {"git's configuration by removing it", "rm -rf .git/config; echo x > .git/config"},
           {"a hook of a nested repository", "echo x > sub/.git/hooks/pre-commit"},
           {"a hook of a nested repository by renaming it", "mv sub moved && echo x > moved/.git/hooks/pre-commit"},
           {"where a worktree's repository lies", "echo 'gitdir: /tmp' > tree/.git"},
           {"an editor's settings", "echo x > .vscode/settings.json"},
           {"an agent's instructions", "echo x >> CLAUDE.md"},
           {"an agent's instructions through a hard link", "ln CLAUDE.md c && echo x >> c"},
           {"Escrow's own policy", "echo x >> .escrow/policy.yaml"},
       }) {
    INFO(row.name << ": " << row.script);
    const auto lay = [](const TempTree& tree) {
      for (const char* file :
           {".git/hooks/pre-commit", ".git/config", ".git/HEAD", "sub/.git/hooks/pre-commit", "sub/.git/config",
            "tree/.git", ".vscode/settings.json", "CLAUDE.md", ".escrow/policy.yaml"})
        tree.write(file, "mine\n");
    };
    const auto guarded = [](const TempTree& tree) {
      std::string all;
      for (const char* file : {".git/hooks/pre-commit", ".git/config", "sub/.git/hooks/pre-commit", "tree/.git",
                               ".vscode/settings.json", "CLAUDE.md", ".escrow/policy.yaml"})
        all += tree.read(file) + "|";
      return all;
    };
    Cage cage;
    cage.profile.writable = Writable::direct;
    lay(cage.tree);
    const std::string before = guarded(cage.tree);
    cage.sh(row.script);
    CHECK(guarded(cage.tree) == before);
    const TempTree tree;
    lay(tree);
    run_bare({"/bin/sh", "-c", row.script}, {"PATH=/usr/bin:/bin"}, tree.workspace().string());
    CHECK(guarded(tree) != before);
  }
}

TEST_CASE("nothing is created in the workspace, beside it, in HOME or /tmp by an execution") {
  Cage cage;
  cage.tree.write("a/b/c", "x\n");
  const auto before = snapshot(cage.tree.workspace());
  const auto names = [](const fs::path& directory) {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory)) found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    return found;
  };
  const char* home = std::getenv("HOME");
  const auto beside = names(cage.tree.workspace().parent_path());
  const auto at_home = names(home ? home : "/");
  cage.sh("touch x; mkdir -p .git/hooks .vscode; touch \"$HOME/y\" .bashrc");
  CHECK(snapshot(cage.tree.workspace()) == before);
  auto beside_after = names(cage.tree.workspace().parent_path());
  std::erase(beside_after, cage.tree.state().string());
  CHECK(beside_after == beside);
  CHECK(names(home ? home : "/") == at_home);
}
