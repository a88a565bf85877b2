#include <algorithm>
#include <array>
#include <cctype>

#include "engine/command_case.h"
#include "engine/inner_command.h"

// Shells and interpreters: what text they run, where that text came from, and what literal program text does.

namespace escrow::engine {
namespace {

using std::string_view;

template <std::size_t N>
bool any_in(string_view text, const std::array<string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](string_view part) { return contains(text, part); });
}

/// Text of unknown content is run: how bad depends on where it came from.
void judge_source_of_program(Case& c, Taint taint, string_view what) {
  if ((taint & kFromNetwork) != 0) {
    return c.note(Level::critical, Category::remote_code | Category::network, "runs text downloaded from the network");
  }
  if ((taint & kDecoded) != 0)
    return c.note(Level::critical, bit(Category::obfuscation), "runs text that was just decoded");
  c.note(Level::medium, bit(Category::inline_code), what);
}

/// The file an interpreter is asked to run.
void judge_script_file(Case& c, const Word& word) {
  if (contains(word.text, "<(")) return judge_source_of_program(c, c.brought(), "runs the output of a command");
  const Taint taint = c.file_taint(word.text);
  if (taint != 0) judge_source_of_program(c, taint, "runs a file written a moment ago");
  if ((taint & (kFromNetwork | kDecoded)) != 0) return;
  if (judge_written_text(c, word)) return;
  if (contains(word.text, "://"))
    return c.note(Level::critical, Category::remote_code | Category::network, "runs text downloaded from the network");
  const Target target = c.place(word);
  if (word.opaque && (c.brought() & (kFromNetwork | kDecoded)) != 0)
    return judge_source_of_program(c, c.brought(), "runs the output of a command");
  const string_view name = base_name(word.text);
  const CommandProfile* known = find_profile(program_key(name));
  if (target.zone == Zone::workspace && contains(word.text, "node_modules/") && known != nullptr &&
      known->role == Role::build) {
    return c.note(Level::low, bit(Category::build_test), "runs the project's own tools");
  }
  if (c.profile->role == Role::interpreter && target.zone == Zone::workspace && is_project_script(target.path)) {
    return c.note(Level::low, bit(Category::build_test), "runs the project's own build or tests");
  }
  c.note(Level::medium, bit(Category::inline_code),
         "runs a script whose content is not seen: " + word.text.substr(0, 120));
  if (target.zone == Zone::above || target.zone == Zone::home || target.zone == Zone::system) {
    c.note(Level::medium, bit(Category::path_escape), "runs a script outside the workspace");
  }
}

bool reads_stdin_by_name(string_view text) {
  return in_list("- /dev/stdin /dev/fd/0 /proc/self/fd/0", text);
}

/// The literal here-document or here-string on standard input; nullptr if there is none.
const Word* here_text(const Case& c) {
  const Word* found = nullptr;
  for (const Redirect& redirect : c.command.redirects) {
    if ((redirect.kind == RedirectKind::here_doc || redirect.kind == RedirectKind::here_string) && redirect.fd <= 0)
      found = &redirect.target;
  }
  return found;
}

}  // namespace

bool judge_written_text(Case& c, const Word& file) {
  const auto known = c.line.texts.find(c.place(file).path);
  if (known == c.line.texts.end()) return false;
  const bool script = c.profile != nullptr && c.profile->role == Role::interpreter;
  if (script || known->second.starts_with("#!/usr/bin/env python") || known->second.starts_with("#!/usr/bin/python")) {
    judge_code(c, known->second);
    return true;
  }
  const ScriptJudgement inner = c.judge_text(known->second);
  c.note(Level::low, bit(Category::inline_code), "runs a script written on the same line");
  c.note(inner.level, inner.categories & ~bit(Category::read_only), inner.message);
  return true;
}

bool is_project_script(string_view path) {
  const std::string folded = lower(path);
  const string_view name = base_name(folded);
  if (in_list("setup.py manage.py noxfile.py conftest.py gulpfile.js artisan rakefile waf wscript x.py runtests.py "
              "run_tests.py test.py tests.py test.js tests.js",
              name))
    return true;
  if (name.starts_with("test_") || contains(name, "_test.") || contains(name, ".test.") || contains(name, ".spec.") ||
      contains(name, "_spec."))
    return true;
  return folded.starts_with("tests/") || folded.starts_with("test/") || folded.starts_with("spec/") ||
         contains(folded, "/tests/") || contains(folded, "/test/");
}

