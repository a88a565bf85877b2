#include "engine/command_signals.h"

#include <algorithm>
#include <array>

#include "engine/command_case.h"
#include "engine/inner_command.h"
#include "engine/text.h"

namespace escrow::engine {
namespace {

using std::string_view;

constexpr int kMaxNestedTexts = 128;

/// The gravest program that a globbed command word may mean.
string_view meant_by_glob(string_view word) {
  static constexpr std::array<string_view, 14> kGrave = {"rm",   "dd",   "sh",    "bash", "curl", "wget", "nc",
                                                         "mkfs", "sudo", "chmod", "mv",   "cat",  "tee",  "python3"};
  const string_view pattern = base_name(word).substr(0, 24);
  if (std::count(pattern.begin(), pattern.end(), '*') > 3) return kGrave.front();
  for (const string_view name : kGrave) {
    if (glob_matches(pattern, name)) return name;
  }
  return {};
}

void judge_by_role(Case& c) {
  switch (c.profile->role) {
    case Role::quiet:
      return judge_quiet(c);
    case Role::reader:
    case Role::writer:
    case Role::copier:
    case Role::mover:
    case Role::remover:
    case Role::mode_setter:
    case Role::truncater:
    case Role::disk:
    case Role::searcher:
      return judge_files(c);
    case Role::archiver:
      return judge_archiver(c);
    case Role::filter:
      return judge_filter(c);
    case Role::finder:
      return judge_finder(c);
    case Role::shell:
      return judge_shell(c);
    case Role::interpreter:
      return judge_interpreter(c);
    case Role::evaluator:
      return judge_evaluator(c);
    case Role::build:
      return judge_build(c);
    case Role::vcs:
      return judge_git(c);
    case Role::fetcher:
      return judge_fetcher(c);
    case Role::remote:
      return judge_remote(c);
    case Role::lookup:
      return judge_lookup(c);
    case Role::package:
      return judge_package(c);
    case Role::cloud:
      return judge_cloud(c);
    case Role::container:
      return judge_container(c);
    case Role::database:
      return judge_database(c);
    case Role::editor:
      return judge_editor(c);
    case Role::environment:
      return judge_environment(c);
    case Role::vault:
      return judge_vault(c);
    case Role::wrapper:
    case Role::privileged:
    case Role::service:
    case Role::scheduler:
    case Role::process:
    case Role::power:
    case Role::kernel:
    case Role::firewall:
    case Role::guard:
    case Role::clipboard:
      return judge_system(c);
  }
}

/// `--version` or `--help` as the only argument: any program of a known name just prints.
bool only_asks_for_help(const Case& c) {
  return c.argv.size() == 2 && in_list("--version --help -help -version", c.word(1)) && is_trusted_path(c.word(0));
}

class LineJudge {
 public:
  LineJudge(const ShellScript& script, const CommandScene& scene)
      : line_{script, scene, scene.ground, {}, {}, {}, {}, {}, {}} {
    line_.children.resize(script.commands.size());
    line_.output.resize(script.commands.size());
    for (std::size_t i = 0; i < script.commands.size(); ++i) {
      if (const std::size_t parent = script.commands[i].parent; parent < i) line_.children[parent].push_back(i);
    }
  }

  ScriptJudgement judge() {
    for (std::size_t i = 0; i < line_.script.commands.size(); ++i) {
      line_.done.push_back(judge_one(i));
    }
    return total();
  }

 private:
  CommandJudgement judge_one(std::size_t index) {
    const SimpleCommand& command = line_.script.commands[index];
    Case c(line_, index, command);
    for (const Assignment& assignment : command.assignments) {
      judge_assignment(c, assignment.name, assignment.value);
      remember_variable(
          assignment.name,
          c.brought() | (assignment.value.opaque && names_secret_variable(assignment.value.text) ? kSecretData : 0));
    }
    judge_redirects(c);
    c.judgement.beside_words = c.judgement.level;
    if (!command.argv.empty()) judge_words(c);
    escalate(c);
    remember(c);
    if (c.judgement.level == Level::none && (c.judgement.categories & ~bit(Category::read_only)) == 0) {
      c.judgement.clause = Category::read_only;
    }
    return std::move(c.judgement);
  }

