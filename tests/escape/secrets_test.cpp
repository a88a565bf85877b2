#include <unistd.h>

#include "tests/escape/escape_fixture.h"

// Attacks on what must not be read.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;

namespace {

bool shows(const std::string& text_) {
  return text_.find(canary()) != std::string::npos;
}

bool shows(const Execution& execution) {
  if (shows(text(execution.out)) || shows(text(execution.err))) return true;
  return std::any_of(execution.changes.changes.begin(), execution.changes.changes.end(), [](const TreeChange& change) {
    return shows(change.before.content) || shows(change.after.content);
  });
}

/// The script's whole output must not hold the canary.
void check_hidden(Cage& cage, const std::string& script) {
  INFO(script);
  CHECK_FALSE(shows(cage.sh(script)));
}

struct Theft {
  const char* name;
  const char* script;
  const char* no_control = nullptr;  ///< why it is not shown to work without the cage
};

/// Secrets of a workspace and of a home, the same in a cage and on the host.
void lay_secrets(const TempTree& tree) {
  tree.write(".env", canary());
  tree.write("deploy/prod.tfstate", canary());
  tree.write("deploy/.aws/credentials", canary());
  tree.write("certs/server.pem", std::string("-----BEGIN ") + "PRIVATE KEY-----\n" + canary());
  fs::create_hard_link(tree.workspace() / ".env", tree.workspace() / "readme.txt");
  fs::create_symlink(".env", tree.workspace() / "link");
  fs::create_symlink(tree.workspace() / "deploy", tree.workspace() / "other");
  const fs::path home = tree.outside() / "home";
  for (const char* path : {".ssh/id_ed25519",
                           ".ssh/config",
                           ".aws/credentials",
                           ".gnupg/secring.gpg",
                           ".netrc",
                           ".npmrc",
                           ".pypirc",
                           ".git-credentials",
                           ".docker/config.json",
                           ".kube/config",
                           ".config/gh/hosts.yml",
                           ".config/gcloud/application_default_credentials.json",
                           ".bash_history",
                           ".mozilla/firefox/logins.json",
                           ".local/share/keyrings/login.keyring",
                           ".cargo/credentials.toml",
                           ".cargo/bin/tool",
                           ".claude/.credentials.json",
                           "notes.txt",
                           "projects/other/.env"}) {
    fs::create_directories((home / path).parent_path());
    std::ofstream(home / path) << (std::string(path) == ".cargo/bin/tool" ? "#!/bin/sh\necho tool\n" : canary());
  }
  fs::create_hard_link(home / ".ssh/id_ed25519", tree.workspace() / "notes.md");
  fs::create_symlink(home / ".ssh/id_ed25519", tree.workspace() / "key");
  fs::create_symlink(home / ".ssh", tree.workspace() / "keys");
}

/// HOME for as long as it lives.
class Home {
 public:
  explicit Home(const fs::path& home) : before_(std::getenv("HOME") ? std::getenv("HOME") : "") {
    setenv("HOME", home.c_str(), 1);
  }
  ~Home() { setenv("HOME", before_.c_str(), 1); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

 private:
  std::string before_;
};

const std::vector<Theft> kWorkspaceThefts = {
    {"by name", "cat .env"},
    {"by a path that climbs", "cat ./deploy/../.env"},
    {"by a symlink", "cat link"},
    {"by a hard link", "cat readme.txt"},
    {"by another program", "python3 -c \"print(open('.env').read())\""},
    {"by redirection", "cat < .env"},
    {"by blocks", "dd if=.env 2>/dev/null"},
    {"by an open path turned into an open file",
     "python3 -c \"import os; f=os.open('.env', os.O_PATH); print(open(f'/proc/self/fd/{f}').read())\""},
    {"by mapping it", "python3 -c \"import mmap; f=open('.env'); print(mmap.mmap(f.fileno(),0,prot=1)[:])\""},
    {"by copying a range in the kernel",
     "python3 -c \"import os; s=open('.env','rb'); d=open(os.environ['TMPDIR']+'/d','wb+'); "
     "os.copy_file_range(s.fileno(), d.fileno(), 100); d.seek(0); print(d.read())\""},
    {"by sending it down a pipe in the kernel",
     "python3 -c \"import os; f=open('.env','rb'); os.sendfile(1, f.fileno(), 0, 100)\" | cat"},
    {"state of infrastructure", "cat deploy/prod.tfstate"},
    {"in a hidden directory through a symlink to the one above", "cat other/.aws/credentials"},
    {"a private key among certificates", "cat certs/server.pem"},
    {"through the root of a process", "cat /proc/self/root$PWD/.env"},
    {"through the root of the first process", "cat /proc/1/root$PWD/.env", "it depends on who asks"},
    {"through the root of a task", "cat /proc/$$/task/$$/root$PWD/.env"},
    {"through a working directory", "cat /proc/self/cwd/.env"},
    {"through a descriptor of a directory", "exec 7<. && cat /proc/self/fd/7/.env"},
    {"by renaming the directory above", "mv deploy moved && cat moved/prod.tfstate moved/.aws/credentials"},
    {"by copying everything", "cp -a . $TMPDIR/copy && cat $TMPDIR/copy/.env"},
    {"by an archive", "tar cf - . | cat"},
    {"by a search", "grep -r canary ."},
    {"by a walk over all", "find . -type f -exec cat {} +"},
    {"by a new hard link", "ln .env stolen; cat stolen"},
    {"by a new name", "mv .env stolen; cat stolen"},
    {"by a new name of a second link", "mv readme.txt stolen; cat stolen"},
    {"by git's index", "git init -q .; git add -f .env; git show :.env"},
    {"by git's comparison", "git --no-pager diff --no-index /dev/null .env"},
    {"by a compiler's message", "cp .env e.c 2>/dev/null; gcc -fsyntax-only e.c; gcc -E -x c .env", nullptr},
    {"by make's inclusion", "printf 'all:\\n\\t@echo $(file < .env)\\n' > m; make -f m"},
    {"by exchanging two names",
     "python3 -c \"import ctypes, os; open('mine','w').write('x'); l=ctypes.CDLL(None, use_errno=True); "
     "l.renameat2(-100, b'.env', -100, b'mine', 2); print(open('mine').read())\""},
    {"by uncovering it: removing what hides it", "rm -rf .env; cat .env", "removed is removed"},
    {"by uncovering it: a directory in its place, taken away", "mkdir .env && rmdir .env; cat .env",
     "the name is taken"},
    {"by uncovering it: a file in its place, taken away", "echo x > .env; rm .env; cat .env", "removed is removed"},
    {"by what the mount table names",
     "tr ',: ' '\\n\\n\\n' < /proc/self/mountinfo | sed -n 's/^[a-z]*dir=//p' | while read d; do cat $d/.env "
     "$d/*/.env; "
     "done",
     "nothing is mounted there"},
    {"by the descriptors that the mount table names",
     "for f in /proc/1/fd/* /proc/self/fd/*; do cat $f/.env $f/ws/.env; done", "there is no runner"},
};

const std::vector<Theft> kHomeThefts = {
    {"an SSH key", "cat $H/.ssh/id_ed25519"},
    {"an SSH key through a symlink in the workspace", "cat key"},
    {"an SSH key through a symlink to its directory", "cat keys/id_ed25519"},
    {"an SSH key through a hard link in the workspace", "cat notes.md"},
    {"the SSH configuration", "cat $H/.ssh/config"},
    {"cloud credentials", "cat $H/.aws/credentials"},
    {"cloud credentials of another cloud", "cat $H/.config/gcloud/application_default_credentials.json"},
    {"a keyring of GnuPG", "cat $H/.gnupg/secring.gpg"},
    {"logins of the network", "cat $H/.netrc"},
    {"a token of npm", "cat $H/.npmrc"},
    {"a token of PyPI", "cat $H/.pypirc"},
    {"a token of cargo, beside the tools that are shown", "cat $H/.cargo/credentials.toml"},
    {"passwords of git", "cat $H/.git-credentials"},
    {"a token of a forge", "cat $H/.config/gh/hosts.yml"},
    {"a login of Docker", "cat $H/.docker/config.json"},
    {"a cluster's configuration", "cat $H/.kube/config"},
    {"what was typed", "cat $H/.bash_history"},
    {"passwords of a browser", "cat $H/.mozilla/firefox/logins.json"},
    {"a keyring of the desktop", "cat $H/.local/share/keyrings/login.keyring"},
    {"a token of another agent", "cat $H/.claude/.credentials.json"},
    {"a file like any other", "cat $H/notes.txt"},
    {"the environment file of another project", "cat $H/projects/other/.env"},
    {"all of it", "tar cf - $H 2>/dev/null | cat"},
    {"by way of the root of a process", "cat /proc/self/root$H/.ssh/id_ed25519"},
    {"by the name of the person", "cat ~/.ssh/id_ed25519"},
    {"by git's credential helper",
     "printf 'protocol=https\\nhost=example.test\\n\\n' | git -c credential.helper=\"!cat $H/.git-credentials\" "
     "credential "
     "fill"},
};

void check_thefts(const std::vector<Theft>& table) {
  for (const Theft& row : table) {
    INFO(row.name << ": " << row.script);
    Cage cage;
    lay_secrets(cage.tree);
    const std::string home = (cage.tree.outside() / "home").string();
    const Home as_home(home);
    Result<Execution> result = cage.run({.argv = {"/bin/sh", "-c", row.script}, .cwd = {}, .env = {{"H", home}}});
    REQUIRE(result);
    CHECK_FALSE(shows(*result));
    if (row.no_control) {
      skipped(std::string("control of: ") + row.name, row.no_control);
      continue;
    }
    const TempTree tree;
    lay_secrets(tree);
    fs::create_directory(tree.outside() / "tmp");
    const std::string real_home = (tree.outside() / "home").string();
    const char* path = std::getenv("PATH");
    CHECK(shows(run_bare({"/bin/sh", "-c", "exec 2>&1\n" + std::string(row.script)},
                         {std::string("PATH=") + (path ? path : ""), "HOME=" + real_home, "H=" + real_home,
                          "TMPDIR=" + (tree.outside() / "tmp").string()},
                         tree.workspace().string())));
  }
}

}  // namespace

TEST_CASE("a secret of the workspace cannot be read by any route") {
  check_thefts(kWorkspaceThefts);
}

TEST_CASE("a secret of the person's home cannot be read by any route") {
  check_thefts(kHomeThefts);
}

TEST_CASE("tools of the person's home work where their credentials are hidden") {
  Cage cage;
  lay_secrets(cage.tree);
  fs::permissions(cage.tree.outside() / "home/.cargo/bin/tool", fs::perms(0755));
  const Home as_home(cage.tree.outside() / "home");
  CHECK(text(cage.sh("$HOME/.cargo/bin/tool").out) == "tool\n");
}

TEST_CASE("a secret of the workspace is hidden before, while and after it is looked for") {
  Cage cage;
  cage.tree.write(".env", canary());
  check_hidden(cage,
               "i=0; while [ $i -lt 200 ]; do cat .env 2>/dev/null; cat \"$PWD/.env\" 2>/dev/null < /dev/null; "
               "i=$((i+1)); done & "
               "cat .env; sleep 0.1; cat .env; wait");
}

TEST_CASE("a secret cannot be read while the copy stands in for the overlay, nor read-only, nor direct") {
  for (const auto& [writable, overlay] :
       {std::pair{Writable::overlay, false}, {Writable::none, true}, {Writable::direct, true}}) {
    Cage cage;
    cage.options.try_overlay = overlay;
    cage.profile.writable = writable;
    cage.tree.write(".env", canary());
    cage.tree.write("sub/.ssh/id_ed25519", canary());
    fs::create_hard_link(cage.tree.workspace() / ".env", cage.tree.workspace() / "readme.txt");
    check_hidden(cage,
                 "cat .env readme.txt sub/.ssh/id_ed25519; mv sub moved; cat moved/.ssh/id_ed25519; cp -r . /tmp/c; "
                 "grep -r . /tmp/c");
    CHECK(cage.tree.read(".env") == canary());
  }
}

TEST_CASE("what a guest writes at a hidden name is reported and never mixed up with the secret") {
  Cage cage;
  cage.tree.write(".env", canary());
  const Execution execution = cage.sh("echo planted > .env; cat .env");
  CHECK(text(execution.out) == "planted\n");
  REQUIRE(execution.changes.changes.size() == 1);
  const TreeChange& change = execution.changes.changes[0];
  CHECK(change.path == ".env");
  CHECK(change.before.kind == EntryKind::absent);
  CHECK_FALSE(change.note.empty());
  CHECK(cage.tree.read(".env") == canary());
}

TEST_CASE("an example of an environment file and a certificate are no secrets") {
  Cage cage;
  cage.tree.write(".env.example", "KEY=\n");
  cage.tree.write("ca.pem", "-----BEGIN CERTIFICATE-----\n");
  CHECK(text(cage.sh("cat .env.example ca.pem").out) == "KEY=\n-----BEGIN CERTIFICATE-----\n");
}

TEST_CASE("globs of the profile hide too, and a tracked file stays visible") {
  Cage cage;
  cage.tree.write("data/private.csv", canary());
  cage.tree.write("app/.env", "tracked\n");
  cage.profile.mask = {"data/*.csv"};
  cage.profile.tracked_secrets = {"app/.env"};
  check_hidden(cage, "cat data/private.csv");
  CHECK(text(cage.sh("cat app/.env").out) == "tracked\n");
}

TEST_CASE("files of the person outside the workspace cannot be read") {
  Cage cage;
  std::ofstream(cage.tree.outside() / "secret") << canary();
  fs::create_symlink(cage.tree.outside() / "secret", cage.tree.workspace() / "link");
  const std::string outside = cage.tree.outside().string();
  for (const std::string& script :
       {"cat " + outside + "/secret", std::string("cat link"), std::string("cat ../outside/secret"),
        "cat /proc/self/root" + outside + "/secret", "cat /proc/1/root" + outside + "/secret", "ls -la " + outside})
    check_hidden(cage, script);
}

TEST_CASE("Escrow's own state cannot be read: other stages, grants, the audit log") {
  Cage cage;
  fs::create_directories(cage.tree.state());
  fs::permissions(cage.tree.state(), fs::perms(0700));
  std::ofstream(cage.tree.state() / "grants.json") << canary();
  cage.profile.read = {cage.tree.state().string()};  // whatever a policy says
  check_hidden(cage, "cat " + cage.tree.state().string() + "/grants.json; ls -R " + cage.tree.state().string());
}

TEST_CASE("a file of the host's /tmp or shared memory cannot be read") {
  const std::string name = "/escrow-test-secret-" + std::to_string(getpid());
  for (const std::string& directory : {std::string("/tmp"), std::string("/dev/shm"), std::string("/var/tmp")}) {
    std::ofstream(directory + name) << canary();
    Cage cage;
    check_hidden(cage, "cat " + directory + name);
    CHECK(shows(run_bare({"/bin/cat", directory + name})));
    unlink((directory + name).c_str());
  }
}

TEST_CASE("a crash leaves no core behind that could be read") {
  Cage cage;
  fs::copy_file(attacker_program(), cage.tree.workspace() / "attacker");
  const Execution execution = cage.sh(
      "ulimit -c unlimited; ulimit -c; ./attacker crash; cd /tmp && $OLDPWD/attacker crash; ls "
      "/tmp; cat /proc/self/limits | grep core");
  CHECK(text(execution.out).find("SIGABRT") != std::string::npos);
  CHECK(text(execution.out).find("unlimited") == std::string::npos);
  CHECK(summary(execution.changes).empty());
}

TEST_CASE("a repository cannot name another repository of the person as its own") {
  struct Plant {
    const char* name;
    bool worktree;  // with the files that git lays out for a worktree, but those of another
  };
  for (const Plant& row : {Plant{"a git directory elsewhere", false}, Plant{"a worktree of another's", true}}) {
    INFO(row.name);
    Cage cage;
    const fs::path other = cage.tree.outside() / "other";
    const std::string make = "git -c init.defaultBranch=main init -q '" + other.string() + "' && cd '" +
                             other.string() + "' && echo " + canary() +
                             " > f && git add f && git -c user.name=t -c user.email=t@example.test commit -qm one && "
                             "git worktree add -q ../tree 2>/dev/null";
    REQUIRE(std::system(make.c_str()) == 0);
    const std::string target = (row.worktree ? other / ".git/worktrees/tree" : other / ".git").string();
    cage.tree.write(".git", "gitdir: " + target + "\n");
    check_hidden(cage,
                 "git show HEAD:f; git log -p | cat; cat " + other.string() + "/f; ls " + other.string() + "/.git");
    CHECK(shows(run_bare({"/usr/bin/git", "show", "HEAD:f"}, {"PATH=/usr/bin:/bin", "HOME=/"},
                         cage.tree.workspace().string())));
  }
}

TEST_CASE("a planted link among a repository's own directories leads nowhere") {
  Cage cage;
  fs::create_directories(cage.tree.outside() / "keys");
  std::ofstream(cage.tree.outside() / "keys/id") << canary();
  cage.tree.write("real/HEAD", "ref: refs/heads/main\n");
  fs::create_directories(cage.tree.workspace() / "real/refs");
  fs::create_symlink(cage.tree.outside() / "keys", cage.tree.workspace() / "real/objects");
  cage.tree.write(".git", "gitdir: real\n");
  check_hidden(cage, "cat real/objects/id; cat .git/objects/id");
}

TEST_CASE("HOME is empty but for tools: keys and histories are not there") {
  Cage cage;
  const Execution execution = cage.sh(
      "ls -A \"$HOME/.ssh\" \"$HOME/.aws\" \"$HOME/.gnupg\" \"$HOME/.bash_history\" \"$HOME/.netrc\" 2>/dev/null | wc "
      "-c");
  CHECK(text(execution.out) == "0\n");
}

TEST_CASE("password hashes, host keys and sudo rules of the system cannot be read") {
  Cage cage;
  const Execution execution = cage.sh(
      "cat /etc/shadow /etc/gshadow /etc/sudoers /etc/ssh/ssh_host_*_key /etc/ssl/private/* 2>/dev/null | wc -c");
  CHECK(text(execution.out) == "0\n");
}

TEST_CASE("the environment of the server does not reach the guest, by no way through /proc either") {
  setenv("ESCROW_TEST_CANARY", canary().c_str(), 1);
  Cage cage;
  check_hidden(cage, "env; cat /proc/*/environ /proc/*/task/*/environ | tr '\\0' '\\n'; cat /proc/1/cmdline");
  cage.profile.env_allow = {"ESCROW_TEST_CANARY"};
  CHECK(text(cage.sh("echo $ESCROW_TEST_CANARY").out) == canary() + "\n");
  unsetenv("ESCROW_TEST_CANARY");
}

TEST_CASE("no process of the host is seen") {
  Cage cage;
  const Execution execution =
      cage.sh("ls -d /proc/[0-9]* | wc -l; ls /proc/" + std::to_string(getpid()) + "/status 2>/dev/null | wc -l");
  std::istringstream output(text(execution.out));
  int processes = 0;
  output >> processes;
  CHECK(processes < 8);
}
