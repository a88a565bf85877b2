#include <unistd.h>

#include "tests/escape/escape_fixture.h"

// Attacks on what must not be read.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;

namespace {

/// The script's whole output must not hold the canary.
void check_hidden(Cage& cage, const std::string& script) {
  INFO(script);
  const Execution execution = cage.sh(script);
  CHECK(text(execution.out).find(canary()) == std::string::npos);
  CHECK(text(execution.err).find(canary()) == std::string::npos);
  for (const TreeChange& change : execution.changes.changes) {
    CHECK(change.before.content.find(canary()) == std::string::npos);
    CHECK(change.after.content.find(canary()) == std::string::npos);
  }
}

}  // namespace

TEST_CASE("a secret of the workspace cannot be read by name, link, detour or rename") {
  Cage cage;
  cage.tree.write(".env", canary());
  cage.tree.write("deploy/prod.tfstate", canary());
  cage.tree.write("deploy/.aws/credentials", canary());
  cage.tree.write("certs/server.pem", std::string("-----BEGIN ") + "PRIVATE KEY-----\n" + canary());
  fs::create_hard_link(cage.tree.workspace() / ".env", cage.tree.workspace() / "readme.txt");
  fs::create_symlink(".env", cage.tree.workspace() / "link");
  fs::create_symlink(cage.tree.workspace() / "deploy", cage.tree.workspace() / "other");
  for (const char* script : {"cat .env",
                             "cat ./deploy/../.env",
                             "cat link",
                             "cat readme.txt",
                             "cat deploy/prod.tfstate",
                             "cat other/.aws/credentials",
                             "cat certs/server.pem",
                             "cat /proc/self/root$PWD/.env",
                             "cat /proc/1/root$PWD/.env",
                             "cat /proc/self/cwd/.env",
                             "mv deploy moved && cat moved/prod.tfstate moved/.aws/credentials",
                             "cp -a . /tmp/copy && cat /tmp/copy/.env /tmp/copy/readme.txt",
                             "tar cf - . | cat",
                             "ln .env stolen; cat stolen",
                             "mv .env stolen; cat stolen",
                             "grep -r . . /proc/self/mountinfo",
                             "rm -rf .env; cat .env",
                             "mkdir .env; rmdir .env; cat .env",
                             "python3 -c \"print(open('.env').read())\"",
                             "cat < .env",
                             "dd if=.env",
                             "find \"$PWD\" /tmp /root /home /run -name '*env*' -type f -exec cat {} + 2>/dev/null"})
    check_hidden(cage, script);
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
