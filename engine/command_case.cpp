#include "engine/command_case.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace escrow::engine {

using std::string_view;

namespace {

constexpr int kMaxJudgeDepth = 6;
constexpr std::size_t kMaxNestedText = 1 << 20;

/// Names that a shell expands in an opaque word: `$NAME`, `${NAME…}`.
template <class F>
void each_variable(string_view text, F&& use) {
  for (std::size_t at = text.find('$'); at != string_view::npos; at = text.find('$', at + 1)) {
    std::size_t begin = at + 1;
    if (begin < text.size() && text[begin] == '{') ++begin;
    if (begin < text.size() && (text[begin] == '!' || text[begin] == '#')) ++begin;
    std::size_t end = begin;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
    if (end > begin) use(text.substr(begin, end - begin));
  }
}

/// The path in `@file`, `name=@file`, `--opt=file`, or the word itself.
string_view path_part(string_view text) {
  const std::size_t at = text.find('@');
  if (at == 0) return text.substr(1);
  if (at != string_view::npos && text[at - 1] == '=') return text.substr(at + 1);
  const std::size_t equals = text.find('=');
  if (text.starts_with("-") && equals != string_view::npos) return text.substr(equals + 1);
  return text;
}

}  // namespace

bool is_secret_name(string_view name) {
  const std::string folded = lower(name);
  static constexpr std::array<string_view, 13> kParts = {
      "token",      "secret",     "passwd",   "password",   "api_key",     "apikey", "private_key",
      "access_key", "credential", "auth_key", "passphrase", "session_key", "_pat"};
  return std::any_of(kParts.begin(), kParts.end(), [&](string_view part) { return contains(folded, part); });
}

bool names_secret_variable(string_view text) {
  bool found = false;
  each_variable(text, [&](string_view name) { found = found || is_secret_name(name); });
  return found;
}

Case::Case(LineState& state, std::size_t i, const SimpleCommand& cmd)
    : command(cmd), argv(cmd.argv), index(i), line(state) {
  if (argv.empty()) return;
  key = program_key(argv.front().text);
  profile = find_profile(key);
}

void Case::note(Level level, CategorySet categories, string_view message) {
  judgement.categories |= categories;
  if (level < judgement.level || (level == judgement.level && !judgement.message.empty())) return;
  judgement.level = level;
  judgement.message = message;
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    if ((categories & (CategorySet{1} << i)) == 0) continue;
    judgement.clause = static_cast<Category>(i);
    return;
  }
}

Arguments Case::arguments(std::size_t first) const {
  return read_arguments(argv, first, profile != nullptr ? profile->value_options : string_view());
}

Target Case::place(const Word& word) const {
  return locate(word, line.ground);
}
Target Case::place(string_view text) const {
  return locate(text, line.ground);
}
void Case::reads(const Word& word) {
  note(effect_of_read(place(word)));
}
void Case::writes(const Word& word) {
  note(effect_of_write(place(word)));
}
void Case::writes(string_view path) {
  note(effect_of_write(place(path)));
}

void Case::removes(const Word& word, Reach reach) {
  note(effect_of_removal(place(word), reach));
}

Taint Case::file_taint(string_view path) const {
  const auto known = line.files.find(place(path).path);
  return known == line.files.end() ? 0 : known->second;
}

Taint LineState::feeds_of(const SimpleCommand& command) {
  Taint taint = 0;
  if (command.piped_from != SimpleCommand::npos) {
    const std::size_t parent = script.commands[command.piped_from].parent;
    for (std::size_t i = command.piped_from_first; i <= command.piped_from && i < script.commands.size(); ++i) {
      if (script.commands[i].parent == parent) taint |= output_of(i);
    }
  }
  for (const Redirect& redirect : command.redirects) {
    if (redirect.kind == RedirectKind::here_doc || redirect.kind == RedirectKind::here_string) {
      if (names_secret_variable(redirect.target.text) && redirect.target.opaque) taint |= kSecretData;
      each_variable(redirect.target.text, [&](string_view name) {
        if (const auto it = variables.find(name); it != variables.end()) taint |= it->second;
      });
    }
    if (redirect.kind != RedirectKind::read) continue;
    const Target target = locate(redirect.target, ground);
    if (target.ward == Ward::secret) taint |= kSecretData;
    if (target.zone == Zone::socket_device) taint |= kFromNetwork;
    if (const auto it = files.find(target.path); it != files.end()) taint |= it->second;
    if (!redirect.target.text.starts_with("<(")) taint |= kLocalData;
  }
  return taint;
}

Taint Case::input() const {
  Taint taint = line.feeds_of(command);
  // `sh < <(curl …)`: a process substitution named by a redirect.
  const bool redirected = std::any_of(command.redirects.begin(), command.redirects.end(), [](const Redirect& r) {
    return r.kind == RedirectKind::read && contains(r.target.text, "<(");
  });
  const bool here = std::any_of(command.redirects.begin(), command.redirects.end(), [](const Redirect& r) {
    return (r.kind == RedirectKind::here_doc || r.kind == RedirectKind::here_string) && r.target.opaque;
  });
  if (redirected || here) taint |= brought();
  return taint;
}

