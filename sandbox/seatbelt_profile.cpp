#include "sandbox/seatbelt_profile.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "sandbox/path_pattern.h"

namespace escrow::sandbox {
namespace {

// What node, python, git and compilers were found to need, from public profiles; none of it was run here.
constexpr std::string_view kProcesses = R"(
; Processes: its own, and nobody else's. Set-uid programs stay denied.
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow mach-priv-task-port (target same-sandbox))
(allow user-preference-read (preference-domain "kCFPreferencesAnyApplication"))

; Terminals of its own making.
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write* file-ioctl
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))

; Devices.
(allow file-read* (literal "/dev") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random")
  (literal "/dev/urandom") (literal "/dev/autofs_nowait") (literal "/dev/dtracehelper") (subpath "/dev/fd"))
(allow file-write-data (require-all (literal "/dev/null") (vnode-type CHARACTER-DEVICE)))
(allow file-write-data (require-all (literal "/dev/zero") (vnode-type CHARACTER-DEVICE)))
(allow file-write-data (subpath "/dev/fd"))
(allow file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom")
  (literal "/dev/dtracehelper") (literal "/dev/tty"))
(allow file-read* file-write-data (literal "/dev/tty"))
)";

constexpr std::string_view kKernel = R"(
; What programs ask of the kernel about the machine.
(allow sysctl-read
  (sysctl-name "hw.activecpu") (sysctl-name "hw.byteorder") (sysctl-name "hw.cpufamily")
  (sysctl-name "hw.cputype") (sysctl-name "hw.logicalcpu") (sysctl-name "hw.logicalcpu_max")
  (sysctl-name "hw.machine") (sysctl-name "hw.memsize") (sysctl-name "hw.model") (sysctl-name "hw.ncpu")
  (sysctl-name "hw.nperflevels") (sysctl-name "hw.packages") (sysctl-name "hw.pagesize")
  (sysctl-name "hw.physicalcpu") (sysctl-name "hw.physicalcpu_max") (sysctl-name "hw.vectorunit")
  (sysctl-name "hw.cpufrequency") (sysctl-name "hw.busfrequency_compat") (sysctl-name "hw.cachelinesize_compat")
  (sysctl-name "hw.cpufrequency_compat") (sysctl-name "hw.l1dcachesize_compat")
  (sysctl-name "hw.l1icachesize_compat") (sysctl-name "hw.l2cachesize_compat")
  (sysctl-name "hw.l3cachesize_compat") (sysctl-name "hw.pagesize_compat") (sysctl-name "hw.tbfrequency_compat")
  (sysctl-name-prefix "hw.optional.arm.") (sysctl-name-prefix "hw.optional.armv8_")
  (sysctl-name-prefix "hw.perflevel")
  (sysctl-name "kern.argmax") (sysctl-name "kern.bootargs") (sysctl-name "kern.hostname")
  (sysctl-name "kern.maxfilesperproc") (sysctl-name "kern.maxproc") (sysctl-name "kern.ngroups")
  (sysctl-name "kern.osproductversion") (sysctl-name "kern.osrelease") (sysctl-name "kern.ostype")
  (sysctl-name "kern.osvariant_status") (sysctl-name "kern.osversion") (sysctl-name "kern.secure_kernel")
  (sysctl-name "kern.usrstack64") (sysctl-name "kern.version") (sysctl-name "kern.willshutdown")
  (sysctl-name-prefix "kern.tcsm_") (sysctl-name-prefix "kern.proc.pgrp.") (sysctl-name-prefix "kern.proc.pid.")
  (sysctl-name "machdep.cpu.brand_string") (sysctl-name "machdep.ptrauth_enabled")
  (sysctl-name "security.mac.lockdown_mode_state") (sysctl-name "sysctl.proc_cputype") (sysctl-name "vm.loadavg"))
(allow sysctl-write (sysctl-name "kern.grade_cputype") (sysctl-name "kern.tcsm_enable"))

; Services: users and groups by name, power assertions, preferences, the log.
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.PowerManagement.control")
  (global-name "com.apple.cfprefsd.daemon") (global-name "com.apple.cfprefsd.agent")
  (global-name "com.apple.bsd.dirhelper") (global-name "com.apple.logd")
  (global-name "com.apple.system.logger") (global-name "com.apple.system.notification_center"))
(allow iokit-open (iokit-user-client-class "RootDomainUserClient"))

; Semaphores and segments of python and OpenMP.
(allow ipc-posix-sem)
(allow ipc-posix-shm-read* (ipc-posix-name-prefix "apple.cfprefs."))
(allow ipc-posix-shm-read* ipc-posix-shm-write-create ipc-posix-shm-write-data ipc-posix-shm-write-unlink
  (ipc-posix-name-prefix "/__KMP_REGISTERED_LIB_") (ipc-posix-name-prefix "/psm_"))
)";

