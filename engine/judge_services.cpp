#include <algorithm>
#include <array>

#include "engine/command_case.h"

// Clients of daemons and remote services, and the programs that change the machine itself.

namespace escrow::engine {
namespace {

using std::string_view;

constexpr CategorySet kSecretNet = Category::credential_access | Category::network;

bool starts_with_any(string_view text, std::initializer_list<string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](string_view p) { return text.starts_with(p); });
}

bool asks_for_secret(const Case& c, const Arguments& args) {
  std::string all;
  for (const Word* word : args.positionals) all += word->text + " ";
  const std::string text = lower(all);
  if (contains(text, "get-secret-value") || contains(text, "print-access-token") ||
      contains(text, "print-identity-token") || contains(text, "get-session-token") || contains(text, "auth token") ||
      contains(text, "get-login-password") || contains(text, "get-access-token") ||
      contains(text, "secrets versions access") || contains(text, "get-authorization-token") ||
      contains(text, "export-credentials") || contains(text, "secret show") || contains(text, "keys list")) {
    return true;
  }
  if (contains(text, "configure get") && is_secret_name(args.positional(2))) return true;
  if (contains(text, "get-parameter") && args.has("--with-decryption")) return true;
  if (in_list("kubectl oc", c.key) && in_list("get describe", args.positional(0)) &&
      starts_with_any(args.positional(1), {"secret", "secrets"}))
    return true;
  if (in_list("kubectl oc", c.key) && contains(text, "config view") && args.has("--raw")) return true;
  return c.key == "heroku" && contains(text, "config");
}

bool deletes(const Case& c, const Arguments& args) {
  for (std::size_t i = 0; i < args.positionals.size() && i < 4; ++i) {
    const string_view word = args.positionals[i]->text;
    if (starts_with_any(word, {"delete", "destroy", "terminate", "purge", "deregister", "drop-"}) ||
        in_list("rm rb remove del", word))
      return true;
  }
  if (args.has("-destroy --destroy") && in_list("terraform tofu terragrunt", c.key)) return true;
  const Option* method = args.find("-X --method");
  return c.key == "gh" && method != nullptr && method->value && lower(*method->value) == "delete";
}

void judge_bucket_copy(Case& c, const Arguments& args) {
  const auto is_bucket = [](string_view text) { return contains(text, "://"); };
  const bool copies = std::any_of(args.positionals.begin(), args.positionals.end(),
                                  [](const Word* w) { return in_list("cp sync mv rsync copy upload put", w->text); });
  if (!copies || args.positionals.size() < 3 || !is_bucket(args.positionals.back()->text)) return;
  const Word& source = *args.positionals[args.positionals.size() - 2];
  if (is_bucket(source.text)) return;
  const Taint taint = (c.place(source).ward == Ward::secret ? kSecretData : Taint{0}) | c.file_taint(source.text) |
                      (source.text == "-" ? c.input() : Taint{0});
  c.uploads(taint | kLocalData, "copies files to another machine");
}

void judge_github(Case& c, const Arguments& args) {
  const string_view noun = args.positional(0), verb = args.positional(1);
  if (noun == "gist" && verb == "create") {
    Taint taint = kLocalData | (c.has_input() ? c.input() : Taint{0});
    for (std::size_t i = 2; i < args.positionals.size(); ++i)
      taint |= c.place(*args.positionals[i]).ward == Ward::secret ? kSecretData : Taint{0};
    c.uploads(taint, "publishes files");
  }
  if (noun == "release" && in_list("upload create", verb) && args.positionals.size() > 3)
    c.uploads(kLocalData, "publishes files");
  if (noun == "extension" && verb == "install")
    c.note(Level::medium, Category::package_install | Category::network, "installs an extension");
  if (noun == "alias" || noun == "config") c.note(Level::low, bit(Category::workspace_write), "changes settings");
  if (noun == "repo" && in_list("edit archive rename", verb))
    c.note(Level::high, bit(Category::network), "changes a shared repository");
  if (in_list("secret variable ssh-key gpg-key", noun) && !in_list("list", verb))
    c.note(Level::high, kSecretNet, "changes secrets of a shared repository");
}

}  // namespace