  void judge_redirects(Case& c) {
    for (const Redirect& redirect : c.command.redirects) {
      if (redirect.kind == RedirectKind::duplicate) {
        judge_duplicate(c, redirect);
        continue;
      }
      const bool writes = redirect.kind == RedirectKind::write || redirect.kind == RedirectKind::append;
      if (!writes && redirect.kind != RedirectKind::read) continue;
      if (contains(redirect.target.text, "(") && redirect.target.opaque)
        continue;  // `> >(cmd)`, `< <(cmd)`: judged as commands
      if (redirect.kind == RedirectKind::read) {
        // `exec 5<>/dev/tcp/…` gives this very shell a line to another machine.
        const bool shell = c.key == "exec" || (c.profile != nullptr && c.profile->role == Role::shell);
        if (shell && c.place(redirect.target).zone == Zone::socket_device) {
          c.note(Level::critical, Category::remote_code | Category::network, "hands a shell to the network");
        }
        c.reads(redirect.target);
        continue;
      }
      judge_written(c, redirect);
    }
  }

  /// `bash <&"${NC[0]}"`: a shell on a descriptor that only a coprocess can hold, beside one that connects.
  static void judge_duplicate(Case& c, const Redirect& redirect) {
    const bool shell = c.profile != nullptr && c.profile->role == Role::shell;
    if (!shell || !redirect.target.opaque || redirect.target.text.find('[') == std::string::npos) return;
    const auto& all = c.line.script.commands;
    const bool connects = std::any_of(all.begin(), all.end(), [](const SimpleCommand& other) {
      const CommandProfile* profile = other.argv.empty() ? nullptr : find_profile(program_key(other.argv.front().text));
      return profile != nullptr && (profile->role == Role::remote || profile->role == Role::fetcher);
    });
    if (connects) c.note(Level::critical, Category::remote_code | Category::network, "hands a shell to the network");
  }

  static void judge_written(Case& c, const Redirect& redirect) {
    const Target target = c.place(redirect.target);
    if (target.zone == Zone::socket_device) {
      const bool shell =
          c.profile != nullptr && (c.profile->role == Role::shell || c.profile->role == Role::interpreter);
      if (shell || c.key == "exec") {
        return c.note(Level::critical, Category::remote_code | Category::network, "hands a shell to the network");
      }
      const Taint taint = c.line.output_of(c.index);
      return c.note(Level::critical,
                    bit(Category::exfiltration) | Category::network |
                        ((taint & kSecretData) != 0 ? bit(Category::credential_access) : 0),
                    "sends data through a network device");
    }
    c.note(effect_of_write(target));
    const bool empties = redirect.kind == RedirectKind::write && (c.argv.empty() || c.key == ":" || c.key == "true");
    if (empties && target.zone == Zone::workspace && redirect.fd != 2) {
      const std::string path = lower(target.path);
      for (const string_view end : {".db", ".sqlite", ".sqlite3", ".sql", ".csv", ".jsonl", ".parquet", ".dump"}) {
        if (path.ends_with(end))
          c.note(Level::medium, bit(Category::destructive), "empties a data file: " + target.path);
      }
    }
  }

  void judge_words(Case& c) {
    const Word& word = c.argv.front();
    if (word.glob && word.text != "[" && word.text != "[[") return judge_globbed(c);
    if (word.opaque && !word.expanded) return judge_unknown_word(c);
    if (!is_ascii(word.text)) {
      return c.note(Level::high, bit(Category::obfuscation),
                    "the command's name holds letters that only look familiar");
    }
    if (is_function(word.text)) return judge_function_call(c);
    if (word.opaque) return judge_unknown_word(c);
    judge_program(c);
    if (word.disguised) c.note(Level::high, bit(Category::obfuscation), "the text hides which command runs");
    if (word.expanded && c.judgement.level >= Level::medium) c.judgement.categories |= bit(Category::obfuscation);
  }

  static void judge_program(Case& c) {
    const string_view word = c.word(0);
    if (!is_trusted_path(word)) return judge_local_program(c);
    // A few programs are spelled with capitals.
    const bool folded = word != lower(word) && c.profile != nullptr && find_profile(base_name(word)) == nullptr &&
                        !in_list("R Rscript Xvfb", base_name(word));
    if (c.profile == nullptr) {
      if (only_asks_for_help(c)) return;
      return c.note(Level::medium, bit(Category::inline_code),
                    "runs a program that is not known: " + std::string(word.substr(0, 80)));
    }
    if (only_asks_for_help(c)) return;
    judge_by_role(c);
    judge_quiet_words(c);
    // `LS` is `ls` only where names fold; elsewhere it is some other program.
    if (folded && c.judgement.level < Level::medium)
      c.note(Level::medium, bit(Category::inline_code), "runs a program that is not known");
  }