bool Case::has_input() const {
  return command.piped_from != SimpleCommand::npos ||
         std::any_of(command.redirects.begin(), command.redirects.end(), [](const Redirect& r) {
           return r.fd <= 0 && r.fd != -2 &&
                  (r.kind == RedirectKind::read || r.kind == RedirectKind::here_doc ||
                   r.kind == RedirectKind::here_string);
         });
}

Taint Case::brought() const {
  Taint taint = 0;
  for (const std::size_t child : line.children[index]) {
    const SimpleCommand& inner = line.script.commands[child];
    const bool substituted =
        inner.context == CommandContext::substitution || inner.context == CommandContext::process_substitution;
    if (substituted && inner.piped_from != index) taint |= line.output_of(child);
    // `curl … | sh -c "$(cat)"`: what stands in the substitution reads the same input.
    if (substituted && inner.piped_from == SimpleCommand::npos)
      taint |= line.feeds_of(command) & (kFromNetwork | kDecoded);
  }
  for (const Word& word : argv) {
    if (!word.opaque) continue;
    if (names_secret_variable(word.text)) taint |= kSecretData;
    each_variable(word.text, [&](string_view name) {
      if (const auto it = line.variables.find(name); it != line.variables.end()) taint |= it->second;
    });
  }
  return taint;
}

bool Case::wrapped_by(string_view programs) const {
  for (std::size_t at = command.parent; at != SimpleCommand::npos; at = line.script.commands[at].parent) {
    const SimpleCommand& outer = line.script.commands[at];
    if (!outer.argv.empty() && in_list(programs, program_key(outer.argv.front().text))) return true;
  }
  return false;
}

ScriptJudgement Case::judge_text(string_view script) const {
  CommandScene scene = line.scene;
  scene.ground = line.ground;
  scene.depth += 1;
  *scene.nested_left -= 1 + static_cast<int>(std::min(script.size(), kMaxNestedText) / 2048);
  if (scene.depth > kMaxJudgeDepth || *scene.nested_left < 0) {
    ScriptJudgement out;
    out.level = Level::high;
    out.categories = Category::obfuscation | Category::inline_code;
    return out;
  }
  return judge_script(parse_shell(script), scene);
}

void Case::launches(string_view script, bool known) {
  if (!known) return note(Level::high, bit(Category::inline_code), "has " + key + " run a command that is not known");
  const ScriptJudgement inner = judge_text(script);
  const CategorySet grave =
      inner.categories & ~(bit(Category::read_only) | Category::workspace_write | Category::build_test);
  const Level level = inner.level == Level::none ? Level::medium : std::max(inner.level, Level::high);
  note(level, bit(Category::inline_code), "has " + key + " run a command");
  if (inner.level > Level::high) note(inner.level, grave | Category::inline_code, inner.message);
  judgement.categories |= grave;
}

void Case::uploads(Taint taint, string_view how) {
  if ((taint & kSecretData) != 0) {
    return note(Level::critical, bit(Category::exfiltration) | Category::network | Category::credential_access,
                "sends secrets to another machine");
  }
  note(Level::high, Category::exfiltration | Category::network, how);
}

void Case::connects(string_view host_or_url) {
  const string_view host = host_of(host_or_url);
  if (is_metadata_host(host)) {
    note(Level::critical, Category::credential_access | Category::network,
         "asks the cloud metadata service for credentials");
  } else if (is_loopback(host)) {
    note(Level::low, bit(Category::network), "talks to this machine only");
  } else {
    note(Level::medium, bit(Category::network), "contacts " + std::string(host.substr(0, 120)));
  }
}

namespace {

/// Data that a command puts on its standard output by itself.
class OutputReader {
 public:
  OutputReader(LineState& line, std::size_t index) : c_(line, index, line.script.commands[index]), line_(line) {}

  Taint read() {
    const SimpleCommand& command = c_.command;
    Taint taint = line_.feeds_of(command) | c_.brought();
    if (c_.argv.empty()) return taint;
    taint |= of_program();
    for (const std::size_t child : line_.children[c_.index]) {
      const CommandContext context = line_.script.commands[child].context;
      if (context == CommandContext::nested_shell || context == CommandContext::wrapped)
        taint |= line_.output_of(child);
    }
    return taint;
  }

 private:
  Taint of_program() {
    const Role role = c_.profile != nullptr ? c_.profile->role : Role::reader;
    switch (role) {
      case Role::fetcher:
        return kFromNetwork;
      case Role::remote:
      case Role::lookup:
        return kFromNetwork | of_files();
      case Role::cloud:
        return kFromNetwork;
      case Role::environment:
        return kSecretData;
      case Role::quiet:
        return of_quiet();
      case Role::vault:
        return of_vault();
      case Role::vcs:
        return of_git();
      case Role::interpreter:
        return of_code();
      default:
        return of_files() | of_decoder();
    }
  }