namespace {

/// PowerShell's own words; its text is not bash's.
void judge_powershell(Case& c) {
  std::string all;
  for (const Word& word : c.argv) all += lower(word.text) + " ";
  const bool evaluates = contains(all, "iex") || contains(all, "invoke-expression");
  static constexpr std::array<string_view, 9> kDownloads = {
      "iwr ",  "irm ", "invoke-webrequest", "invoke-restmethod", "downloadstring", "downloadfile", "net.webclient",
      "curl ", "wget "};
  if (evaluates && any_in(all, kDownloads))
    c.note(Level::critical, Category::remote_code | Category::network, "runs text downloaded from the network");
  for (const Word& word : c.argv) {
    const std::string option = lower(word.text);
    if (option.size() > 2 && string_view("-encodedcommand").starts_with(option))
      c.note(Level::critical, bit(Category::obfuscation), "runs text that it decodes first");
  }
  if (c.argv.size() > 1) c.note(Level::medium, bit(Category::inline_code), "has PowerShell run text");
}

}  // namespace

void judge_shell(Case& c) {
  if (in_list("powershell pwsh", c.key)) judge_powershell(c);
  const Arguments args = read_arguments(c.argv, 1, "-o -O +o +O --rcfile --init-file");
  if (const Option* file = args.find("--rcfile --init-file"); file != nullptr && file->value) {
    c.note(Level::medium, bit(Category::inline_code), "runs a start file whose content is not seen");
  }
  const Word* text = shell_text(c.argv);
  const Taint brought = c.brought();
  if (text != nullptr) {
    // `xargs -I{} sh -c '{}'`: what arrives is the program.
    if (contains(text->text, "{}") && c.wrapped_by("xargs gxargs parallel")) {
      return judge_source_of_program(c, c.input(), "has a shell run text from its input");
    }
    if (!text->opaque) return;
    if ((brought & (kFromNetwork | kDecoded)) != 0) return judge_source_of_program(c, brought, "");
    // `bash -c "make $TARGET"` was read as far as it can be; nothing but an expansion was not.
    if (text->text.starts_with('$') || text->text.starts_with('`')) {
      c.note(Level::medium, Category::inline_code | Category::obfuscation,
             "runs text that is not known before it runs");
    }
    return;
  }
  const bool from_list = c.wrapped_by("xargs gxargs parallel");
  if (reads_program_from_stdin(c.argv) || (from_list && args.has("-c"))) {
    const Taint taint = c.input();
    if (const Word* here = here_text(c); here != nullptr && (taint & (kFromNetwork | kDecoded)) == 0) {
      return c.note(Level::medium, bit(Category::inline_code), "has a shell run text from its input");
    }
    if (c.has_input() || from_list) return judge_source_of_program(c, taint, "has a shell run text from its input");
    if (c.command.context == CommandContext::process_substitution && c.command.piped_from == SimpleCommand::npos)
      return;
    // A shell on a socket was found at its redirect already.
    if (c.judgement.level == Level::critical) return;
    return c.note(Level::medium, bit(Category::inline_code), "starts an interactive shell");
  }
  if (args.has("-c"))
    return c.note(Level::medium, Category::inline_code | Category::obfuscation,
                  "runs text that is not known before it runs");
  const bool only_checks = args.has("-n") && c.key != "fish";
  for (const Word* word : args.positionals) {
    if (only_checks)
      c.reads(*word);
    else
      judge_script_file(c, *word);
    return;
  }
}

void judge_evaluator(Case& c) {
  if (c.key == "trap") return;
  const Taint taint = c.brought();
  if (c.key == "eval") {
    for (std::size_t i = 1; i < c.argv.size(); ++i) {
      if (!c.argv[i].opaque) continue;
      if ((taint & (kFromNetwork | kDecoded)) != 0) {
        judge_source_of_program(c, taint, "");
        if ((taint & kDecoded) != 0) c.judgement.categories |= bit(Category::obfuscation);
        return;
      }
      return c.note(Level::medium, Category::inline_code | Category::obfuscation,
                    "evaluates text that is not known before it runs");
    }
    return;
  }
  if (c.argv.size() < 2) return;
  const Word& file = c.argv[1];
  if (contains(file.text, "<(") || reads_stdin_by_name(file.text)) {
    return judge_source_of_program(c, taint | (reads_stdin_by_name(file.text) ? c.input() : 0),
                                   "sources the output of a command");
  }
  if (judge_written_text(c, file)) return;
  const Taint written = c.file_taint(file.text);
  if (written != 0) return judge_source_of_program(c, written, "sources a file written a moment ago");
  const string_view text = file.text;
  const bool toolchain = text.ends_with("bin/activate") || text.ends_with("nvm.sh") || text.ends_with(".cargo/env") ||
                         text.ends_with("/.bashrc") || text.ends_with("/.profile") ||
                         text.ends_with("/.bash_profile") || text.ends_with("conda.sh") ||
                         text.ends_with("setup.bash") || text.ends_with("emsdk_env.sh");
  if (toolchain) return c.note(Level::low, bit(Category::inline_code), "loads a toolchain's environment");
  c.reads(file);
  c.note(Level::medium, bit(Category::inline_code), "sources a file whose content is not seen");
}