void judge_cloud(Case& c) {
  const Arguments args = c.arguments();
  if (args.positionals.empty() && args.has("--version -v --help -h -version")) return;
  if (c.key == "ansible-vault")
    return c.note(Level::medium, bit(Category::credential_access), "opens encrypted secrets");
  const SubcommandEffect* effect = find_effect(c.key, args.positional(0), args.positional(1));
  if (effect != nullptr) c.note(effect->level, effect->categories, c.key + " " + std::string(args.positional(0)));
  if (effect != nullptr && effect->level == Level::none) return;
  if (asks_for_secret(c, args)) c.note(Level::high, kSecretNet, "asks a service for secrets");
  if (deletes(c, args) && !in_list("kustomize prisma packer", c.key))
    c.note(Level::high, Category::destructive | Category::network, "deletes something that others share");
  judge_bucket_copy(c, args);
  if (c.key == "gh" || c.key == "glab") judge_github(c, args);
  if (in_list("wrangler vercel netlify firebase prisma", c.key) && args.positional(0) == "dev") return;
  if (c.key == "prisma" && args.positional(1) == "reset")
    c.note(Level::medium, bit(Category::destructive), "empties a database");
}

namespace {

/// The host side of `-v HOST:GUEST` or `--mount type=bind,src=HOST,…`.
string_view host_side(string_view mount) {
  for (const string_view name : {"source=", "src="}) {
    if (const std::size_t at = mount.find(name); at != string_view::npos) {
      const string_view rest = mount.substr(at + name.size());
      return rest.substr(0, rest.find(','));
    }
  }
  return mount.substr(0, mount.find(':'));
}

void judge_mount(Case& c, string_view mount) {
  const string_view host = host_side(mount);
  if (host.empty() || (host.find('/') == string_view::npos && !host.starts_with('~') && !host.starts_with('.') &&
                       !host.starts_with('$')))
    return;
  if (contains(host, "docker.sock") || contains(host, "containerd.sock") || contains(host, "podman.sock")) {
    return c.note(Level::critical, Category::privilege | Category::system,
                  "hands the container daemon, which is root on the host, to a container");
  }
  const Target target = c.place(host);
  if (target.zone == Zone::filesystem_root || contains(host, "/proc") || target.path == "/etc" ||
      target.path == "/root" || target.path == "/var/run" || target.path == "/dev") {
    return c.note(Level::critical, bit(Category::privilege), "gives a container the host's own files");
  }
  if (target.ward == Ward::secret)
    return c.note(Level::high, bit(Category::credential_access) | Category::path_escape | Category::system,
                  "gives a container keys");
  if (target.zone == Zone::system || target.zone == Zone::home || target.zone == Zone::home_root ||
      target.zone == Zone::above) {
    c.note(Level::high, Category::path_escape | Category::system, "gives a container files outside the workspace");
  }
}

void judge_container_options(Case& c, const Arguments& args) {
  for (const Option& option : args.options) {
    const string_view value = option.value ? string_view(*option.value) : string_view();
    if (in_list("-v --volume --mount", option.name)) judge_mount(c, value);
    if (option.name == "--privileged" && value != "false")
      c.note(Level::high, bit(Category::privilege) | Category::system, "runs a container with all rights");
    if (in_list("--pid --ipc --uts --userns --cgroupns --net --network", option.name) && value == "host") {
      if (option.name == "--net" || option.name == "--network")
        c.note(Level::medium, Category::system | Category::network, "puts a container on the host's network");
      else
        c.note(Level::high, Category::privilege | Category::system, "opens the host's processes to a container");
    }
    if (option.name == "--cap-add")
      c.note(Level::high, Category::privilege | Category::system, "gives a container more rights");
    if (option.name == "--device")
      c.note(Level::high, Category::privilege | Category::system, "gives a container a device");
    if (option.name == "--security-opt" && (contains(value, "unconfined") || contains(value, "disable")))
      c.note(Level::high, Category::privilege | Category::system, "switches a container's confinement off");
  }
  if (args.has("--privileged") && c.judgement.level < Level::critical) {
    for (const Word& word : c.argv) {
      if (in_list("nsenter chroot", word.text))
        c.note(Level::critical, bit(Category::privilege), "leaves the container for the host");
    }
  }
}

}  // namespace

