#include "sandbox/seatbelt_profile.h"

#include <algorithm>
#include <stdexcept>

#include "tests/catch.h"
#include "tests/sandbox/seatbelt_evaluator.h"

// What the macOS profile would decide. No macOS runs these tests: they hold the profile to its intent, not the system
// to the profile.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;

namespace {

SeatbeltPlaces usual_places() {
  SeatbeltPlaces places;
  places.workspace = "/Users/me/.local/state/escrow/stages/7/copy";
  places.home = "/Users/me/.local/state/escrow/stages/7/home";
  places.temporary = "/var/folders/ab/T/escrow-7";
  places.person_home = "/Users/me";
  places.state_dir = "/Users/me/.local/state/escrow";
  places.tools = {"/Users/me/.cargo/bin", "/Users/me/.nvm"};
  places.read = {"/Users/me/shared"};
  places.hidden = {places.workspace + "/.env", places.workspace + "/deploy/.aws"};
  places.tag = "escrow-run-7";
  return places;
}

struct Row {
  const char* operation;
  const char* subject;
  bool allowed;
  bool own = false;
  bool device = false;
};

void check_rows(const SeatbeltProfile& profile, const std::vector<Row>& rows) {
  const SeatbeltEvaluator evaluator(profile);
  for (const Row& row : rows) {
    INFO(row.operation << " " << row.subject);
    CHECK(evaluator.allows({row.operation, row.subject, row.own, row.device}) == row.allowed);
  }
}

const std::vector<Row> kReads = {
    {"file-read-data", "/", true},
    {"file-read-data", "/usr/lib/libSystem.B.dylib", true},
    {"file-map-executable", "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation", true},
    {"file-read-data", "/System/Library/CoreServices/SystemVersion.plist", true},
    {"file-read-data", "/usr/share/zoneinfo/UTC", true},
    {"file-read-data", "/opt/homebrew/bin/node", true},
    {"file-read-data", "/usr/local/bin/python3", true},
    {"file-read-data", "/Library/Developer/CommandLineTools/usr/bin/git", true},
    {"file-read-data", "/Applications/Xcode.app/Contents/Developer/usr/bin/clang", true},
    {"file-read-data", "/private/etc/passwd", true},
    {"file-read-data", "/private/etc/services", true},
    {"file-read-data", "/private/etc/master.passwd", false},
    {"file-read-data", "/private/etc/sudoers", false},
    {"file-read-data", "/private/etc/sudoers.d/me", false},
    {"file-read-data", "/private/etc/ssh/ssh_host_ed25519_key", false},
    {"file-read-data", "/private/etc/ssh/ssh_host_ed25519_key.pub", true},
    {"file-read-metadata", "/tmp", true},
    {"file-read-data", "/private/tmp", false},
    {"file-read-data", "/private/tmp/agent.sock", false},
    {"file-read-data", "/dev/urandom", true},
    {"file-read-data", "/dev/fd/3", true},
    {"file-read-data", "/dev/disk0", false},
    {"file-read-data", "/dev/rdisk0", false},
    {"file-read-data", "/dev/mem", false},
    {"file-read-data", "/dev/ttys004", false},
    {"file-read-data", "/dev/ttys004", true, true},
    {"file-read-data", "/Users/me/.local/state/escrow/stages/7/copy/src/main.c", true},
    {"file-read-data", "/Users/me/.local/state/escrow/stages/7/copy/.env", false},
    {"file-read-metadata", "/Users/me/.local/state/escrow/stages/7/copy/.env", false},
    {"file-read-data", "/Users/me/.local/state/escrow/stages/7/copy/deploy/.aws/credentials", false},
    {"file-read-data", "/Users/me/.local/state/escrow/stages/7/home/.cache/x", true},
    {"file-read-data", "/private/var/folders/ab/T/escrow-7/x", true},
    {"file-read-data", "/private/var/folders/ab/T/other/x", false},
    {"file-read-data", "/Users/me/.local/state/escrow/grants.json", false},
    {"file-read-data", "/Users/me/.local/state/escrow/audit.jsonl", false},
    {"file-read-data", "/Users/me/.local/state/escrow/stages/8/copy/x", false},
    {"file-read-metadata", "/Users/me/.local/state/escrow", true},
    {"file-read-metadata", "/Users/me", true},
    {"file-read-data", "/Users/me", false},
    {"file-read-data", "/Users/me/.cargo/bin/cargo", true},
    {"file-map-executable", "/Users/me/.nvm/versions/node/bin/node", true},
    {"file-read-data", "/Users/me/.cargo/credentials.toml", false},
    {"file-read-data", "/Users/me/shared/data.csv", true},
    {"file-map-executable", "/Users/me/shared/evil.dylib", false},
    {"file-read-data", "/Users/me/.ssh/id_ed25519", false},
    {"file-read-metadata", "/Users/me/.ssh", false},
    {"file-read-data", "/Users/me/.ssh/config", false},
    {"file-read-data", "/Users/me/.aws/credentials", false},
    {"file-read-data", "/Users/me/.gnupg/private-keys-v1.d/a.key", false},
    {"file-read-data", "/Users/me/.netrc", false},
    {"file-read-data", "/Users/me/.npmrc", false},
    {"file-read-data", "/Users/me/.docker/config.json", false},
    {"file-read-data", "/Users/me/.kube/config", false},
    {"file-read-data", "/Users/me/.config/gh/hosts.yml", false},
    {"file-read-data", "/Users/me/.zsh_history", false},
    {"file-read-data", "/Users/me/Library/Keychains/login.keychain-db", false},
    {"file-read-data", "/Users/me/Library/Cookies/Cookies.binarycookies", false},
    {"file-read-data", "/Users/me/Library/Messages/chat.db", false},
    {"file-read-data", "/Users/me/Library/Application Support/Google/Chrome/Default/Login Data", false},
    {"file-read-data", "/Users/me/Documents/notes.txt", false},
    {"file-read-data", "/Users/me/projects/other/.env", false},
    {"file-read-data", "/Users/you/.ssh/id_rsa", false},
    {"file-read-data", "/private/var/db/dslocal/nodes/Default/users/me.plist", false},
    {"file-read-data", "/Volumes/backup/x", false},
    {"file-read-data", "/private/var/root/.ssh/id_rsa", false},
};

const std::vector<Row> kWrites = {
    {"file-write-data", "/Users/me/.local/state/escrow/stages/7/copy/src/main.c", true},
    {"file-write-create", "/Users/me/.local/state/escrow/stages/7/copy/new", true},
    {"file-write-unlink", "/Users/me/.local/state/escrow/stages/7/copy/old", true},
    {"file-write-create", "/Users/me/.local/state/escrow/stages/7/copy/.env", false},
    {"file-write-unlink", "/Users/me/.local/state/escrow/stages/7/copy/deploy", false},
    {"file-write-data", "/Users/me/.local/state/escrow/stages/7/home/.npm/x", true},
    {"file-write-data", "/private/var/folders/ab/T/escrow-7/x", true},
    {"file-write-setugid", "/Users/me/.local/state/escrow/stages/7/copy/x", false},
    {"file-mknod", "/Users/me/.local/state/escrow/stages/7/copy/x", false},
    {"file-mount", "/Users/me/.local/state/escrow/stages/7/copy/x", false},
    {"file-write-data", "/dev/null", true, false, true},
    {"file-write-data", "/dev/null", false},
    {"file-write-data", "/dev/disk0", false, false, true},
    {"file-write-data", "/dev/ttys004", false, false, true},
    {"file-ioctl", "/dev/ttys004", false},
    {"file-ioctl", "/dev/ttys004", true, true},
    {"file-write-data", "/Users/me/.cargo/bin/cargo", false},
    {"file-write-data", "/Users/me/shared/data.csv", false},
    {"file-write-data", "/Users/me/.zshrc", false},
    {"file-write-create", "/Users/me/Library/LaunchAgents/evil.plist", false},
    {"file-write-data", "/Users/me/.ssh/authorized_keys", false},
    {"file-write-data", "/Users/me/.local/state/escrow/grants.json", false},
    {"file-write-create", "/Users/me/.local/state/escrow/stages/7/x", false},
    {"file-write-data", "/private/etc/hosts", false},
    {"file-write-create", "/private/tmp/x", false},
    {"file-write-create", "/usr/local/bin/x", false},
    {"file-write-create", "/opt/homebrew/bin/x", false},
    {"file-write-data", "/Applications/Xcode.app/x", false},
    {"file-write-create", "/x", false},
    {"file-write-create", "/Volumes/x", false},
};

const std::vector<Row> kProcessesAndServices = {
    {"process-exec", "/bin/sh", true},
    {"process-fork", "", true},
    {"signal", "", true, true},
    {"signal", "", false},
    {"process-info-pidinfo", "", true, true},
    {"process-info-pidinfo", "", false},
    {"mach-priv-task-port", "", true, true},
    {"mach-priv-task-port", "", false},
    {"mach-priv-host-port", "", false},
    {"mach-register", "org.chromium.x", false},
    {"forbidden-exec-sugid", "/usr/bin/sudo", false},
    {"sysctl-read", "hw.ncpu", true},
    {"sysctl-read", "kern.proc.pid.1", true},
    {"sysctl-read", "kern.procargs2.1", false},
    {"sysctl-write", "kern.grade_cputype", true},
    {"sysctl-write", "kern.hostname", false},
    {"mach-lookup", "com.apple.system.opendirectoryd.libinfo", true},
    {"mach-lookup", "com.apple.cfprefsd.daemon", true},
    {"mach-lookup", "com.apple.SecurityServer", false},
    {"mach-lookup", "com.apple.pasteboard.1", false},
    {"mach-lookup", "com.apple.coreservices.launchservicesd", false},
    {"mach-lookup", "com.apple.coreservices.appleevents", false},
    {"mach-lookup", "com.apple.windowserver.active", false},
    {"mach-lookup", "com.apple.tccd", false},
    {"mach-lookup", "com.apple.xpc.launchd.domain.user", false},
    {"mach-lookup", "com.apple.dnssd.service", false},
    {"appleevent-send", "com.apple.finder", false},
    {"lsopen", "", false},
    {"hid-control", "", false},
    {"iokit-open", "RootDomainUserClient", true},
    {"iokit-open", "AppleUSBHostDeviceUserClient", false},
    {"user-preference-read", "kCFPreferencesAnyApplication", true},
    {"user-preference-read", "com.apple.Safari", false},
    {"user-preference-write", "kCFPreferencesAnyApplication", false},
    {"ipc-posix-sem", "/mp-abc", true},
    {"ipc-posix-shm-read-data", "apple.cfprefs.501v1", true},
    {"ipc-posix-shm-write-data", "apple.cfprefs.501v1", false},
    {"ipc-posix-shm-write-create", "/psm_12ab", true},
    {"ipc-posix-shm-write-create", "/other", false},
    {"ipc-sysv-shm", "", false},
    {"system-socket", "AF_UNIX", true},
    {"nvram-set", "", false},
    {"system-kext-load", "", false},
    {"job-creation", "", false},
    {"dynamic-code-generation", "", false},
};

const std::vector<Row> kNoNetwork = {
    {"network-outbound", "192.0.2.1:443", false},
    {"network-outbound", "localhost:3128", false},
    {"network-outbound", "localhost:5432", false},
    {"network-bind", "localhost:8080", false},
    {"network-inbound", "localhost:8080", false},
    {"network-outbound", "/private/var/run/mDNSResponder", false},
    {"network-outbound", "/private/var/run/docker.sock", false},
    {"network-outbound", "/private/tmp/com.apple.launchd.x/Listeners", false},
    {"network-outbound", "/Users/me/.gnupg/S.gpg-agent", false},
    {"network-outbound", "/private/var/folders/ab/T/escrow-7/s.sock", true},
    {"network-bind", "/private/var/folders/ab/T/escrow-7/s.sock", true},
    {"system-socket", "AF_INET", false},
};

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const auto* table : {&kReads, &kWrites, &kProcessesAndServices, &kNoNetwork})
    rows.insert(rows.end(), table->begin(), table->end());
  return rows;
}