namespace {

/// Program text beyond this is not looked at call by call.
constexpr std::size_t kMaxCode = 64 * 1024;
constexpr int kMaxCalls = 64;

constexpr std::array<string_view, 8> kInstalls = {"pkg.add(",    "install.packages(", "pip.main(",     "mix.install(",
                                                  "biocmanager", "remotes::install_", "pip._internal", "cpan::install"};
constexpr std::array<string_view, 15> kConnects = {
    "socket\")",        "socket')",    "socket.",        "create_connection", "net.connect",
    "net.socket",       "tcpsocket",   "fsockopen",      "io::socket",        "socket(",
    "createconnection", "tcp.connect", "require('net')", "require(\"net\")",  "socket.tcp"};
constexpr std::array<string_view, 25> kFetches = {"urllib",
                                                  "get(\"http",
                                                  "get('http",
                                                  "getstore(",
                                                  "requests.",
                                                  "http.client",
                                                  "httpx",
                                                  "fetch(",
                                                  "axios",
                                                  "http.get",
                                                  "https.get",
                                                  "net/http",
                                                  "net::http",
                                                  "open-uri",
                                                  "uri.open",
                                                  "lwp",
                                                  "file_get_contents('http",
                                                  "file_get_contents(\"http",
                                                  "curl_exec",
                                                  "xmlhttprequest",
                                                  "urlopen",
                                                  "require('http",
                                                  "require(\"http",
                                                  "aiohttp",
                                                  "http.request"};
constexpr std::array<string_view, 18> kDecodes = {
    "b64decode", "decode_base64", "fromhex",    "unhexlify", "zlib.decompress", "codecs.decode",
    "atob(",     "'base64'",      "\"base64\"", "decode64",  "gzinflate",       "base64_decode",
    "unpack(",   "pack(",         "rot13",      "a85decode", "b32decode",       "fromcharcode"};
constexpr std::array<string_view, 26> kProcesses = {
    "os.system", "subprocess", "popen",       "child_process",     "execsync",   "spawnsync",    "execfilesync",
    "system(",   "system ",    "shell_exec",  "passthru",          "proc_open",  "open3",        "os.exec",
    "os.spawn",  "pty.spawn",  "posix_spawn", "processbuilder",    "getruntime", "deno.command", "deno.run(",
    "bun.spawn", "execa(",     "system.cmd(", "create_subprocess", "pcntl_exec"};
constexpr std::array<string_view, 19> kDeletes = {"rmtree",         "rmsync",          "rm_rf",           "rm_r(",
                                                  "rm_r ",          "remove_tree",     "rimraf",          "fs.rm(",
                                                  "rmdirsync",      "removedirs",      "unlink",          "os.remove",
                                                  "file.delete",    "deletedirectory", "deno.remove",     "removeall(",
                                                  "remove_dir_all", "fs.promises.rm(", "directory.delete"};
constexpr std::array<string_view, 14> kWritingCalls = {"'w'",
                                                       "\"w\"",
                                                       "'a'",
                                                       "\"a\"",
                                                       "'wb'",
                                                       "\"wb\"",
                                                       "writefile",
                                                       "write_text",
                                                       "write_bytes",
                                                       "file.write",
                                                       "file_put_contents",
                                                       "os.rename",
                                                       "shutil.copy",
                                                       "mkdir"};
/// The whole environment, not one variable of it.
constexpr std::array<string_view, 17> kWholeEnvironments = {"dict(os.environ",
                                                            "str(os.environ",
                                                            "print(os.environ)",
                                                            "os.environ.items",
                                                            "stringify(process.env",
                                                            "json.dumps(dict",
                                                            "object.entries(process.env",
                                                            "log(process.env)",
                                                            "deno.env.toobject",
                                                            "stringify(bun.env",
                                                            "env.to_h",
                                                            "env.inspect",
                                                            "p env",
                                                            "dumps(os.environ",
                                                            "print_r(getenv())",
                                                            "print_r($_env",
                                                            "%env"};
constexpr std::array<string_view, 4> kEnvironments = {"environ", "process.env", "getenv", "env["};
constexpr std::array<string_view, 9> kHomes = {"expanduser",       "path.home()", "os.homedir()",
                                               "homedir()",        "env['home']", "env[\"home\"]",
                                               "process.env.home", "$env{home}",  "dir.home"};

/// `exec(`, `eval(` as calls of the language itself, not as `.exec(` of a regular expression.
bool calls_plainly(string_view text, string_view name) {
  for (std::size_t at = text.find(name); at != string_view::npos; at = text.find(name, at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    const std::size_t after = text.find_first_not_of(' ', at + name.size());
    const bool word = name == "eval" && after > at + name.size() && after < text.size() &&
                      std::isalpha(static_cast<unsigned char>(text[after])) != 0;
    const bool call =
        after != string_view::npos &&
        (word || (text[after] == '(' ||
                  (after > at + name.size() && std::string_view("\"'$`").find(text[after]) != string_view::npos)));
    if (call && std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '.' && before != '_') return true;
  }
  return false;
}

/// The string literals between the bracket at or after `at` and the one that closes it.
std::vector<std::string> literals_of_call(string_view text, std::size_t at, bool& only_literals) {
  std::vector<std::string> out;
  int depth = 0;
  only_literals = true;
  const bool bracketed =
      text.find_first_not_of(" \t", at) != string_view::npos && (text[text.find_first_not_of(" \t", at)] == '(');
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth <= 0 && c == ')') return out;
    if (!bracketed && (c == ';' || c == '\n')) return out;
    if (c == '+' || c == '%') only_literals = false;
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 && i > at && depth > 0 &&
        (text[i - 1] == '(' || text[i - 1] == ',' || text[i - 1] == ' ') && out.empty())
      only_literals = false;
    if (c != '"' && c != '\'' && c != '`') continue;
    std::string literal;
    std::size_t end = i + 1;
    while (end < text.size() && text[end] != c) {
      if (text[end] == '\\' && end + 1 < text.size()) ++end;
      literal.push_back(text[end++]);
    }
    out.push_back(std::move(literal));
    i = end;
  }
  return out;
}