/// `docker run -it`: there `-t` asks for a terminal and takes nothing, unlike the tag of `docker build`.
constexpr string_view kRunOptions =
    "-p --publish -v --volume --mount -e --env --env-file --name --network --net -w --workdir -u --user --entrypoint "
    "--platform --pid --ipc --uts --userns --cgroupns --cap-add --cap-drop --security-opt --device --restart --memory "
    "-m "
    "--cpus --label -l --log-driver --add-host --hostname -h --tmpfs --gpus --volumes-from";

void judge_container(Case& c) {
  const bool runs =
      std::any_of(c.argv.begin(), c.argv.end(), [](const Word& w) { return in_list("run exec create", w.text); });
  const Arguments args = runs ? read_arguments(c.argv, 1, kRunOptions) : c.arguments();
  const string_view sub = args.positional(0);
  if (sub.empty() || in_list("version help --version", sub)) return;
  const SubcommandEffect* effect = find_effect(c.key, sub);
  if (effect != nullptr) c.note(effect->level, effect->categories, "talks to the container daemon");
  judge_container_options(c, args);
  const string_view verb = args.positional(1);
  if ((in_list("system volume image container network builder", sub) && in_list("prune rm remove", verb)) ||
      in_list("rm rmi", sub) ||
      ((sub == "compose" || c.key.ends_with("-compose")) && args.has("-v --volumes") &&
       (verb == "down" || sub == "down")) ||
      (c.key == "vagrant" && sub == "destroy")) {
    c.note(Level::medium, Category::destructive | Category::system, "deletes containers, images or volumes");
  }
  if (in_list("push", verb) && sub == "compose")
    c.note(Level::high, bit(Category::exfiltration) | Category::network | Category::system, "publishes an image");
}

namespace {

/// `DROP`, `TRUNCATE`, or a `DELETE`/`UPDATE` of every row.
bool destroys_data(string_view sql) {
  const std::string text = lower(sql);
  for (const string_view part :
       {"drop table", "drop database", "drop schema", "drop index", "drop view", "drop user", "drop role",
        "drop column", "drop collection", "truncate", "flushall", "flushdb", "dropdatabase", ".drop(", "deletemany({})",
        "drop keyspace", "drop owned", "remove({})"}) {
    if (contains(text, part)) return true;
  }
  for (const string_view verb : {"delete from", "update "}) {
    const std::size_t at = text.find(verb);
    if (at == std::string::npos) continue;
    const std::size_t end = std::min(text.find(';', at), text.size());
    const string_view statement = string_view(text).substr(at, end - at);
    if (!contains(statement, "where") && (verb == "delete from" || contains(statement, " set "))) return true;
  }
  return false;
}

bool runs_programs(string_view sql) {
  const std::string text = lower(sql);
  return contains(text, "\\!") || contains(text, ".shell") || contains(text, ".system") ||
         contains(text, "to program") || contains(text, "from program") || contains(text, "xp_cmdshell") ||
         contains(text, "sys_exec") || text.starts_with("system ") || contains(text, "load_extension");
}

std::string all_text(const Case& c, const Arguments& args) {
  std::string out;
  for (const Option& option : args.options) {
    if (option.value && in_list("-c -e --command --execute --eval -cmd", option.name)) out += *option.value + "\n";
  }
  for (const Word* word : args.positionals)
    out += word->text + (contains(c.key, "redis") || c.key == "etcdctl" || c.key == "mysqladmin" ? " " : "\n");
  for (const Redirect& redirect : c.command.redirects) {
    if (redirect.kind == RedirectKind::here_doc || redirect.kind == RedirectKind::here_string)
      out += redirect.target.text + "\n";
  }
  if (c.command.piped_from != SimpleCommand::npos) {
    for (const Word& word : c.line.script.commands[c.command.piped_from].argv) out += word.text + "\n";
  }
  return out;
}

bool is_local_database(const Case& c, const Arguments& args) {
  if (in_list("sqlite3 sqlite duckdb litecli", c.key)) return true;
  for (const Option& option : args.options) {
    if (in_list("-h --host", option.name) && option.value)
      return is_loopback(*option.value) || option.value->starts_with('/');
  }
  for (const Word& word : c.argv) {
    if (contains(word.text, "://")) return is_loopback(host_of(word.text));
    if (word.opaque && contains(lower(word.text), "url")) return false;
  }
  return true;
}

}  // namespace

