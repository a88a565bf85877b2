#include <algorithm>
#include <array>
#include <cctype>

#include "engine/command_case.h"

// Programs that talk to other machines: what they fetch, and above all what they send.

namespace escrow::engine {

using std::string_view;

string_view host_of(string_view url) {
  if (const std::size_t scheme = url.find("://"); scheme != string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (const std::size_t at = url.rfind('@'); at != string_view::npos) url.remove_prefix(at + 1);
  if (url.starts_with('[')) return url.substr(1, url.find(']') - 1);
  if (std::count(url.begin(), url.end(), ':') == 1) url = url.substr(0, url.find(':'));
  while (url.ends_with('.')) url.remove_suffix(1);
  return url;
}

bool is_loopback(string_view host) {
  const std::string name = lower(host);
  if (name == "localhost" || name == "::1" || name == "0.0.0.0" || name == "0" || name.ends_with(".localhost"))
    return true;
  return name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos;
}

bool is_metadata_host(string_view host) {
  const std::string name = lower(host);
  return in_list(
      "169.254.169.254 metadata.google.internal metadata fd00:ec2::254 100.100.100.200 169.254.170.2 2852039166 "
      "0xa9fea9fe metadata.azure.com",
      name);
}

namespace {

bool is_file_url(string_view url) {
  return url.starts_with("file:");
}

struct Transfer {
  bool remote = false;  ///< some address is not this machine
  bool contacts = false;
};

void judge_url(Case& c, const Word& word, Transfer& transfer) {
  const string_view url = word.text;
  if (is_file_url(url)) return c.note(effect_of_read(c.place(url)));
  transfer.contacts = true;
  const string_view host = host_of(url);
  const bool local = is_loopback(host) && !word.opaque;
  if (!local) transfer.remote = true;
  c.connects(is_loopback(host) && word.opaque && !url.starts_with("http://127") && !contains(url, "localhost")
                 ? "an address that is not known"
                 : url);
  if (word.opaque && is_loopback(host)) transfer.remote = contains(host, "$");
}

/// What one `-d`, `-F` or `-T` sends: a file, standard input, or literal text.
Taint sent_by(const Case& c, string_view value, bool file_always, bool& literal) {
  string_view path = value;
  if (!file_always) {
    const std::size_t at = value.find_first_of("@<");
    if (at == string_view::npos || (at > 0 && value[at - 1] != '=')) {
      literal = true;
      return 0;
    }
    path = value.substr(at + 1);
  }
  path = path.substr(0, path.find(';'));
  literal = false;
  if (path == "-" || path == "." || path == "/dev/stdin") return c.input() | kLocalData;
  const Target target = c.place(path);
  Taint taint = kLocalData | c.file_taint(path);
  if (target.ward == Ward::secret || target.path.ends_with("/environ") || (target.ward == Ward::privilege_file))
    taint |= kSecretData;
  if (path.starts_with("<(") || path.starts_with("$")) taint |= c.brought();
  return taint;
}

void judge_sent(Case& c, const Arguments& args, const Transfer& transfer) {
  static constexpr string_view kBodies =
      "-d --data --data-binary --data-ascii --data-urlencode --json -F --form --post-data --body-data --data-raw "
      "--form-string";
  static constexpr string_view kFiles = "-T --upload-file --post-file --body-file";
  bool sends = false;
  Taint taint = 0;
  for (const Option& option : args.options) {
    if (!option.value) continue;
    const bool file = in_list(kFiles, option.name) && (c.key == "curl" || option.name != "-T");
    const bool wget_data = c.key.starts_with("wget") && in_list("-d -F -T", option.name);
    if (wget_data || (!file && !in_list(kBodies, option.name))) continue;
    bool literal = false;
    const Taint sent =
        option.name == "--data-raw" || option.name == "--form-string" || option.name.starts_with("--post-data")
            ? (literal = true, Taint{0})
            : sent_by(c, *option.value, file, literal);
    if (!literal) {
      sends = true;
      taint |= sent;
    } else if (option.word != nullptr && option.word->opaque && names_secret_variable(option.word->text)) {
      sends = true;
      taint |= kSecretData;
    }
  }
  if (!transfer.remote) return;
  if (sends) c.uploads(taint, "sends workspace files to another machine");
  // A substitution in the address or the body carries its output away.
  const Taint brought = [&] {
    Taint sum = 0;
    for (const std::size_t child : c.line.children[c.index]) {
      const SimpleCommand& inner = c.line.script.commands[child];
      if (inner.context == CommandContext::substitution) sum |= c.line.output_of(child);
    }
    for (const Word& word : c.argv) {
      if (!word.opaque || contains(word.text, "uthorization") || contains(word.text, "oken:") ||
          contains(word.text, "-Key:"))
        continue;
      for (const auto& [name, known] : c.line.variables) {
        if (contains(word.text, "$" + name) || contains(word.text, "${" + name)) sum |= known;
      }
      if (names_secret_variable(word.text) && contains(word.text, "://")) sum |= kSecretData;
    }
    return sum;
  }();
  if ((brought & (kSecretData | kLocalData)) != 0)
    c.uploads(brought, "sends the output of a command to another machine");
}

void judge_method(Case& c, const Arguments& args, const Transfer& transfer) {
  const Option* method = args.find("-X --request --method");
  if (method == nullptr || !method->value || !transfer.remote) return;
  if (lower(*method->value) == "delete")
    c.note(Level::high, Category::destructive | Category::network, "deletes something on another machine");
}

void judge_output(Case& c, const Arguments& args) {
  for (const Option& option : args.options) {
    if (!option.value || !in_list(c.profile->write_options, option.name)) continue;
    if (*option.value == "-") continue;
    if (c.key == "curl" && option.name == "-c" && *option.value == "-") continue;
    c.writes(*option.value);
    // A download is not yet a change of the workspace's files; it only counts as the write it is.
  }
  if (const Option* dir = args.find("--output-dir -P --directory-prefix"); dir != nullptr && dir->value)
    c.writes(*dir->value);
}

}  // namespace

void judge_fetcher(Case& c) {
  const Arguments args = c.arguments();
  Transfer transfer;
  for (const Word* word : args.positionals) {
    if (c.key == "http" || c.key == "https" || c.key == "xh") {
      if (in_list("GET POST PUT DELETE PATCH HEAD OPTIONS get post put delete", word->text)) continue;
      if (transfer.contacts) continue;
    }
    judge_url(c, *word, transfer);
  }
  for (const Option& option : args.options) {
    if (!option.value) continue;
    if (option.name == "--url") judge_url(c, Word{.text = *option.value, .span = {}}, transfer);
    if (option.name == "--unix-socket" && contains(*option.value, "docker"))
      c.note(Level::critical, Category::privilege | Category::system,
             "drives the container daemon, which is root on the host");
    if ((c.key == "curl" && option.name == "-K") || option.name == "--config") {
      c.note(effect_of_read(c.place(*option.value)));
      c.note(Level::medium, bit(Category::network), "contacts what a file names");
    }
    if (option.name == "--use-askpass") c.launches(*option.value, true);
    if (in_list("-i --input-file --key --cert --netrc-file -b --cookie --load-cookies", option.name) &&
        (contains(*option.value, "/") || option.name == "-i")) {
      if (!(c.key == "curl" && option.name == "-i")) c.note(effect_of_read(c.place(*option.value)));
    }
  }
  if (!transfer.contacts && c.wrapped_by("xargs gxargs parallel find")) {
    transfer = {true, true};
    c.note(Level::medium, bit(Category::network), "contacts another host");
  }
  judge_output(c, args);
  if (c.key.starts_with("wget") && transfer.contacts && !args.has("-O --output-document --spider"))
    c.note(Level::low, bit(Category::workspace_write), "writes what it downloads");
  judge_sent(c, args, transfer);
  judge_method(c, args, transfer);
  if (in_list("yt-dlp youtube-dl", c.key) && args.has("--exec"))
    c.launches(args.find("--exec")->value.value_or(""), args.find("--exec")->value.has_value());
}

namespace {

bool is_remote_path(string_view text) {
  if (text.starts_with("rsync://")) return true;
  const std::size_t colon = text.find(':');
  if (colon == string_view::npos || colon == 0) return false;
  return text.find('/') == string_view::npos || text.find('/') > colon;
}

/// Something is fed to a program that sends its input on.
void judge_fed(Case& c, string_view how) {
  const Taint taint = c.input();
  if (c.has_input() && (taint & (kLocalData | kSecretData)) != 0) c.uploads(taint, how);
}

constexpr string_view kRunningKeys =
    "proxycommand localcommand permitlocalcommand proxyusefdpass knownhostscommand match include pkcs11provider "
    "securitykeyprovider";

void judge_ssh_options(Case& c, const Arguments& args) {
  for (const Option& option : args.options) {
    if (!option.value) continue;
    if (option.name == "-o") {
      const std::string text = lower(*option.value);
      const std::string key = text.substr(0, text.find_first_of("= "));
      const std::size_t value = option.value->find_first_of("= ");
      if (in_list(kRunningKeys, key) && !contains(text, "proxycommand=none")) {
        if (value != std::string::npos) c.launches(string_view(*option.value).substr(value + 1), true);
        c.note(Level::high, Category::inline_code | Category::network, "has ssh run a command on this machine");
      }
    }
    if (option.name == "-S" && c.key != "ssh")
      c.note(Level::high, bit(Category::inline_code), "names the program used as transport");
    if (option.name == "-i" || option.name == "-F") {
      const Target target = c.place(*option.value);
      if (option.name == "-F")
        c.note(Level::medium, bit(Category::inline_code), "uses an ssh configuration that may run commands");
      else if (target.ward == Ward::secret)
        c.note(effect_of_read(target));
    }
    if (option.name == "-R" || option.name == "-w")
      c.note(Level::high, Category::remote_code | Category::network, "opens a way into this machine");
    if (option.name == "-D" || option.name == "-L")
      c.note(Level::high, bit(Category::network), "opens a tunnel past the network boundary");
  }
}

void judge_ssh(Case& c, const Arguments& args) {
  judge_ssh_options(c, args);
  if (args.positionals.empty()) {
    if (!args.has("-V -Q")) c.note(Level::medium, bit(Category::network), "contacts another host");
    return;
  }
  string_view host = args.positional(0);
  if (const std::size_t at = host.find('@'); at != string_view::npos) host.remove_prefix(at + 1);
  c.connects(host);
  std::string remote;
  for (std::size_t i = 1; i < args.positionals.size(); ++i) remote += (i > 1 ? " " : "") + args.positionals[i]->text;
  if (!remote.empty()) {
    const ScriptJudgement inner = c.judge_text(remote);
    if (inner.level >= Level::high && (inner.categories & bit(Category::destructive)) != 0)
      c.note(Level::high, Category::destructive | Category::network, "destroys data on another machine");
    if (inner.level >= Level::high && (inner.categories & bit(Category::privilege)) != 0)
      c.note(Level::high, Category::privilege | Category::network, "uses root rights on another machine");
  }
  judge_fed(c, "sends local data to another machine");
}

void judge_copy_across(Case& c, const Arguments& args) {
  judge_ssh_options(c, args);
  if (c.key == "rsync") {
    for (const Option& option : args.options) {
      if (!in_list("-e --rsh", option.name) || !option.value) continue;
      const string_view program = string_view(*option.value).substr(0, option.value->find(' '));
      if (base_name(program) != "ssh" || contains(lower(*option.value), "proxycommand"))
        c.launches(*option.value, true);
    }
    if (args.has("--rsync-path"))
      c.note(Level::high, bit(Category::inline_code), "names the program that the other side runs");
  }
  if (args.positionals.empty()) {
    if (!args.has("--version --help -h")) c.note(Level::medium, bit(Category::network), "contacts another host");
    return;
  }
  const Word& last = *args.positionals.back();
  const bool to_remote = is_remote_path(last.text) || c.key == "sftp";
  bool from_remote = false;
  Taint taint = kLocalData;
  for (std::size_t i = 0; i + 1 < args.positionals.size(); ++i) {
    const Word& source = *args.positionals[i];
    if (is_remote_path(source.text)) {
      from_remote = true;
      continue;
    }
    const Target target = c.place(source);
    if (target.ward == Ward::secret) taint |= kSecretData;
    taint |= c.file_taint(source.text);
    if (!to_remote) c.reads(source);
  }
  if (to_remote && args.positionals.size() > 1 && !from_remote) {
    const string_view host = host_of(string_view(last.text).substr(0, last.text.find(':')));
    if (is_loopback(host)) return c.note(Level::low, bit(Category::network), "talks to this machine only");
    return c.uploads(taint, "copies files to another machine");
  }
  if (from_remote || c.key != "rsync") {
    c.note(Level::medium, bit(Category::network), "contacts another host");
    if (!to_remote) c.writes(last);
    return;
  }
  c.writes(last);
  if (args.has("--delete --delete-after --delete-before --delete-excluded --remove-source-files"))
    c.note(Level::medium, bit(Category::destructive), "deletes files that the source does not have");
}

bool feeds_from_shell(const Case& c) {
  if (c.command.piped_from == SimpleCommand::npos) return false;
  for (std::size_t i = c.command.piped_from_first; i <= c.command.piped_from; ++i) {
    const SimpleCommand& feed = c.line.script.commands[i];
    if (feed.argv.empty()) continue;
    const CommandProfile* profile = find_profile(program_key(feed.argv.front().text));
    if (profile != nullptr && profile->role == Role::shell) return true;
  }
  return false;
}

void judge_raw_socket(Case& c, const Arguments& args) {
  const bool socat = c.key == "socat";
  for (const Word* word : args.positionals) {
    const std::string text = lower(word->text);
    if (socat && (text.starts_with("exec:") || text.starts_with("system:") || text.starts_with("shell:"))) {
      return c.note(Level::critical, Category::remote_code | Category::network, "hands a program to the network");
    }
  }
  if (!socat && args.has("-e -c --exec --sh-exec --lua-exec"))
    return c.note(Level::critical, Category::remote_code | Category::network, "hands a program to the network");
  if (feeds_from_shell(c))
    return c.note(Level::critical, Category::remote_code | Category::network, "hands a shell to the network");
  if (args.has("-h --help --version")) return;
  bool loopback = false;
  for (const Word* word : args.positionals)
    loopback =
        loopback || is_loopback(word->text) || contains(word->text, "localhost") || contains(word->text, "127.0.0.1");
  if (args.has("-l --listen") && !loopback)
    c.note(Level::medium, bit(Category::network), "listens for connections");
  else if (loopback)
    return c.note(Level::low, bit(Category::network), "talks to this machine only");
  c.note(Level::medium, bit(Category::network), "contacts another host");
  if (c.has_input()) {
    const Taint taint = c.input();
    if ((taint & (kLocalData | kSecretData)) != 0) c.uploads(taint, "sends local data to another machine");
  }
}

void judge_mail(Case& c, const Arguments& args) {
  Taint taint = c.has_input() ? c.input() : 0;
  for (const Option& option : args.options) {
    if (in_list("-a -A --attach", option.name) && option.value)
      taint |= kLocalData | (c.place(*option.value).ward == Ward::secret ? kSecretData : 0);
  }
  c.uploads(taint, "mails local data");
}

}  // namespace

void judge_remote(Case& c) {
  const Arguments args = c.arguments();
  if (in_list("ssh autossh mosh", c.key)) return judge_ssh(c, args);
  if (in_list("scp sftp rsync", c.key)) return judge_copy_across(c, args);
  if (in_list("nc ncat netcat socat", c.key)) return judge_raw_socket(c, args);
  if (in_list("mail mailx mutt sendmail msmtp swaks ssmtp", c.key)) return judge_mail(c, args);
  if (c.key == "rclone") {
    if (in_list("copy sync move copyto moveto rcat", args.positional(0)) && args.positionals.size() > 1) {
      const bool to_remote = is_remote_path(args.positionals.back()->text);
      const bool secret = args.positionals.size() > 2 && c.place(*args.positionals[1]).ward == Ward::secret;
      if (to_remote) return c.uploads(secret ? kSecretData : kLocalData, "copies files to another machine");
    }
    return c.note(Level::medium, bit(Category::network), "contacts another host");
  }
  if (c.key == "ssh-copy-id")
    return c.note(Level::high, Category::persistence | Category::network, "adds a login key on another machine");
  if (in_list("ngrok cloudflared localtunnel lt bore chisel frpc frps serveo tailscale wg wg-quick openvpn", c.key)) {
    return c.note(Level::high, Category::network | Category::exfiltration, "opens a way past the network boundary");
  }
  if (in_list("wormhole magic-wormhole croc transfer.sh", c.key)) {
    if (args.positional(0) == "receive") return c.note(Level::medium, bit(Category::network), "contacts another host");
    bool secret = false;
    for (const Word* word : args.positionals) secret = secret || c.place(*word).ward == Ward::secret;
    return c.uploads(secret ? kSecretData : kLocalData, "sends files to another machine");
  }
  const string_view host = args.positional(0);
  if (is_loopback(host)) return c.note(Level::low, bit(Category::network), "talks to this machine only");
  c.note(Level::medium, bit(Category::network), "contacts another host");
  judge_fed(c, "sends local data to another machine");
}

void judge_lookup(Case& c) {
  const Arguments args = c.arguments();
  if (args.positionals.empty() && !c.argv.empty() && args.has("-v --version -h --help -V")) return;
  if (in_list("tcpdump tshark ngrep", c.key))
    return c.note(Level::high, Category::privilege | Category::network, "listens to the machine's traffic");
  bool loopback = !args.positionals.empty();
  for (const Word* word : args.positionals) {
    if (!word->text.starts_with('+') && !word->text.starts_with('@') &&
        !in_list("A AAAA MX TXT NS ANY CNAME SOA", word->text))
      loopback = loopback && is_loopback(word->text);
  }
  if (loopback) return c.note(Level::low, bit(Category::network), "talks to this machine only");
  c.note(Level::medium, bit(Category::network), "contacts another host");
  const Taint taint = c.brought() | (c.wrapped_by("xargs gxargs parallel") ? c.input() : 0);
  if ((taint & (kSecretData | kLocalData)) != 0) {
    if ((taint & kSecretData) != 0) return c.uploads(taint, "");
    c.note(Level::high, Category::exfiltration | Category::network, "sends local data inside a name lookup");
  }
}

}  // namespace escrow::engine