/// Everything in quotes anywhere in the code.
std::vector<std::string> all_literals(string_view text) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '"' && c != '\'') continue;
    std::string literal;
    std::size_t end = i + 1;
    while (end < text.size() && text[end] != c && text[end] != '\n') {
      if (text[end] == '\\' && end + 1 < text.size()) ++end;
      literal.push_back(text[end++]);
    }
    if (end >= text.size()) break;
    out.push_back(std::move(literal));
    i = end;
  }
  return out;
}

/// Build scripts ask git for a revision; any other program that code starts is the run-a-command feature of a tool that
/// was allowed for something else.
bool asks_version_control(string_view line) {
  return line.starts_with("git ") || line == "git";
}

/// Commands started by the code: literal ones are judged as the lines they are.
void judge_processes(Case& c, string_view code, string_view folded) {
  bool judged = false;
  int calls = 0;
  const auto judge_call = [&](std::size_t after) {
    if (++calls > kMaxCalls)
      return c.note(Level::high, bit(Category::inline_code), "starts more programs than can be judged");
    bool only_literals = true;
    const std::size_t open = code.find_first_of("(\"'`", after);
    if (open == string_view::npos) return;
    const std::vector<std::string> words = literals_of_call(code, open, only_literals);
    judged = true;
    if (words.empty()) return c.note(Level::medium, bit(Category::inline_code), "starts a program that is not known");
    const std::string line = words.size() == 1 || contains(words.front(), " ") ? words.front() : quote_argv(words);
    const ScriptJudgement inner = c.judge_text(line);
    const CategorySet grave =
        inner.categories & ~(bit(Category::read_only) | Category::workspace_write | Category::build_test);
    const bool plain = only_literals && inner.level == Level::none && asks_version_control(line);
    c.note(plain ? Level::low : std::max(inner.level, Level::medium), bit(Category::inline_code),
           "starts a program from inline code");
    if (inner.level >= Level::medium) c.note(inner.level, grave | Category::inline_code, inner.message);
  };
  for (const string_view name : {"os.system",
                                 "subprocess.run",
                                 "subprocess.call",
                                 "subprocess.check_output",
                                 "subprocess.check_call",
                                 "subprocess.popen",
                                 "os.popen",
                                 "execsync",
                                 "spawnsync",
                                 "execfilesync",
                                 ".exec(",
                                 ".spawn(",
                                 "shell_exec",
                                 "passthru",
                                 "proc_open",
                                 "open3.capture2",
                                 "os.execvp",
                                 "os.execv",
                                 "popen3",
                                 "subprocess.getoutput",
                                 "subprocess.getstatusoutput",
                                 "create_subprocess_shell",
                                 "create_subprocess_exec",
                                 "os.spawnlp",
                                 "deno.command",
                                 "deno.run",
                                 "bun.spawn",
                                 "bun.spawnsync",
                                 "execa",
                                 "system.cmd",
                                 "pcntl_exec",
                                 ".execfile("}) {
    for (std::size_t at = folded.find(name); at != string_view::npos; at = folded.find(name, at + 1)) {
      if ((name == ".exec(" || name == ".spawn(" || name == ".execfile(") && !contains(folded, "child_process"))
        continue;
      judge_call(name.ends_with('(') ? at + name.size() - 1 : at + name.size());
    }
  }
  const bool scripting = c.key == "perl" || c.key == "ruby" || c.key == "php" || c.key == "lua" || c.key == "luajit" ||
                         c.key == "osascript" || c.key == "tclsh" || c.key == "r" || c.key == "expect" ||
                         c.key == "awk";
  for (const string_view name : {"system", "exec", "spawn", "os.execute", "io.popen", "qx", "do shell script", "%x"}) {
    if (!scripting) break;
    for (std::size_t at = folded.find(name); at != string_view::npos; at = folded.find(name, at + 1)) {
      const char before = at == 0 ? ' ' : folded[at - 1];
      const std::size_t end = at + name.size();
      const std::size_t next = folded.find_first_not_of(' ', end);
      if (std::isalnum(static_cast<unsigned char>(before)) != 0 || before == '_' || next == string_view::npos) continue;
      if (name == "qx" || name == "%x") {
        const std::size_t close = folded.find_first_of(")}]/|", next + 1);
        c.launches(code.substr(next + 1, close == string_view::npos ? string_view::npos : close - next - 1), true);
        judged = true;
      } else if (std::string_view("(\"'").find(folded[next]) != string_view::npos) {
        judge_call(end);
      }
    }
  }
  if ((c.key == "perl" || c.key == "ruby" || c.key == "php") && contains(code, "`")) {
    const std::size_t open = code.find('`');
    const std::size_t close = code.find('`', open + 1);
    if (close != string_view::npos) {
      judged = true;
      c.launches(code.substr(open + 1, close - open - 1), true);
    }
  }
  if (!judged && any_in(folded, kProcesses))
    c.note(Level::medium, bit(Category::inline_code), "starts a program that is not known");
}