bool agrees(const SeatbeltProfile& profile, const std::vector<Row>& rows) {
  const SeatbeltEvaluator evaluator(profile);
  return std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
    return evaluator.allows({row.operation, row.subject, row.own, row.device}) == row.allowed;
  });
}

}  // namespace

TEST_CASE("seatbelt: reads are the system's, the tools' and the guest's own") {
  check_rows(seatbelt_profile({}, usual_places()), kReads);
}

TEST_CASE("seatbelt: writes are the guest's own") {
  check_rows(seatbelt_profile({}, usual_places()), kWrites);
}

TEST_CASE("seatbelt: processes, services and the kernel answer to what programs need") {
  check_rows(seatbelt_profile({}, usual_places()), kProcessesAndServices);
}

TEST_CASE("seatbelt: without an allow-list there is no network at all") {
  check_rows(seatbelt_profile({}, usual_places()), kNoNetwork);
}

TEST_CASE("seatbelt: with an allow-list the proxy is reached, and nothing else") {
  SeatbeltPlaces places = usual_places();
  places.proxy_port = 40123;
  check_rows(seatbelt_profile({}, places), {{"network-outbound", "localhost:40123", true},
                                            {"network-outbound", "localhost:40124", false},
                                            {"network-outbound", "localhost:401234", false},
                                            {"network-outbound", "192.0.2.1:40123", false},
                                            {"network-outbound", "/private/var/run/mDNSResponder", false},
                                            {"network-bind", "localhost:8080", false},
                                            {"mach-lookup", "com.apple.trustd.agent", true},
                                            {"mach-lookup", "com.apple.tccd", false}});
}