constexpr std::string_view kSystem = R"(
; The system, read-only: what is the same on every machine.
(allow file-read* file-map-executable
  (subpath "/usr/lib") (subpath "/usr/bin") (subpath "/usr/sbin") (subpath "/usr/libexec") (subpath "/usr/share")
  (subpath "/bin") (subpath "/sbin") (subpath "/System") (subpath "/Library/Apple") (subpath "/Library/Developer")
  (subpath "/Library/Frameworks") (subpath "/Library/Java") (subpath "/Applications") (subpath "/opt/homebrew")
  (subpath "/usr/local") (subpath "/private/var/db/dyld") (subpath "/nix/store"))
(allow file-read*
  (literal "/") (subpath "/private/etc") (subpath "/private/var/db/timezone") (subpath "/private/var/select")
  (literal "/private/var/db/xcode_select_link"))
(deny file-read*
  (literal "/private/etc/master.passwd") (literal "/private/etc/sudoers") (subpath "/private/etc/sudoers.d")
  (regex #"^/private/etc/ssh/ssh_host_[a-z0-9]+_key$") (literal "/private/etc/krb5.keytab"))
; Links that programs go through, and what `cd` and `pwd` ask on the way.
(allow file-read-metadata (literal "/tmp") (literal "/var") (literal "/etc") (literal "/private") (literal "/private/var")
  (literal "/private/tmp") (literal "/private/var/db") (literal "/Users") (literal "/Library") (literal "/opt")
  (literal "/nix"))
)";

constexpr std::string_view kProxyServices = R"(
(allow mach-lookup
  (global-name "com.apple.SecurityServer") (global-name "com.apple.trustd.agent") (global-name "com.apple.ocspd")
  (global-name "com.apple.networkd") (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.SystemConfiguration.DNSConfiguration"))
(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))
(allow sysctl-read (sysctl-name-prefix "net.routetable."))
)";

/// Of the person's home, never to be read, whatever is allowed.
constexpr std::array kPersonal = {".ssh",
                                  ".aws",
                                  ".azure",
                                  ".gnupg",
                                  ".kube",
                                  ".docker",
                                  ".config/gcloud",
                                  ".config/gh",
                                  ".config/hub",
                                  ".password-store",
                                  ".netrc",
                                  ".npmrc",
                                  ".pypirc",
                                  ".bash_history",
                                  ".zsh_history",
                                  ".python_history",
                                  ".node_repl_history",
                                  ".zsh_sessions",
                                  ".terraform.d",
                                  ".oci",
                                  ".boto",
                                  ".s3cfg",
                                  "Library/Keychains",
                                  "Library/Cookies",
                                  "Library/Mail",
                                  "Library/Messages",
                                  "Library/Safari",
                                  "Library/Calendars",
                                  "Library/Containers",
                                  "Library/Group Containers",
                                  "Library/Mobile Documents",
                                  "Library/Application Support/Google",
                                  "Library/Application Support/Firefox",
                                  "Library/Application Support/BraveSoftware",
                                  "Library/Application Support/com.apple.TCC"};

/// Writes rules and collects what their paths are called.
class Writer {
 public:
  void raw(std::string_view text) { out_.text += text; }

  void comment(std::string_view text) { out_.text.append("\n; ").append(text).append("\n"); }

  /// `(allow OPERATIONS (subpath (param "NAME_0")) …)`; nothing without paths.
  void rule(std::string_view verdict, std::string_view filter, const char* name,
            const std::vector<std::string>& paths) {
    if (paths.empty()) return;
    out_.text.append("(").append(verdict);
    for (const std::string& path : paths)
      out_.text.append("\n  (").append(filter).append(" (param \"").append(parameter(name, path)).append("\"))");
    out_.text += ")\n";
  }

  SeatbeltProfile take() { return std::move(out_); }

 private:
  std::string parameter(const char* name, const std::string& path) {
    const std::string key = std::string(name) + "_" + std::to_string(out_.parameters.size());
    out_.parameters.emplace_back(key, path);
    return key;
  }

  SeatbeltProfile out_;
};

std::vector<std::string> real(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths)
    if (!path.empty()) all.push_back(seatbelt_path(path));
  return all;
}

/// Every directory above the paths, each once.
std::vector<std::string> above(const std::vector<std::string>& paths) {
  std::set<std::string> found;
  for (const std::string& path : paths)
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
      found.insert(path.substr(0, slash));
  return {found.begin(), found.end()};
}