void judge_deletions(Case& c, string_view code, string_view folded) {
  int calls = 0;
  for (const string_view name : kDeletes) {
    const bool single = in_list("unlink os.remove file.delete", name);
    for (std::size_t at = folded.find(name); at != string_view::npos; at = folded.find(name, at + 1)) {
      if (++calls > kMaxCalls)
        return c.note(Level::high, bit(Category::destructive), "deletes more than can be judged");
      const std::size_t end = std::min(folded.find_first_of(";\n", at), folded.size());
      const string_view call = folded.substr(at, end - at);
      const bool tree = !single && (name != "deno.remove" || contains(call, "recursive"));
      bool only_literals = true;
      const std::vector<std::string> names =
          literals_of_call(code.substr(0, end), at + name.size() - (name.ends_with('(') ? 1 : 0), only_literals);
      const bool home = any_in(call, kHomes);
      const bool whole = contains(call, "homedir()") && !contains(call, "join") && !contains(call, "+");
      if (home && (names.empty() || whole || names.front() == "~" || lower(names.front()) == "home")) {
        c.note(Level::critical, Category::destructive | Category::path_escape,
               "deletes the home directory from inline code");
        continue;
      }
      for (const std::string& path : names) {
        PlaceEffect effect = effect_of_removal(c.place(home && !path.starts_with('~') ? "~/" + path : path),
                                               tree ? Reach::tree : Reach::file);
        c.note(effect);
      }
      if (names.empty())
        c.note(tree ? Level::medium : Level::low, bit(Category::destructive), "deletes files from inline code");
    }
  }
}

void judge_literal_paths(Case& c, string_view code, string_view folded, bool& secret) {
  const bool home = any_in(folded, kHomes);
  const bool writes = any_in(folded, kWritingCalls);
  for (const std::string& literal : all_literals(code)) {
    if (literal.size() < 2 || literal.size() > 200 || contains(literal, "\n") || contains(literal, " ") ||
        contains(literal, "://"))
      continue;
    const bool rooted =
        literal.front() == '/' || literal.front() == '~' || literal.starts_with("../") || literal.front() == '.';
    Target target = c.place(literal);
    if (home && target.zone == Zone::workspace && literal.front() == '.') target = c.place("~/" + literal);
    if (target.ward == Ward::secret && (rooted || contains(literal, ".") || contains(literal, "/"))) {
      secret = true;
      c.note(effect_of_read(target));
    } else if (rooted && literal.size() > 3 && target.zone != Zone::workspace && target.zone != Zone::documentation &&
               literal.find('/', 1) != std::string::npos) {
      c.note(writes ? effect_of_write(target) : effect_of_read(target));
    } else if (writes && target.ward != Ward::none && target.ward != Ward::template_file) {
      c.note(effect_of_write(target));
    }
  }
}