void judge_database(Case& c) {
  const Arguments args = c.arguments();
  if (args.positionals.empty() && args.has("--version -V --help -version")) return;
  const bool file = in_list("sqlite3 sqlite duckdb litecli", c.key);
  const bool local = is_local_database(c, args);
  const std::string text = all_text(c, args);
  if (file) {
    if (!args.positionals.empty()) c.note(effect_of_read(c.place(*args.positionals.front())));
    const std::string folded = lower(text);
    const bool reads = contains(folded, "select") || contains(folded, ".schema") || contains(folded, ".tables") ||
                       contains(folded, "pragma");
    const bool writes = contains(folded, "insert") || contains(folded, "update") || contains(folded, "create") ||
                        contains(folded, "alter") || contains(folded, "delete");
    if (!reads || writes) c.note(Level::low, bit(Category::workspace_write), "may change a database file");
  } else {
    c.note(local ? Level::low : Level::medium, bit(Category::network),
           local ? "talks to a database on this machine" : "talks to a database on another machine");
  }
  if (runs_programs(text)) c.note(Level::high, bit(Category::inline_code), "has the database client run a command");
  const bool drops = in_list("dropdb dropuser", c.key) || (c.key == "mysqladmin" && contains(text, "drop"));
  if (destroys_data(text) || drops || (c.key == "etcdctl" && contains(text, "del ")) || args.has("--clean --drop")) {
    c.note(file ? Level::medium : Level::high,
           file ? bit(Category::destructive) : Category::destructive | Category::network,
           "destroys data in a database");
  }
  for (const Option& option : args.options) {
    if (option.value && in_list("-o --output --out -f", option.name) && (c.key == "pg_dump" || option.name != "-f"))
      c.writes(*option.value);
  }
}