TEST_CASE("seatbelt: a workspace that may not be written is not") {
  Profile profile;
  profile.writable = Writable::none;
  check_rows(seatbelt_profile(profile, usual_places()),
             {{"file-read-data", "/Users/me/.local/state/escrow/stages/7/copy/x", true},
              {"file-write-data", "/Users/me/.local/state/escrow/stages/7/copy/x", false},
              {"file-write-data", "/Users/me/.local/state/escrow/stages/7/home/x", true}});
}

TEST_CASE("seatbelt: in direct mode what steers other programs is neither written nor renamed away") {
  SeatbeltPlaces places = usual_places();
  places.workspace = "/Users/me/project";
  places.hidden = {"/Users/me/project/.env"};
  places.guarded = {"/Users/me/project/.git/hooks", "/Users/me/project/sub/.git/config"};
  Profile profile;
  profile.writable = Writable::direct;
  check_rows(seatbelt_profile(profile, places),
             {{"file-write-data", "/Users/me/project/src/x", true},
              {"file-write-create", "/Users/me/project/.git/index", true},
              {"file-write-create", "/Users/me/project/.git/hooks/pre-commit", false},
              {"file-write-data", "/Users/me/project/sub/.git/config", false},
              {"file-write-unlink", "/Users/me/project/.git", false},
              {"file-write-unlink", "/Users/me/project/sub", false},
              {"file-write-unlink", "/Users/me/project/sub/.git", false},
              {"file-write-unlink", "/Users/me/project", false},
              {"file-write-unlink", "/Users/me/project/other", true},
              {"file-read-data", "/Users/me/project/.env", false}});
}