bool loopback_only(string_view code) {
  bool any = false;
  for (std::size_t at = code.find("://"); at != string_view::npos; at = code.find("://", at + 3)) {
    any = true;
    std::size_t end = at + 3;
    while (end < code.size() && std::string_view("\"'`) \\").find(code[end]) == string_view::npos) ++end;
    if (!is_loopback(host_of(code.substr(at + 3, end - at - 3)))) return false;
  }
  return any || contains(code, "localhost") || contains(code, "127.0.0.1");
}

}  // namespace

namespace {

/// The code without calls that only print a plain text: what is mentioned there is not done.
std::string without_printed_texts(string_view code) {
  static constexpr std::array<string_view, 8> kPrints = {"print", "println", "console.log", "puts",
                                                         "echo",  "say",     "printf",      "io.puts"};
  std::string out(code);
  const std::string folded = lower(code);
  for (const string_view name : kPrints) {
    for (std::size_t at = folded.find(name); at != std::string::npos; at = folded.find(name, at + 1)) {
      const char before = at == 0 ? ' ' : folded[at - 1];
      if (std::isalnum(static_cast<unsigned char>(before)) != 0 || before == '_' || before == '.') continue;
      const std::size_t open = folded.find_first_not_of(" (", at + name.size());
      if (open == std::string::npos || (folded[open] != '\'' && folded[open] != '"') || open == at + name.size())
        continue;
      const std::size_t close = folded.find(folded[open], open + 1);
      if (close == std::string::npos) continue;
      const string_view text = string_view(folded).substr(open + 1, close - open - 1);
      const std::size_t after = folded.find_first_not_of(" )", close + 1);
      const bool ends = after == std::string::npos || folded[after] == ';' || folded[after] == '\n';
      // `#{…}`, `${…}` and `@{[…]}` run what stands in them.
      if (ends && text.find_first_of("#$@\\`") == string_view::npos)
        std::fill(out.begin() + static_cast<std::ptrdiff_t>(open) + 1, out.begin() + static_cast<std::ptrdiff_t>(close),
                  ' ');
    }
  }
  return out;
}

/// What the calls in the code do.
void judge_acts(Case& c, string_view code) {
  c.note(Level::low, bit(Category::inline_code), "runs program text given on the command line");
  const std::string folded = lower(code);
  const bool connects = any_in(folded, kConnects);
  const bool fetches = any_in(folded, kFetches);
  const bool decodes = any_in(folded, kDecodes);
  const bool shells = contains(folded, "/bin/sh") || contains(folded, "/bin/bash") || contains(folded, "cmd.exe") ||
                      contains(folded, "pty.spawn") || contains(folded, "dup2") || contains(folded, "'sh'") ||
                      contains(folded, "\"sh\"") || contains(folded, "'bash'") || contains(folded, "\"bash\"");
  const bool evaluates =
      calls_plainly(folded, "eval") || calls_plainly(folded, "exec") || contains(folded, "new function(") ||
      contains(folded, "instance_eval") || contains(folded, "vm.run") || contains(folded, "pickle.loads") ||
      contains(folded, "marshal.loads") || calls_plainly(folded, "compile") || contains(folded, "(eval)");
  const bool processes = any_in(folded, kProcesses) || contains(folded, "os.execute") ||
                         (in_list("perl ruby php", c.key) && contains(code, "`"));
  if (connects && (shells || (processes && !loopback_only(folded))))
    c.note(Level::critical, Category::remote_code | Category::network, "hands a shell to the network");
  if (fetches && evaluates)
    c.note(Level::critical, Category::remote_code | Category::network, "runs text downloaded from the network");
  if (decodes && (evaluates || processes))
    c.note(Level::critical, bit(Category::obfuscation), "runs text that it decodes first");
  if (any_in(folded, kInstalls))
    c.note(Level::medium, Category::package_install | Category::network, "fetches packages from inline code");
  if (evaluates) c.note(Level::medium, bit(Category::inline_code), "evaluates text made at run time");
  // The cage's environment holds no secrets of its own; the host's does.
  const bool environment = any_in(folded, kWholeEnvironments) || folded == "process.env" || folded == "p env";
  const bool shown =
      environment && (c.line.scene.venue == Venue::host || fetches || connects || contains(folded, "dict(") ||
                      contains(folded, "str(os") || contains(folded, "stringify("));
  bool secret = shown || (any_in(folded, kEnvironments) && is_secret_name(folded));
  judge_processes(c, code, folded);
  judge_deletions(c, code, folded);
  judge_literal_paths(c, code, folded, secret);
  if (secret && !fetches && !connects)
    c.note(Level::medium, bit(Category::credential_access), "reads secrets from inline code");
  if (!fetches && !connects) {
    if (any_in(folded, kWritingCalls))
      c.note(Level::low, bit(Category::workspace_write), "writes files from inline code");
    return;
  }
  if (contains(folded, "169.254.169.254") || contains(folded, "metadata.google")) {
    c.note(Level::critical, Category::credential_access | Category::network,
           "asks the cloud metadata service for credentials");
  }
  if (loopback_only(folded)) return c.note(Level::low, bit(Category::network), "talks to this machine only");
  if (secret) return c.uploads(kSecretData, "");
  const bool sends = contains(folded, ".post(") || contains(folded, "'post'") || contains(folded, "\"post\"") ||
                     contains(folded, "data=") || contains(folded, "sendall") || contains(folded, "body:");
  const bool opens = contains(folded, "open(") || contains(folded, "readfile") || contains(folded, "read_text") ||
                     contains(folded, "file.read");
  if (sends && opens) return c.uploads(kLocalData, "sends files to another machine from inline code");
  c.note(Level::medium, bit(Category::network), "contacts another host from inline code");
}

}  // namespace