namespace {

void judge_service(Case& c, const Arguments& args) {
  const string_view verb = args.positional(0);
  static constexpr string_view kGuards =
      "auditd ufw firewalld apparmor fail2ban escrow nftables iptables falco crowdsec clamav-daemon osqueryd rsyslog "
      "systemd-journald";
  const SubcommandEffect* effect = find_effect(c.key, verb);
  if (effect != nullptr)
    c.note(effect->level, effect->categories, c.key + " " + std::string(verb));
  else
    c.note(Level::high, bit(Category::system), "controls services");
  if (effect != nullptr && effect->level == Level::none) return;
  for (std::size_t i = 0; i < args.positionals.size(); ++i) {
    std::string name = args.positionals[i]->text;
    if (name.ends_with(".service")) name.resize(name.size() - 8);
    const bool stops = std::any_of(args.positionals.begin(), args.positionals.end(), [](const Word* w) {
      return in_list("stop disable mask kill unload bootout", w->text);
    });
    if (stops && in_list(kGuards, name))
      c.note(Level::critical, Category::guard_tamper | Category::system, "stops a guard of this machine");
  }
}

void judge_scheduler(Case& c, const Arguments& args) {
  if (c.key == "atq") return;
  if (c.key == "atrm") return c.note(Level::medium, bit(Category::destructive), "removes planned jobs");
  if (c.key == "crontab" && args.has("-l")) return;
  if (c.key == "crontab" && args.has("-r"))
    return c.note(Level::high, Category::destructive | Category::persistence, "deletes all planned jobs");
  c.note(Level::high, bit(Category::persistence), "plans a job that outlives this session");
}

void judge_process(Case& c, const Arguments& args) {
  const std::string all = [&] {
    std::string out;
    for (const Word& word : c.argv) out += word.text + " ";
    return lower(out);
  }();
  if (contains(all, "escrow"))
    return c.note(Level::critical, Category::guard_tamper | Category::system, "ends the guard");
  if (c.key != "kill") return c.note(Level::medium, bit(Category::system), "ends or changes processes by name");
  if (args.has("-l -L -0") || c.argv.size() < 2) return;
  for (std::size_t i = 1; i < c.argv.size(); ++i) {
    const Word& word = c.argv[i];
    if (word.text == "-1" && i > 1) return c.note(Level::critical, bit(Category::system), "ends every process");
    if (word.text == "1") return c.note(Level::high, bit(Category::system), "ends the first process");
    if (word.text.starts_with('-')) continue;
    if (word.text.starts_with('%') || word.text == "$!" || (word.opaque && !contains(word.text, "(")))
      c.note(Level::low, bit(Category::system), "ends a process it started");
    else
      c.note(Level::medium, bit(Category::system), "ends a process");
  }
}

void judge_kernel(Case& c, const Arguments& args) {
  if (in_list("mount losetup timedatectl hostnamectl localectl hwclock swapon sysctl", c.key) &&
      args.positionals.empty() && !args.has("-w -p --system -a -d"))
    return;
  if (c.key == "sysctl" && !args.has("-w -p --system --load") &&
      std::none_of(args.positionals.begin(), args.positionals.end(),
                   [](const Word* w) { return contains(w->text, "="); }))
    return;
  if (in_list("timedatectl hostnamectl localectl", c.key) && in_list("status show", args.positional(0))) return;
  if (in_list("setenforce aa-disable aa-complain aa-teardown", c.key) && args.positional(0) != "1")
    return c.note(Level::critical, Category::guard_tamper | Category::privilege,
                  "switches the machine's confinement off");
  if (c.key == "auditctl" && (args.has("-D -d") || (args.has("-e") && contains(c.word(2), "0"))))
    return c.note(Level::critical, bit(Category::guard_tamper), "switches auditing off");
  if (c.key == "sysctl" || c.key == "kexec")
    return c.note(Level::high, Category::system | Category::privilege, "changes the kernel's settings");
  if (in_list("useradd adduser usermod chpasswd passwd visudo groupadd gpasswd vipw", c.key))
    return c.note(Level::high, Category::privilege | Category::persistence, "changes accounts");
  if (c.key == "setcap") return c.note(Level::high, bit(Category::privilege), "gives a program special rights");
  c.note(Level::high, bit(Category::privilege), "changes the machine");
}

void judge_firewall(Case& c, const Arguments& args) {
  const bool lists = args.has("-L -S --list --list-all -nL -vL --state --get-zones") ||
                     in_list("status list show", args.positional(0));
  if (lists) return c.note(Level::medium, bit(Category::privilege), "reads the firewall's rules");
  c.note(Level::critical, bit(Category::guard_tamper), "changes the firewall");
}

void judge_guard(Case& c, const Arguments& args) {
  const string_view noun = args.positional(0), verb = args.positional(1);
  if (noun.empty() || in_list("score classify evaluate doctor help completion", noun)) return;
  if (in_list("policy audit", noun) && in_list("show check explain verify", verb)) return;
  if (in_list("grants review", noun) && in_list("list show", verb)) return;
  if ((noun == "review" && verb == "reject") || (noun == "grants" && verb == "deny"))
    return c.note(Level::low, bit(Category::workspace_write), "tightens what is allowed");
  if (noun == "exec" && !args.has("--allow-once --yes --apply --writable"))
    return c.note(Level::low, bit(Category::build_test), "runs a command in the sandbox");
  c.note(Level::critical, bit(Category::guard_tamper), "decides in the person's place");
}

void judge_wrapper(Case& c, const Arguments& args) {
  if (c.key == "coproc") return c.note(Level::low, bit(Category::inline_code), "runs a command beside the shell");
  if (c.key == "systemd-run")
    c.note(Level::high, Category::persistence | Category::system, "starts a unit that outlives this session");
  if (c.key == "exec" && c.argv.size() > 1) return;
  if (in_list("gdb lldb cgdb", c.key)) {
    for (std::size_t i = 1; i + 1 < c.argv.size(); ++i) {
      const string_view text = c.word(i + 1);
      if (!in_list("-ex -iex -o -s --eval-command --ex", c.word(i))) continue;
      if (starts_with_any(text, {"!", "shell", "python", "pipe", "script", "platform shell"}))
        c.launches(text.substr(std::min(text.find(' '), text.size())), contains(text, " "));
    }
    if (args.has("-p --pid -attach")) c.note(Level::high, bit(Category::system), "takes over a running process");
    if (args.has("-x --command"))
      c.note(Level::medium, bit(Category::inline_code), "runs a debugger script whose content is not seen");
    return c.note(Level::low, bit(Category::build_test), "debugs a program");
  }
  if (in_list("strace ltrace dtruss perf", c.key) && args.has("-p --pid"))
    c.note(Level::high, bit(Category::system), "watches a running process");
  if (in_list("torsocks torify proxychains proxychains4", c.key))
    c.note(Level::high, bit(Category::network), "goes past the network boundary");
  for (const Option& option : args.options) {
    if (option.value && in_list(c.profile->write_options, option.name)) c.writes(*option.value);
  }
  if (c.key == "expect" || c.key == "rlwrap") return;
  if (c.key == "script" && !args.positionals.empty()) c.writes(*args.positionals.front());
  if ((c.key == "xargs" || c.key == "parallel") && args.has("-a --arg-file"))
    c.note(effect_of_read(c.place(args.find("-a --arg-file")->value.value_or(""))));
  if (const SubcommandEffect* effect = find_effect(c.key, args.positional(0)); effect != nullptr)
    c.note(effect->level, effect->categories, c.key + " " + std::string(args.positional(0)));
  if (c.key != "parallel" || !args.positionals.empty() || !c.has_input()) return;
  if ((c.input() & kFromNetwork) != 0)
    c.note(Level::critical, Category::remote_code | Category::network, "runs text downloaded from the network");
  else if ((c.input() & kDecoded) != 0)
    c.note(Level::critical, bit(Category::obfuscation), "runs text that was just decoded");
  else
    c.note(Level::medium, bit(Category::inline_code), "runs every line of its input");
}

void judge_privileged(Case& c, const Arguments& args) {
  if (c.key == "sudo" && c.argv.size() == 2 && in_list("-V -K -k -l -v --version", c.word(1))) {
    if (c.word(1) == "-l" || c.word(1) == "-v") c.note(Level::high, bit(Category::privilege), "asks for root rights");
    return;
  }
  static_cast<void>(args);
  c.note(Level::high, bit(Category::privilege),
         in_list("sudo doas pkexec su runuser", c.key) ? "acts with another user's rights"
                                                       : "changes the sandbox it runs in");
}

}  // namespace