TEST_CASE("seatbelt: no policy opens the person's secrets or Escrow's state") {
  SeatbeltPlaces places = usual_places();
  places.read = {"/Users/me", "/Users/me/.ssh", "/Users/me/.local/state/escrow"};
  places.tools = {"/Users/me/.aws", "/Users/me/.cargo"};
  check_rows(seatbelt_profile({}, places), {{"file-read-data", "/Users/me/notes.txt", true},
                                            {"file-read-data", "/Users/me/.ssh/id_ed25519", false},
                                            {"file-read-data", "/Users/me/.aws/credentials", false},
                                            {"file-read-data", "/Users/me/.cargo/credentials.toml", false},
                                            {"file-read-data", "/Users/me/.cargo/bin/cargo", true},
                                            {"file-read-data", "/Users/me/.local/state/escrow/grants.json", false}});
}

TEST_CASE("seatbelt: a profile that opened more would be noticed") {
  const SeatbeltProfile good = seatbelt_profile({}, usual_places());
  REQUIRE(agrees(good, all_rows()));
  for (const char* hole :
       {"(allow file-read* (subpath \"/Users/me/.ssh\"))", "(allow file-read* (subpath \"/Users\"))",
        "(allow file-read-metadata)", "(allow network*)", "(allow network-outbound (remote ip \"localhost:*\"))",
        "(allow default)", "(allow mach-lookup)", "(allow file-write* (subpath \"/private/tmp\"))",
        "(allow file-read* (regex #\"/\\.env$\"))", "(allow signal)", "(allow sysctl*)",
        "(allow file-read* (require-not (subpath \"/System\")))", "(allow file-write-setugid)", "(allow iokit-open)",
        "(deny file-read* (subpath \"/usr/lib\"))"}) {
    INFO(hole);
    SeatbeltProfile holed = good;
    holed.text += hole;
    CHECK_FALSE(agrees(holed, all_rows()));
  }
}