  /// `./gradlew`, `node_modules/.bin/eslint`, `./scripts/x.sh`: a file of the workspace, not the program of that name.
  static void judge_local_program(Case& c) {
    const string_view word = c.word(0);
    const Taint taint = c.file_taint(word);
    if ((taint & kFromNetwork) != 0) {
      return c.note(Level::critical, Category::remote_code | Category::network, "runs a file that was just downloaded");
    }
    if ((taint & kDecoded) != 0)
      return c.note(Level::critical, bit(Category::obfuscation), "runs text that was just decoded");
    if (judge_written_text(c, c.argv.front())) return;
    const Target target = c.place(c.argv.front());
    const bool known = contains(word, "node_modules/.bin/") || contains(word, "vendor/bin/") ||
                       contains(word, "venv/bin/") || contains(word, ".venv/bin/") ||
                       in_list("gradlew mvnw", base_name(word));
    if (known && c.profile != nullptr && target.zone == Zone::workspace) return judge_by_role(c);
    const bool project = target.zone == Zone::workspace &&
                         (in_list("configure gradlew mvnw autogen.sh rebar3 artisan bin/rails", base_name(word)) ||
                          (is_artefact(target.path) && contains(lower(target.path), "test")));
    if (project) return c.note(Level::low, bit(Category::build_test), "runs the project's own build or tests");
    c.note(Level::medium, bit(Category::inline_code),
           "runs a file whose content is not seen: " + std::string(word.substr(0, 120)));
    if (target.zone == Zone::above || target.zone == Zone::home)
      c.note(Level::medium, bit(Category::path_escape), "runs a file outside the workspace");
    // A name says little here, but `./rm -rf /` is not to be waved through.
    if (c.profile != nullptr && c.profile->role == Role::remover) judge_by_role(c);
  }

  static void judge_globbed(Case& c) {
    c.note(Level::high, bit(Category::obfuscation), "a pattern decides which command runs");
    const string_view meant = meant_by_glob(c.word(0));
    if (meant.empty()) return;
    c.key = meant;
    c.profile = find_profile(meant);
    if (c.profile != nullptr) judge_by_role(c);
  }

  static void judge_unknown_word(Case& c) {
    c.note(Level::medium, bit(Category::obfuscation), "which command runs is not known before it runs");
    const Taint taint = c.brought();
    if ((taint & kFromNetwork) != 0)
      c.note(Level::critical, Category::remote_code | Category::network, "runs text from the network as a command");
    else if ((taint & kDecoded) != 0)
      c.note(Level::critical, bit(Category::obfuscation), "runs decoded text as a command");
    // An unknown program with `-rf /` can only mean one thing.
    const Arguments args = read_arguments(c.argv, 1, "");
    if (!args.has("-r -R -f --recursive --force")) return;
    for (const Word* word : args.positionals) {
      const PlaceEffect effect = effect_of_removal(c.place(*word), Reach::tree);
      if (effect.level == Level::critical) c.note(effect);
    }
  }