void judge_system(Case& c) {
  const Arguments args = c.arguments();
  switch (c.profile->role) {
    case Role::wrapper:
      return judge_wrapper(c, args);
    case Role::privileged:
      return judge_privileged(c, args);
    case Role::service:
      return judge_service(c, args);
    case Role::scheduler:
      return judge_scheduler(c, args);
    case Role::process:
      return judge_process(c, args);
    case Role::power:
      if (args.has("--help --version -c")) return;
      return c.note(Level::critical, bit(Category::system), "switches the machine off");
    case Role::kernel:
      return judge_kernel(c, args);
    case Role::firewall:
      return judge_firewall(c, args);
    case Role::guard:
      return judge_guard(c, args);
    case Role::clipboard:
      if (in_list("open xdg-open start", c.key) && contains(args.positional(0), "://"))
        return c.note(Level::medium, bit(Category::network), "opens an address in a browser");
      return c.note(Level::medium, bit(Category::system), "uses the person's desktop");
    default:
      return;
  }
}

void judge_vault(Case& c) {
  const Arguments args = c.arguments();
  const string_view verb = args.positional(0);
  constexpr CategorySet kSecret = bit(Category::credential_access);
  if (c.key == "openssl") {
    if (args.has("-connect")) {
      c.connects(args.find("-connect")->value.value_or(""));
      if ((c.input() & kSecretData) != 0) c.uploads(kSecretData, "");
    }
    for (const Option& option : args.options) {
      if (!option.value) continue;
      if (in_list(c.profile->write_options, option.name)) c.writes(*option.value);
      if (in_list("-in -key -inkey -cert -CAfile", option.name)) c.note(effect_of_read(c.place(*option.value)));
    }
    if (in_list("genrsa genpkey req", c.word(1)))
      c.note(Level::low, bit(Category::workspace_write), "makes keys or certificates");
    return;
  }
  if (c.key == "gpg" || c.key == "gpg2") {
    if (args.has("--export-secret-keys --export-secret-subkeys"))
      return c.note(Level::high, kSecret, "exports secret keys");
    if (args.has("-d --decrypt")) return c.note(Level::medium, kSecret, "decrypts a file");
    if (args.has("--verify --list-keys -k --version --list-public-keys --fingerprint --list-secret-keys -K")) return;
    if (args.has("--recv-keys --send-keys --keyserver --search-keys --refresh-keys"))
      return c.note(Level::medium, bit(Category::network), "contacts a key server");
    return c.note(Level::low, bit(Category::workspace_write), "signs or encrypts a file");
  }
  if (c.key == "ssh-keygen") {
    if (args.has("-l -F -B")) return;
    const Option* file = args.find("-f");
    if (file != nullptr && file->value) return c.writes(*file->value);
    return c.note(Level::high, Category::credential_access | Category::path_escape, "makes or changes login keys");
  }
  if (c.key == "ssh-keyscan") return c.note(Level::medium, bit(Category::network), "contacts another host");
  if (c.key == "ssh-agent") return c.note(Level::low, bit(Category::system), "starts a key agent");
  if (c.key == "mkcert")
    return c.note(Level::high, Category::privilege | Category::path_escape, "changes what the machine trusts");
  if (in_list("certbot step", c.key)) return c.note(Level::medium, bit(Category::network), "contacts another host");
  if (in_list("age-keygen cfssl", c.key)) return c.note(Level::low, bit(Category::workspace_write), "makes keys");
  if (c.key == "age" || c.key == "sops")
    return c.note(args.has("-d --decrypt") || verb == "decrypt" ? Level::medium : Level::low, kSecret,
                  "handles encrypted secrets");
  if (verb.empty() && args.has("--version --help -h -v")) return;
  c.note(Level::high, kSecret, "reads keys or passwords from a store");
}

}  // namespace escrow::engine