TEST_CASE("seatbelt: paths go by parameters, whatever is in them") {
  SeatbeltPlaces places = usual_places();
  places.workspace = "/Users/me/a\") (allow default) (subpath \"";
  places.tag = "x\")) (allow default) ((";
  const SeatbeltProfile profile = seatbelt_profile({}, places);
  CHECK(profile.text.find("allow default") == std::string::npos);
  check_rows(profile, {{"file-read-data", "/Users/me/.ssh/id_rsa", false},
                       {"file-write-data", "/Users/me/a\") (allow default) (subpath \"/x", true}});
  const std::vector<std::string> command = seatbelt_command(profile, {"/bin/sh", "-c", "true"});
  CHECK(std::vector<std::string>(command.begin(), command.begin() + 2) ==
        std::vector<std::string>{"/usr/bin/sandbox-exec", "-p"});
  CHECK(std::vector<std::string>(command.end() - 4, command.end()) ==
        std::vector<std::string>{"--", "/bin/sh", "-c", "true"});
}

TEST_CASE("seatbelt: the evaluator knows what it does not know") {
  for (const char* text : {"(permit default)", "(allow file-read* (glob \"/x\"))", "(allow default", ")",
                           "(allow file-read* (subpath (param \"NOT_GIVEN\")))"}) {
    INFO(text);
    CHECK_THROWS_AS(SeatbeltEvaluator({.text = text, .parameters = {}}).allows({"file-read-data", "/x"}),
                    std::runtime_error);
  }
  const SeatbeltEvaluator last({.text =
                                    "(deny default) (allow file-read*) (deny file-read-data (literal \"/x\"))"
                                    "(allow file-read* (require-all (subpath \"/x\") (require-not (literal \"/x\"))))",
                                .parameters = {}});
  CHECK_FALSE(last.allows({"file-read-data", "/x"}));
  CHECK(last.allows({"file-read-metadata", "/x"}));
  CHECK(last.allows({"file-read-data", "/x/y"}));
  CHECK_FALSE(last.allows({"file-write-data", "/x/y"}));
}