std::vector<std::string> personal(const std::string& home) {
  std::set<std::string> paths;
  for (const char* name : kPersonal) paths.insert(home + "/" + name);
  for (const std::string& secret : home_secrets()) paths.insert(home + "/" + secret);
  return {paths.begin(), paths.end()};
}

std::string clean_tag(const std::string& tag) {
  std::string clean;
  for (char c : tag)
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-') clean += c;
  return clean.empty() ? "escrow" : clean;
}

std::vector<std::string> own_places(const SeatbeltPlaces& places) {
  return real({places.workspace, places.home, places.temporary});
}

void write_reads(Writer& writer, const SeatbeltPlaces& places) {
  std::vector<std::string> read = real(places.tools);
  const std::vector<std::string> further = real(places.read);
  writer.comment("Tools, and what policy lets read.");
  writer.rule("allow file-read* file-map-executable", "subpath", "TOOL", read);
  writer.rule("allow file-read*", "subpath", "READ", further);
  read.insert(read.end(), further.begin(), further.end());
  for (const std::string& path : own_places(places)) read.push_back(path);
  writer.rule("allow file-read-metadata", "literal", "ABOVE", above(read));
  writer.comment("Whatever was allowed: not the person's secrets, nor what Escrow keeps.");
  if (!places.person_home.empty())
    writer.rule("deny file-read* file-write* file-map-executable", "subpath", "PERSONAL",
                personal(seatbelt_path(places.person_home)));
  writer.rule("deny file-read* file-write* file-map-executable", "subpath", "STATE", real({places.state_dir}));
  writer.rule("allow file-read-metadata", "literal", "WAY", above(own_places(places)));
}

void write_own_places(Writer& writer, const Profile& profile, const SeatbeltPlaces& places) {
  writer.comment("Its own places.");
  writer.rule("allow file-read* file-map-executable", "subpath", "OWN", own_places(places));
  std::vector<std::string> writable = real({places.home, places.temporary});
  if (profile.writable != Writable::none) writable.push_back(seatbelt_path(places.workspace));
  writer.rule("allow file-write* file-ioctl", "subpath", "WRITE", writable);
  writer.comment("Set-uid marks, device files and raw disks are nobody's work.");
  writer.raw("(deny file-write-setugid)\n(deny file-mknod)\n(deny file-mount)\n");
  const std::vector<std::string> hidden = real(places.hidden), guarded = real(places.guarded);
  writer.rule("deny file-read* file-write* file-map-executable", "subpath", "HIDDEN", hidden);
  writer.rule("deny file-write*", "subpath", "GUARDED", guarded);
  // A parent that is renamed takes what it holds out of the rules that name it.
  std::vector<std::string> kept = hidden;
  kept.insert(kept.end(), guarded.begin(), guarded.end());
  writer.rule("deny file-write-unlink", "literal", "PARENT", above(kept));
}

void write_network(Writer& writer, const SeatbeltPlaces& places) {
  writer.comment("Sockets by path, among its own files only.");
  writer.raw("(allow system-socket (socket-domain AF_UNIX))\n");
  writer.rule("allow network-bind network-outbound network-inbound", "subpath", "SOCKET",
              real({places.home, places.temporary}));
  if (places.proxy_port == 0) return;
  writer.comment("The proxy, which knows what is allowed. Names are resolved there too.");
  writer.raw("(allow network-outbound (remote ip \"localhost:" + std::to_string(places.proxy_port) + "\"))\n");
  writer.raw(kProxyServices);
}

}  // namespace

std::string seatbelt_path(const std::string& path) {
  for (const std::string_view link : {"/tmp", "/var", "/etc"})
    if (path == link || (path.starts_with(link) && path[link.size()] == '/')) return "/private" + path;
  return path;
}

SeatbeltProfile seatbelt_profile(const Profile& profile, const SeatbeltPlaces& places) {
  Writer writer;
  writer.raw("(version 1)\n(deny default (with message \"" + clean_tag(places.tag) + "\"))\n");
  writer.raw(kProcesses);
  writer.raw(kKernel);
  writer.raw(kSystem);
  write_reads(writer, places);
  write_own_places(writer, profile, places);
  write_network(writer, places);
  return writer.take();
}

std::vector<std::string> seatbelt_command(const SeatbeltProfile& profile, const std::vector<std::string>& argv) {
  std::vector<std::string> command = {kSandboxExec, "-p", profile.text};
  for (const auto& [name, value] : profile.parameters) {
    command.emplace_back("-D");
    command.push_back(name + "=" + value);
  }
  command.emplace_back("--");
  command.insert(command.end(), argv.begin(), argv.end());
  return command;
}

}  // namespace escrow::sandbox