  bool is_function(string_view name) const {
    const auto& names = line_.script.functions;
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  /// `f() { f | f & }`: a function that starts itself more than once, or behind itself, ends the machine.
  void judge_function_call(Case& c) {
    if (c.command.context != CommandContext::function || c.command.piped_from == SimpleCommand::npos) return;
    const SimpleCommand& feed = line_.script.commands[c.command.piped_from];
    if (!feed.argv.empty() && feed.argv.front().text == c.argv.front().text) {
      c.note(Level::critical, bit(Category::system), "starts copies of itself without end");
    }
  }

  /// Deleting work is graver where it hides inside another command.
  static void escalate(Case& c) {
    const CommandContext context = c.command.context;
    const bool hidden = context == CommandContext::substitution || context == CommandContext::process_substitution ||
                        context == CommandContext::nested_shell;
    if (hidden && c.judgement.level == Level::medium && c.judgement.clause == Category::destructive) {
      c.judgement.level = Level::high;
    }
  }

  void remember_variable(const std::string& name, Taint taint) {
    if (taint != 0) line_.variables[name] |= taint;
  }

  void remember(Case& c) {
    if (c.key == "cd" || c.key == "pushd") move(c);
    if (c.key == "read" || c.key == "mapfile" || c.key == "readarray") {
      for (const Word* word : read_arguments(c.argv, 1, "-p -t -n -d -u -a").positionals)
        remember_variable(word->text, c.input());
      if (c.argv.size() == 1) remember_variable("REPLY", c.input());
    }
    remember_files(c);
  }

  void move(Case& c) {
    if (c.command.context == CommandContext::function) return;
    const Arguments args = c.arguments();
    line_.ground.cwd = args.positionals.empty() ? (c.key == "cd" ? "~" : line_.ground.cwd)
                                                : change_directory(*args.positionals.front(), line_.ground);
  }

  /// What was written where: a later command that runs or sends the file knows where it came from.
  void remember_files(Case& c) {
    if (c.argv.empty() && c.command.redirects.empty()) return;
    for (const Redirect& redirect : c.command.redirects) {
      if (redirect.kind != RedirectKind::write && redirect.kind != RedirectKind::append) continue;
      const std::string path = c.place(redirect.target).path;
      note_file(path, line_.output_of(c.index) & ~kLocalData);
      line_.texts.erase(path);
      const std::optional<std::string> text = printed_text(c.command);
      if (text && redirect.kind == RedirectKind::write) line_.texts[path] = *text;
    }
    if (c.profile == nullptr) return;
    const Role role = c.profile->role;
    const Arguments args = c.arguments();
    if (role == Role::fetcher) return remember_download(c, args);
    for (const Option& option : args.options) {
      if (!option.value || !in_list(c.profile->write_options, option.name)) continue;
      note_file(c.place(*option.value).path, line_.output_of(c.index) & ~kLocalData);
    }
    if (c.key == "tee") {
      for (const Word* word : args.positionals) note_file(c.place(*word).path, c.input() & ~kLocalData);
    } else if ((role == Role::copier || role == Role::mover) && args.positionals.size() > 1) {
      Taint taint = 0;
      for (std::size_t i = 0; i + 1 < args.positionals.size(); ++i) taint |= taint_of_file(c, *args.positionals[i]);
      note_file(c.place(*args.positionals.back()).path, taint);
    } else if (role == Role::archiver) {
      Taint taint = 0;
      for (const Word* word : args.positionals) taint |= taint_of_file(c, *word);
      for (const Option& option : args.options) {
        if (option.value && in_list("-f --file", option.name)) note_file(c.place(*option.value).path, taint);
      }
      if (!args.positionals.empty()) note_file(c.place(*args.positionals.front()).path, taint);
    }
  }

  static Taint taint_of_file(const Case& c, const Word& word) {
    const Target target = c.place(word);
    Taint taint = target.ward == Ward::secret ? kSecretData : 0;
    if (const auto it = c.line.files.find(target.path); it != c.line.files.end()) taint |= it->second;
    return taint;
  }

  void remember_download(Case& c, const Arguments& args) {
    bool named = false;
    for (const Option& option : args.options) {
      if (!option.value || !in_list("-o -O --output --output-document", option.name)) continue;
      if (c.key == "curl" && option.name == "-O") continue;
      note_file(c.place(*option.value).path, kFromNetwork);
      named = true;
    }
    if (named) return;
    for (const Word* word : args.positionals) {
      const string_view name = base_name(word->text);
      if (!name.empty()) note_file(c.place(name.substr(0, name.find('?'))).path, kFromNetwork);
    }
  }

  void note_file(const std::string& path, Taint taint) {
    if (taint != 0) line_.files[path] |= taint;
  }

  /// The working directory of a request never widens anything.
  bool starts_outside() const {
    switch (locate(Word{.text = ".", .span = {}}, line_.scene.ground).zone) {
      case Zone::workspace:
      case Zone::workspace_root:
      case Zone::scratch:
      case Zone::unknown:
        return false;
      case Zone::above:
      case Zone::quiet_device:
      case Zone::socket_device:
      case Zone::block_device:
      case Zone::documentation:
      case Zone::system:
      case Zone::home:
      case Zone::home_root:
      case Zone::filesystem_root:
        return line_.scene.depth == 0;
    }
    return false;
  }

  ScriptJudgement total() {
    ScriptJudgement out;
    for (std::size_t i = 0; i < line_.done.size(); ++i) {
      const CommandJudgement& one = line_.done[i];
      out.categories |= one.categories;
      if (out.deciding != SimpleCommand::npos && one.level <= out.level) continue;
      out.level = one.level;
      out.clause = one.clause;
      out.message = one.message;
      out.deciding = i;
    }
    if (starts_outside()) {
      out.categories |= bit(Category::path_escape);
      if (out.level < Level::medium) {
        out.level = Level::medium;
        out.clause = Category::path_escape;
        out.message = "runs in a directory outside the workspace";
      }
    }
    if (line_.script.state != ParseState::ok) {
      out.categories |= bit(Category::obfuscation);
      if (out.level < Level::medium) {
        out.level = Level::medium;
        out.clause = Category::obfuscation;
        out.message = "the line cannot be read completely";
      }
    }
    out.commands = std::move(line_.done);
    return out;
  }

  LineState line_;
};

}  // namespace

ScriptJudgement judge_script(const ShellScript& script, const CommandScene& scene) {
  // One budget for the line and all that is nested in it keeps hostile text linear.
  int nested_left = kMaxNestedTexts;
  CommandScene own = scene;
  if (own.nested_left == nullptr) own.nested_left = &nested_left;
  return LineJudge(script, own).judge();
}

}  // namespace escrow::engine