  Taint of_quiet() const {
    if (c_.key == "printenv") return c_.argv.size() == 1 || is_secret_name(c_.word(1)) ? kSecretData : 0;
    if (c_.key == "set" || c_.key == "export" || c_.key == "declare") return c_.argv.size() == 1 ? kSecretData : 0;
    if (in_list("whoami id hostname uname ps lsof history last ifconfig ip netstat", c_.key)) return kLocalData;
    if (c_.key == "tr") return contains(c_.word(1), "a-z") && contains(c_.word(2), "n-za-m") ? kDecoded : Taint{0};
    if (c_.key != "echo" && c_.key != "printf") return 0;
    for (const Word& word : c_.argv) {
      for (std::size_t at = word.text.find('\\'); at != std::string::npos; at = word.text.find('\\', at + 2)) {
        const string_view rest = string_view(word.text).substr(at + 1);
        if (rest.starts_with('x') || (rest.size() > 1 && std::isdigit(static_cast<unsigned char>(rest[0])) != 0 &&
                                      std::isdigit(static_cast<unsigned char>(rest[1])) != 0)) {
          return kDecoded;
        }
      }
    }
    return 0;
  }

  Taint of_vault() const {
    const Arguments args = c_.arguments();
    if (c_.key == "openssl") {
      if (args.has("-d") || in_list("base64", c_.word(1))) return kDecoded | of_files();
      return args.has("-connect") ? kFromNetwork : of_files();
    }
    if ((c_.key == "gpg" || c_.key == "gpg2") && args.has("-d --decrypt")) return kDecoded | kSecretData;
    return in_list("ssh-keygen ssh-keyscan certbot mkcert", c_.key) ? 0 : kSecretData;
  }

  Taint of_git() const {
    for (const Word& word : c_.argv) {
      if (in_list("diff show archive bundle cat-file log format-patch", word.text)) return kLocalData;
    }
    return 0;
  }

  Taint of_code() const {
    Taint taint = of_files();
    for (const Word& word : c_.argv) {
      const std::string text = lower(word.text);
      if (contains(text, "b64decode") || contains(text, "unhexlify") || contains(text, "fromhex") ||
          contains(text, "atob(") || contains(text, "decode64") || contains(text, "base64_decode") ||
          contains(text, "'base64'") || contains(text, "chr(") || contains(text, "pack(")) {
        taint |= kDecoded;
      }
      if (contains(text, "environ") || contains(text, "process.env")) taint |= kSecretData;
      if (contains(text, "urlopen") || contains(text, "requests.") || contains(text, "fetch(")) taint |= kFromNetwork;
    }
    return taint;
  }

  Taint of_files() const {
    Taint taint = 0;
    for (std::size_t i = 1; i < c_.argv.size(); ++i) {
      const Word& word = c_.argv[i];
      const string_view text = path_part(word.text);
      if (text.empty() || (text.front() == '-' && text == word.text)) continue;
      const Target target = text.size() == word.text.size() ? c_.place(word) : c_.place(text);
      if (target.ward == Ward::secret || (target.ward == Ward::privilege_file && contains(target.path, "shadow")))
        taint |= kSecretData;
      if (target.path.ends_with("/environ")) taint |= kSecretData;
      if (const auto it = line_.files.find(target.path); it != line_.files.end()) taint |= it->second;
      taint |= kLocalData;
    }
    return taint;
  }

  Taint of_decoder() const {
    const Arguments args = c_.arguments();
    if (in_list("base64 base32 basenc", c_.key)) return args.has("-d -D --decode") ? kDecoded : 0;
    if (c_.key == "xxd") return args.has("-r -revert") ? kDecoded : 0;
    if (in_list("rev uudecode gunzip zcat bunzip2 bzcat unxz xzcat unzstd", c_.key)) return kDecoded;
    if (in_list("gzip bzip2 xz zstd", c_.key)) return args.has("-d --decompress") ? kDecoded : 0;
    return 0;
  }

  Case c_;
  LineState& line_;
};

}  // namespace

Taint LineState::output_of(std::size_t index) {
  if (index >= output.size()) return 0;
  if (output[index]) return *output[index];
  output[index] = 0;  // a circle adds nothing
  const Taint taint = OutputReader(*this, index).read();
  output[index] = taint;
  return taint;
}

bool glob_matches(string_view pattern, string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    for (std::size_t i = 0; i <= name.size(); ++i) {
      if (glob_matches(pattern.substr(1), name.substr(i))) return true;
    }
    return false;
  }
  if (name.empty()) return false;
  if (pattern.front() == '[') {
    const std::size_t close = pattern.find(']', 1);
    if (close == string_view::npos) return false;
    return pattern.substr(1, close - 1).find(name.front()) != string_view::npos &&
           glob_matches(pattern.substr(close + 1), name.substr(1));
  }
  return (pattern.front() == '?' || pattern.front() == name.front()) && glob_matches(pattern.substr(1), name.substr(1));
}

}  // namespace escrow::engine