void judge_code(Case& c, string_view whole) {
  if (whole.size() > kMaxCode) {
    c.note(Level::medium, bit(Category::inline_code), "runs more program text than can be judged");
    whole = whole.substr(0, kMaxCode);
  }
  const std::string code = without_printed_texts(whole);
  judge_acts(c, code);
}

namespace {

/// `python -m NAME`.
void judge_module(Case& c, string_view module, std::size_t index) {
  const string_view top = module.substr(0, module.find('.'));
  if (in_list("json.tool tokenize ast dis this platform site sysconfig calendar pydoc tabnanny inspect locale base64",
              module))
    return;
  if (top == "pip" || top == "pipx" || top == "poetry" || top == "uv" || top == "virtualenv" || top == "twine" ||
      top == "conda") {
    SimpleCommand inner = c.command;
    inner.argv.erase(inner.argv.begin(),
                     inner.argv.begin() + static_cast<std::ptrdiff_t>(std::min(index, inner.argv.size())));
    if (inner.argv.empty()) return;
    inner.argv.front().text = top;
    Case nested(c.line, c.index, inner);
    if (nested.profile != nullptr) judge_package(nested);
    return c.note(nested.judgement.level, nested.judgement.categories & ~bit(Category::read_only),
                  nested.judgement.message);
  }
  if (top == "venv" || top == "ensurepip")
    return c.note(Level::low, bit(Category::workspace_write), "makes a virtual environment");
  if (top == "http" || top == "smtpd")
    return c.note(Level::low, bit(Category::network), "serves files on this machine");
  const CommandProfile* tool = find_profile(top);
  const bool known = (tool != nullptr && tool->role == Role::build) ||
                     in_list(
                         "unittest doctest compileall py_compile timeit cProfile profile trace coverage build pdb "
                         "zipfile tarfile zipapp gzip ipykernel nbconvert grpc_tools django scripts tests test",
                         top);
  if (known) return c.note(Level::low, bit(Category::build_test), "runs the project's own build or tests");
  c.note(Level::medium, bit(Category::inline_code), "runs a module whose content is not seen");
}

constexpr string_view kCodeOptions = "-c -e -E -r -p --eval --print -pe -ne";

string_view code_options(const Case& c) {
  if (c.key == "python" || c.key == "pypy" || c.key == "ipython" || c.key == "bpython") return "-c";
  if (c.key == "php") return "-r -B -R -E --run";
  if (c.key == "perl" || c.key == "ruby" || c.key == "irb") return "-e -E";
  if (c.key == "node" || c.key == "nodejs" || c.key == "bun" || c.key == "tsx" || c.key == "ts-node")
    return "-e --eval -p --print";
  if (c.key == "java" || c.key == "jshell") return "";
  if (c.key == "expect" || c.key == "tclsh") return "-c";
  return kCodeOptions;
}

void judge_deno(Case& c, const Arguments& args) {
  const string_view sub = args.positional(0);
  if (sub == "eval" && args.positionals.size() > 1) return judge_code(c, args.positional(1));
  if (in_list("test fmt lint check task bench compile bundle doc coverage init", sub))
    return c.note(Level::low, bit(Category::build_test), "runs the project's own build or tests");
  if (in_list("info --version types help", sub) || sub.empty()) return;
  if (in_list("install add cache upgrade", sub))
    return c.note(Level::medium, Category::package_install | Category::network, "fetches packages");
  if (sub == "run" && args.positionals.size() > 1) return judge_script_file(c, *args.positionals[1]);
  c.note(Level::medium, bit(Category::inline_code), "runs a script whose content is not seen");
}

bool judge_bun(Case& c, const Arguments& args) {
  const string_view sub = args.positional(0);
  if (c.key != "bun" || sub.empty() || contains(sub, ".") || args.has("-e --eval")) return false;
  judge_package(c);
  return true;
}

}  // namespace

void judge_interpreter(Case& c) {
  const Arguments args = c.arguments();
  if (args.has("--version -V --help -h") && args.positionals.empty() && !args.has("-c -e -m")) return;
  if ((c.key == "node" || c.key == "php" || c.key == "perl" || c.key == "java" || c.key == "ruby") &&
      args.has("-v -version --version") && args.positionals.empty() && !args.has("-e -r -ne -pe")) {
    return;
  }
  if (c.key == "deno") return judge_deno(c, args);
  if (judge_bun(c, args)) return;
  bool ran = false;
  for (const Option& option : args.options) {
    if (!option.value) continue;
    if (in_list(code_options(c), option.name)) {
      ran = true;
      judge_code(c, *option.value);
      const bool unknown = option.word != nullptr && option.word->opaque;
      if (unknown && (c.brought() & (kFromNetwork | kDecoded)) != 0)
        judge_source_of_program(c, c.brought(), "");
      else if (unknown && option.word->text.starts_with('$'))
        c.note(Level::medium, Category::inline_code | Category::obfuscation,
               "runs text that is not known before it runs");
    }
    if (option.name == "-m" && (c.key == "python" || c.key == "pypy")) {
      ran = true;
      judge_module(c, *option.value, option.word != nullptr ? option.index + 1 : option.index);
      if (ran) break;
    }
    if ((c.key == "node" || c.key == "nodejs") &&
        in_list("-r --require --import --loader --experimental-loader", option.name)) {
      c.note(Level::low, bit(Category::inline_code), "loads a module first");
    }
    if (option.name == "-jar") {
      ran = true;
      c.note(Level::medium, bit(Category::inline_code), "runs a program whose content is not seen");
    }
  }
  if (c.key == "php" && args.has("-S"))
    return c.note(Level::low, bit(Category::network), "serves files on this machine");
  if ((c.key == "node" && args.has("--check")) || (in_list("php perl ruby", c.key) && args.has("-l -c") && !ran)) {
    for (const Word* word : args.positionals) c.reads(*word);
    return;
  }
  if (c.key == "node" && args.has("--test"))
    return c.note(Level::low, bit(Category::build_test), "runs the project's own tests");
  if (ran) {
    const bool filters = in_list("perl ruby awk", c.key);
    for (const Word* word : args.positionals) {
      if (filters) c.reads(*word);
    }
    if (filters && args.has("-i -pi -i.bak -pi.bak"))
      c.note(Level::low, bit(Category::workspace_write), "edits files in place");
    if ((c.input() & kFromNetwork) != 0 && c.wrapped_by("xargs gxargs")) judge_source_of_program(c, c.input(), "");
    return;
  }
  if (!args.positionals.empty() && !reads_stdin_by_name(args.positional(0))) {
    const string_view first = args.positional(0);
    if (c.key == "php" && first == "artisan")
      return c.note(Level::low, bit(Category::build_test), "runs the project's own build or tests");
    return judge_script_file(c, *args.positionals.front());
  }
  if (const Word* here = here_text(c); here != nullptr) {
    judge_code(c, here->text);
    if ((c.input() & (kFromNetwork | kDecoded)) != 0) judge_source_of_program(c, c.input(), "");
    return;
  }
  if (c.command.piped_from != SimpleCommand::npos || c.has_input()) {
    const SimpleCommand* feed =
        c.command.piped_from != SimpleCommand::npos ? &c.line.script.commands[c.command.piped_from] : nullptr;
    const std::optional<std::string> text = feed != nullptr ? printed_text(*feed) : std::nullopt;
    if (text) return judge_code(c, *text);
    return judge_source_of_program(c, c.input(), "runs program text from its input");
  }
  c.note(Level::low, bit(Category::inline_code), "starts an interpreter");
}

}  // namespace escrow::engine
