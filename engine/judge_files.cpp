#include <algorithm>
#include <array>
#include <cctype>

#include "engine/command_case.h"

// Programs whose risk lies in the files they name: readers, writers, copiers, removers, modes, archives, find.

namespace escrow::engine {
namespace {

using std::string_view;

/// Positionals that look like paths at all: a URL or a plain number is not one.
bool is_path_like(const Word& word) {
  return !word.text.empty() && !contains(word.text, "://");
}

void read_all(Case& c, const Arguments& args, std::size_t first) {
  for (std::size_t i = first; i < args.positionals.size(); ++i) {
    if (is_path_like(*args.positionals[i])) c.reads(*args.positionals[i]);
  }
}

void judge_write_options(Case& c, const Arguments& args) {
  for (const Option& option : args.options) {
    if (!option.value || !in_list(c.profile->write_options, option.name)) continue;
    if (option.word != nullptr)
      c.writes(*option.word);
    else
      c.writes(*option.value);
  }
}

void judge_run_options(Case& c, const Arguments& args) {
  for (const Option& option : args.options) {
    if (option.value && in_list(c.profile->run_options, option.name)) c.launches(*option.value, true);
  }
}

void judge_searcher(Case& c, const Arguments& args) {
  const bool pattern_given = args.has("-e -f --regexp --file --files --type-list") && c.key != "jq" && c.key != "yq";
  const std::size_t first = pattern_given || args.positionals.empty() ? 0 : 1;
  read_all(c, args, first);
  for (const Option& option : args.options) {
    if (option.value && in_list("-f --file --from-file", option.name)) c.note(effect_of_read(c.place(*option.value)));
    if (option.value && in_list(c.profile->run_options, option.name)) {
      // Running a program for each file is what the option is for: as grave as that program.
      const ScriptJudgement inner = c.judge_text(*option.value);
      c.note(std::max(inner.level, Level::medium), bit(Category::inline_code),
             "runs a program for each file it searches");
    }
  }
  if ((c.key == "yq" || c.key == "sd") && args.has("-i --inplace")) {
    for (std::size_t i = first; i < args.positionals.size(); ++i) c.writes(*args.positionals[i]);
  }
  if ((c.input() & kSecretData) == 0) return;
  for (const Word& word : c.argv) {
    const std::string text = lower(word.text);
    if (is_secret_name(text) || contains(text, "key") || contains(text, "pass") || contains(text, "aws") ||
        contains(text, "cred")) {
      return c.note(Level::medium, bit(Category::credential_access), "looks for secrets in the environment");
    }
  }
}

void judge_copier(Case& c, const Arguments& args) {
  const bool moves = c.profile->role == Role::mover;
  const Option* into = args.find("-t --target-directory");
  if (into != nullptr && into->value) c.writes(*into->value);
  const std::size_t sources =
      into != nullptr || args.positionals.size() < 2 ? args.positionals.size() : args.positionals.size() - 1;
  const bool makes_directories = c.key == "install" && args.has("-d --directory");
  for (std::size_t i = 0; i < sources; ++i) {
    if (makes_directories)
      c.writes(*args.positionals[i]);
    else if (c.key == "ln" && args.has("-s --symbolic"))
      judge_run_options(c, args);
    else
      c.reads(*args.positionals[i]);
    const Target target = c.place(*args.positionals[i]);
    if (moves && !(target.zone == Zone::workspace && target.ward == Ward::none)) {
      c.note(effect_of_removal(target, Reach::tree));
    }
  }
  if (sources < args.positionals.size()) c.writes(*args.positionals.back());
  if (c.key == "ln" && sources > 0 && args.has("-s --symbolic")) {
    // What a relative link means depends on where the link lies.
    Ground at_link = c.line.ground;
    const std::string link = sources < args.positionals.size() ? args.positionals.back()->text : std::string();
    if (const std::size_t slash = link.rfind('/'); slash != std::string::npos && !link.starts_with('/')) {
      at_link.cwd = at_link.cwd.empty() ? link.substr(0, slash) : at_link.cwd + "/" + link.substr(0, slash);
    }
    const Target target = locate(*args.positionals.front(), at_link);
    if (target.zone == Zone::above || target.zone == Zone::home || target.zone == Zone::system ||
        target.zone == Zone::filesystem_root || target.zone == Zone::home_root) {
      c.note(Level::medium, bit(Category::path_escape), "makes a link out of the workspace");
    }
  }
  if (c.key == "install" && args.has("-m --mode")) {
    const Option* mode = args.find("-m --mode");
    if (mode->value && mode->value->size() == 4 && (mode->value->front() & 6) != 0 && mode->value->front() >= '2') {
      c.note(Level::high, bit(Category::privilege), "installs a set-uid program");
    }
  }
}

/// `find … | xargs rm`: what is deleted is what the command before names.
void judge_listed_removal(Case& c) {
  if (c.command.piped_from == SimpleCommand::npos) return;
  bool artefacts = false;
  for (const Word& word : c.line.script.commands[c.command.piped_from].argv) {
    std::string name = word.text;
    name.erase(std::remove(name.begin(), name.end(), '*'), name.end());
    artefacts = artefacts || (!name.empty() && (is_artefact(name) || is_artefact("x" + name)));
    const PlaceEffect whole = effect_of_removal(c.place(word), Reach::tree);
    const bool path = word.tilde || word.opaque || word.text.starts_with('/');
    if (path && whole.level == Level::critical) c.note(Level::high, whole.categories, whole.message);
  }
  if (!artefacts) c.note(Level::medium, bit(Category::destructive), "deletes whatever the command before it names");
}

void judge_remover(Case& c, const Arguments& args) {
  const Reach reach = args.has("-r -R --recursive -d") || in_list("rimraf trash trash-put del srm wipe", c.key)
                          ? Reach::tree
                          : Reach::file;
  std::size_t everything = 0;
  const bool found_by_find = c.wrapped_by("find gfind fd fdfind");
  for (const Word* word : args.positionals) {
    if (found_by_find && word->text == "{}") {
      // What it stands for is judged at the `find`, by its roots and filters.
      c.note(Level::low, Category::destructive | Category::workspace_write, "deletes what find names");
      continue;
    }
    c.removes(*word, reach);
    if (c.place(*word).zone == Zone::workspace_root) ++everything;
  }
  if (c.key == "shred" || c.key == "srm" || c.key == "wipe") {
    c.note(Level::medium, bit(Category::destructive), "overwrites files so that nothing can restore them");
  }
  if (args.has("--no-preserve-root"))
    c.note(Level::critical, Category::destructive | Category::path_escape, "asks to wipe the root");
  const bool listed = args.positionals.empty() && c.wrapped_by("xargs gxargs parallel") && c.has_input();
  if (listed) judge_listed_removal(c);
  if (listed && reach == Reach::tree) {
    c.note(Level::medium, bit(Category::destructive), "deletes whatever the list before it names");
  } else if (args.positionals.empty()) {
    c.note(Level::low, Category::destructive | Category::workspace_write, "deletes what it is given");
  }
}

bool sets_special_bits(string_view mode) {
  if (contains(mode, "+s") || contains(mode, "=s") || contains(mode, "u+rws")) return contains(mode, "s");
  const bool octal = !mode.empty() && mode.find_first_not_of("01234567") == string_view::npos;
  if (!octal) return false;
  const string_view digits = mode.size() == 5 ? mode.substr(1) : mode;
  return digits.size() == 4 && digits[0] >= '2' && digits[0] <= '7';
}

void judge_mode(Case& c, const Arguments& args) {
  const bool tree = args.has("-R --recursive -h-none");
  std::string mode = std::string(args.positional(0));
  // `chmod -x f` reads as an option here; the mode is then the option itself.
  const bool option_mode = c.key == "chmod" && args.has("-x -w -r -rw -rx -wx -rwx");
  const bool has_reference = args.has("--reference");
  const std::size_t first = option_mode || has_reference ? 0 : 1;
  for (std::size_t i = first; i < args.positionals.size(); ++i) {
    const Target target = c.place(*args.positionals[i]);
    PlaceEffect effect = effect_of_write(target);
    // Making a planted hook executable is part of planting it; reading modes elsewhere is not.
    c.note(effect);
    const bool wide = target.zone == Zone::filesystem_root || target.zone == Zone::home_root;
    if (tree && wide)
      c.note(Level::critical, Category::destructive | Category::path_escape,
             "changes rights of everything below " + target.path);
  }
  if (c.key == "chmod" && sets_special_bits(mode))
    c.note(Level::high, bit(Category::privilege), "sets the set-uid bit");
  const bool locks_out =
      mode == "000" || mode == "0" || mode == "0000" || mode == "a-rwx" || mode == "a=" || mode == "ugo-rwx";
  if (c.key == "chmod" && locks_out) c.note(Level::medium, bit(Category::destructive), "makes files unreadable");
  if (c.key == "chmod" && tree && (mode == "777" || mode == "0777" || mode == "a+rwx" || mode == "ugo+rwx")) {
    c.note(Level::medium, bit(Category::privilege), "opens a tree to everyone");
  }
  if (c.key == "chown" || c.key == "chgrp") c.note(Level::medium, bit(Category::privilege), "changes who owns files");
  if (c.key == "chattr") c.note(Level::medium, bit(Category::privilege), "changes file attributes that only root may");
}

void judge_truncater(Case& c, const Arguments& args) {
  if (c.key == "dd") {
    for (std::size_t i = 1; i < c.argv.size(); ++i) {
      const string_view text = c.word(i);
      if (text.starts_with("of=")) c.writes(text.substr(3));
      if (text.starts_with("if=")) c.note(effect_of_read(c.place(text.substr(3))));
    }
    return;
  }
  for (const Word* word : args.positionals) {
    c.writes(*word);
    const Option* size = args.find("-s --size");
    if (c.key == "truncate" && size != nullptr && size->value &&
        (*size->value == "0" || size->value->starts_with('-')) && !is_artefact(c.place(*word).path)) {
      c.note(Level::medium, bit(Category::destructive), "empties " + c.place(*word).path);
    }
  }
}

void judge_disk(Case& c, const Arguments& args) {
  const bool lists = args.has("-l --list -L --version -h --help") || args.positionals.empty() ||
                     in_list("list status show info", args.positional(0));
  if (lists) return c.note(Level::medium, bit(Category::system), "reads disk tables");
  const bool images = std::all_of(args.positionals.begin(), args.positionals.end(),
                                  [&](const Word* word) { return c.place(*word).zone == Zone::workspace; });
  if (images && (c.key.starts_with("mkfs") || c.key == "mke2fs")) {
    return c.note(Level::low, bit(Category::workspace_write), "makes a file system in a file");
  }
  c.note(Level::critical, bit(Category::destructive), "formats or repartitions a device");
}

void judge_writer(Case& c, const Arguments& args) {
  const bool to_stdout =
      args.has("-c --stdout --to-stdout -l --list -t --test") && !in_list("mkdir touch tee split csplit", c.key);
  for (const Word* word : args.positionals) {
    if (!is_path_like(*word)) continue;
    if (in_list("ffmpeg convert magick pandoc dot sass lessc mmdc plantuml qrencode csplit split patch", c.key))
      c.reads(*word);
    else if (to_stdout)
      c.reads(*word);
    else
      c.writes(*word);
  }
  judge_run_options(c, args);
  if (!to_stdout) c.note(Level::low, bit(Category::workspace_write), "writes files in the workspace");
}

}  // namespace

namespace {

/// `less '+!cmd'`: a pager runs what follows the plus as if it were typed.
void judge_pager_commands(Case& c) {
  for (const Word& word : c.argv) {
    const std::size_t typed = word.text.find_first_not_of('+');
    if (typed == 0 || typed == std::string::npos || std::string_view("!|#").find(word.text[typed]) == string_view::npos)
      continue;
    c.launches(string_view(word.text).substr(typed + 1), true);
  }
}

}  // namespace

void judge_files(Case& c) {
  const Arguments args = c.arguments();
  if (args.has("--help --version")) return;
  judge_write_options(c, args);
  if (in_list("less more most", c.key)) judge_pager_commands(c);
  switch (c.profile->role) {
    case Role::searcher:
      return judge_searcher(c, args);
    case Role::copier:
    case Role::mover:
      return judge_copier(c, args);
    case Role::remover:
      return judge_remover(c, args);
    case Role::mode_setter:
      return judge_mode(c, args);
    case Role::truncater:
      return judge_truncater(c, args);
    case Role::disk:
      return judge_disk(c, args);
    case Role::writer:
      return judge_writer(c, args);
    default:
      judge_run_options(c, args);
      read_all(c, args, 0);
      if (c.key == "bat" && args.has("--pager")) c.launches(*args.find("--pager")->value, true);
  }
}

void judge_archiver(Case& c) {
  const Arguments args = c.arguments();
  judge_run_options(c, args);
  for (const Option& option : args.options) {
    if (option.name == "--checkpoint-action" && option.value && option.value->starts_with("exec=")) {
      c.launches(string_view(*option.value).substr(5), true);
    }
  }
  const string_view first = args.positional(0);
  const bool old_style = in_list("tar gtar bsdtar jar ar", c.key) && !first.empty() &&
                         first.find_first_not_of("cxtrufvzjJpkmoOwPh") == string_view::npos;
  const auto mode = [&](char letter) {
    return args.has(std::string{'-', letter}) || (old_style && contains(first, std::string_view(&letter, 1)));
  };
  const bool lists = mode('t') && !mode('c') && !mode('x') ? true : args.has("--list -l -Z") || first == "l";
  const bool creates = mode('c') || mode('r') || mode('u') || args.has("--create --append --update") ||
                       in_list("zip zipnote", c.key) || first == "a";
  const Option* base = args.find("-C --directory");
  for (const Option& option : args.options) {
    if (!option.value || !in_list("-C -d --directory", option.name)) continue;
    c.note(creates ? effect_of_read(c.place(*option.value)) : effect_of_write(c.place(*option.value)));
  }
  if (const Option* file = args.find("-f --file"); file != nullptr && file->value && *file->value != "-") {
    if (creates)
      c.writes(*file->value);
    else
      c.note(effect_of_read(c.place(*file->value)));
  }
  for (std::size_t i = old_style || in_list("7z 7za 7zr rar unrar", c.key) ? 1 : 0; i < args.positionals.size(); ++i) {
    const bool archive = i == (old_style ? 1U : 0U) && (old_style || in_list("zip", c.key)) && creates;
    if (archive)
      c.writes(*args.positionals[i]);
    else if (creates && base != nullptr && base->value && !args.positionals[i]->text.starts_with('/'))
      c.note(effect_of_read(c.place(*base->value + "/" + args.positionals[i]->text)));
    else
      c.reads(*args.positionals[i]);
  }
  if (!lists) c.note(Level::low, bit(Category::workspace_write), "packs or unpacks files");
  if (args.has("-P --absolute-names") && mode('x'))
    c.note(Level::medium, bit(Category::path_escape), "unpacks to absolute paths");
  if (args.has("--remove-files")) c.note(Level::medium, bit(Category::destructive), "deletes what it packed");
  if (c.key == "zip" && args.has("-m --move"))
    c.note(Level::medium, bit(Category::destructive), "deletes what it packed");
}

namespace {

/// What a find expression narrows to.
struct FindFilter {
  bool narrowed = false, artefacts_only = false;
};

FindFilter filter_of(const Case& c) {
  FindFilter filter;
  for (std::size_t i = 1; i < c.argv.size(); ++i) {
    const string_view text = c.word(i);
    if (in_list("-name -iname -path -ipath -wholename -regex -iregex -lname", text) && i + 1 < c.argv.size()) {
      const bool negated = i > 1 && (c.word(i - 1) == "!" || c.word(i - 1) == "-not");
      const string_view pattern = c.word(i + 1);
      if (pattern == "*" || pattern == ".*" || pattern == "*.*" || negated) continue;
      filter.narrowed = true;
      std::string name(pattern);
      name.erase(std::remove(name.begin(), name.end(), '*'), name.end());
      if (is_artefact(name.starts_with('.') && !is_artefact(name) ? "x" + name : name) || is_artefact("x" + name))
        filter.artefacts_only = true;
    }
    if (in_list("-mtime -mmin -newer -size -empty -ctime -atime -perm -user -inum -links", text))
      filter.narrowed = true;
  }
  return filter;
}

void judge_deletion_below(Case& c, const Target& root, const FindFilter& filter) {
  constexpr CategorySet kBoth = Category::destructive | Category::path_escape;
  switch (root.zone) {
    case Zone::filesystem_root:
    case Zone::home_root:
      return c.note(filter.narrowed ? Level::high : Level::critical, kBoth,
                    "deletes everything it finds below " + root.path);
    case Zone::workspace_root:
      if (filter.artefacts_only)
        return c.note(Level::low, Category::destructive | Category::workspace_write, "deletes build output it finds");
      return c.note(filter.narrowed ? Level::medium : Level::high, bit(Category::destructive),
                    "deletes what it finds in the whole workspace");
    case Zone::workspace:
    case Zone::unknown:
      if (filter.artefacts_only || is_artefact(root.path))
        return c.note(Level::low, Category::destructive | Category::workspace_write, "deletes build output it finds");
      return c.note(Level::medium, bit(Category::destructive), "deletes what it finds below " + root.path);
    case Zone::scratch:
      return c.note(Level::low, bit(Category::destructive), "deletes scratch files it finds");
    case Zone::above:
    case Zone::quiet_device:
    case Zone::socket_device:
    case Zone::block_device:
    case Zone::documentation:
    case Zone::system:
    case Zone::home:
      return c.note(Level::high, kBoth, "deletes what it finds outside the workspace");
  }
}

}  // namespace

void judge_finder(Case& c) {
  std::vector<Target> roots;
  std::size_t at = 1;
  const bool fd = c.key == "fd" || c.key == "fdfind";
  const Arguments args = c.arguments();
  if (fd) {
    for (std::size_t i = 1; i < args.positionals.size(); ++i) roots.push_back(c.place(*args.positionals[i]));
  } else {
    while (at < c.argv.size() && (in_list("-H -L -P -O1 -O2 -O3", c.word(at)) || c.word(at) == "-D")) ++at;
    for (; at < c.argv.size() && !c.word(at).starts_with('-') && c.word(at) != "(" && c.word(at) != "!"; ++at)
      roots.push_back(c.place(c.argv[at]));
  }
  if (roots.empty()) roots.push_back(c.place("."));
  for (const Target& root : roots) c.note(effect_of_read(root));
  bool deletes = false;
  for (std::size_t i = 1; i < c.argv.size(); ++i) {
    const string_view text = c.word(i);
    if (text == "-delete") deletes = true;
    if (in_list("-exec -execdir -ok -okdir -x -X --exec --exec-batch", text) && i + 1 < c.argv.size()) {
      const std::string program = program_key(c.word(i + 1));
      const CommandProfile* profile = find_profile(program);
      if (profile != nullptr && profile->role == Role::remover) deletes = true;
      if (profile != nullptr && profile->role == Role::shell)
        c.note(Level::low, bit(Category::inline_code), "runs a shell for each file it finds");
    }
    if (in_list("-fprint -fprint0 -fprintf -fls", text) && i + 1 < c.argv.size()) c.writes(c.argv[i + 1]);
  }
  if (!deletes) return;
  const FindFilter filter = filter_of(c);
  for (const Target& root : roots) judge_deletion_below(c, root, filter);
}

namespace {

/// `printenv`, `set`, `export -p`, `declare -x`: all variables with their values.
bool lists_environment(const Case& c) {
  if (in_list("printenv set", c.key)) return c.argv.size() == 1;
  if (!in_list("export declare typeset readonly", c.key)) return false;
  return std::all_of(c.argv.begin() + 1, c.argv.end(), [](const Word& word) {
    return word.text.starts_with('-') && word.text.find_first_of("fF") == std::string::npos;
  });
}

/// `ps eww`, `ps auxe`: without a dash, `e` adds the environment to each process.
bool shows_other_environments(const Case& c) {
  return std::any_of(c.argv.begin() + 1, c.argv.end(), [](const Word& word) {
    return word.text.find_first_not_of("aefghjlmnrsuvwxSTX") == std::string::npos && contains(word.text, "e");
  });
}

}  // namespace

void judge_quiet(Case& c) {
  const Arguments args = c.arguments();
  if (c.line.scene.venue == Venue::host && lists_environment(c)) {
    return c.note(Level::medium, bit(Category::credential_access), "prints the environment with the secrets in it");
  }
  if (in_list("export declare typeset readonly local unset alias", c.key)) {
    for (std::size_t i = 1; i < c.argv.size(); ++i) {
      const string_view text = c.word(i);
      const std::size_t equals = text.find('=');
      if (c.key == "unset") {
        if (text.starts_with("HISTFILE")) c.note(Level::high, bit(Category::guard_tamper), "hides the shell's history");
        if (text.starts_with("ESCROW_") || text.starts_with("CORDON_"))
          c.note(Level::critical, bit(Category::guard_tamper), "changes the guard's settings");
      } else if (equals != string_view::npos && c.key != "alias") {
        Word value = c.argv[i];
        value.text = text.substr(equals + 1);
        judge_assignment(c, text.substr(0, equals), value);
      } else if (equals != string_view::npos) {
        const CommandProfile* shadowed = find_profile(text.substr(0, equals));
        const ScriptJudgement inner = c.judge_text(text.substr(equals + 1));
        if (shadowed != nullptr && inner.level >= Level::medium)
          c.note(inner.level, inner.categories | Category::env_hijack, "an alias makes a known command run another");
      }
    }
    return;
  }
  if (c.key == "history" && args.has("-c -d -w"))
    return c.note(Level::high, bit(Category::guard_tamper), "erases the shell's history");
  if (c.key == "fc" || c.key == "bind" || c.key == "enable")
    return c.note(Level::low, bit(Category::inline_code), "changes the shell");
  if (c.key == "set" && contains(c.word(1), "+o") && c.word(2) == "history")
    return c.note(Level::high, bit(Category::guard_tamper), "switches the shell's history off");
  if (c.key == "ps" && shows_other_environments(c)) {
    return c.note(Level::high, bit(Category::credential_access), "reads the environment of other processes");
  }
  if (c.key == "printenv" && c.argv.size() > 1 && is_secret_name(c.word(1))) {
    return c.note(Level::medium, bit(Category::credential_access), "prints a secret of the environment");
  }
  if (in_list("echo printf", c.key)) {
    for (const Word& word : c.argv) {
      if (word.opaque && names_secret_variable(word.text) && !contains(word.text, "(") && !contains(word.text, ":+") &&
          !contains(word.text, "${#")) {
        c.note(Level::medium, bit(Category::credential_access), "prints a secret of the environment");
      }
    }
    return;
  }
  if (in_list("test [ [[ cd", c.key)) {
    if (c.key == "cd" && !args.positionals.empty()) {
      const Target target = c.place(*args.positionals.front());
      if (target.zone == Zone::home || target.zone == Zone::home_root || target.zone == Zone::system ||
          target.zone == Zone::above) {
        c.note(Level::medium, bit(Category::path_escape), "leaves the workspace");
      }
    }
    return;
  }
  if (c.key == "man") {
    const Arguments manual = read_arguments(c.argv, 1, "-P --pager -H --html");
    if (const Option* pager = manual.find("-P --pager -H --html");
        pager != nullptr && pager->value && !in_list("cat less more", *pager->value))
      c.launches(*pager->value, true);
  }
  if (c.key == "date" && args.has("-s --set"))
    return c.note(Level::high, bit(Category::system), "sets the machine's clock");
  if (c.key == "hostname" && !args.positionals.empty())
    return c.note(Level::high, Category::system | Category::privilege, "renames the machine");
  if (c.key == "ip" && args.positionals.size() > 2 && in_list("add del delete set flush", args.positional(1))) {
    return c.note(Level::high, Category::system | Category::privilege, "changes the network's set-up");
  }
  if (c.key == "ifconfig" && args.positionals.size() > 1)
    return c.note(Level::high, Category::system | Category::privilege, "changes the network's set-up");
  if (c.key == "journalctl" && (args.has("--vacuum-time --vacuum-size --rotate --flush")))
    return c.note(Level::high, bit(Category::guard_tamper), "deletes the system's log");
  if (c.key == "dmesg" && args.has("-C -c --clear"))
    return c.note(Level::high, bit(Category::guard_tamper), "clears the kernel's log");
  if (c.key == "mktemp") return c.note(Level::low, bit(Category::workspace_write), "makes a scratch file");
  if (c.key == "yes" && c.command.piped_from == SimpleCommand::npos) return;
}

namespace {

constexpr string_view kLoaderVariables =
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG_OUTPUT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH "
    "BASH_ENV ENV PROMPT_COMMAND "
    "PYTHONSTARTUP PYTHONHOME PERL5OPT PERL5LIB RUBYOPT RUBYLIB GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG "
    "GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM "
    "GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_EXTERNAL_DIFF GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_ASKPASS "
    "SSH_ASKPASS LESSOPEN LESSCLOSE "
    "RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC CARGO_BUILD_RUSTC_WRAPPER npm_config_script_shell "
    "NPM_CONFIG_SCRIPT_SHELL "
    "JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS GCONV_PATH SUDO_ASKPASS GIT_SEQUENCE_EDITOR PS4 ZDOTDIR "
    "RSYNC_RSH CVS_RSH TAR_OPTIONS ELECTRON_RUN_AS_NODE";
constexpr string_view kProgramVariables =
    "PAGER MANPAGER GIT_PAGER EDITOR VISUAL GIT_EDITOR BROWSER SHELL CC CXX LD AR CPP FC MAKE";
constexpr string_view kHarmlessPrograms =
    "cat less more true : vim vi nano emacs code ed head most bat gcc g++ clang clang++ cc c++ ar ld lld gold tcc "
    "gfortran gmake make bash sh zsh fish "
    "gcc-ar llvm-ar clang-cl ccache";

/// Switches of the programs that run git hooks.
bool skips_hooks(const Case& c, string_view name, string_view value) {
  if (in_list("HUSKY LEFTHOOK", name)) return in_list("0 false", value);
  if (in_list("HUSKY_SKIP_HOOKS OVERCOMMIT_DISABLE PRE_COMMIT_ALLOW_NO_CONFIG", name))
    return !in_list("0 false", value);
  return name == "SKIP" && !value.empty() && in_list("git pre-commit", c.key);
}

/// `PATH=…:$PATH` with a place in front that is not a known toolchain's.
bool hijacks_path(const Case& c, const Word& value) {
  std::string_view rest = value.text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const string_view part = rest.substr(0, end);
    if (part == "$PATH" || part == "${PATH}") return false;
    const Target target = c.place(part);
    static constexpr std::array<string_view, 18> kToolchains = {
        "/.cargo/bin", "/.local/bin", "/go/bin",    "/.nvm",        "/.pyenv",    "/.rbenv",
        "/.asdf",      "/.bun/bin",   "/.deno/bin", "/.volta",      "/.sdkman",   "node_modules/.bin",
        ".venv/bin",   "venv/bin",    "/.dotnet",   "/.poetry/bin", "/.yarn/bin", "/.rustup"};
    const bool toolchain =
        std::any_of(kToolchains.begin(), kToolchains.end(), [&](string_view t) { return contains(part, t); });
    if (!part.empty() && target.zone != Zone::documentation && !toolchain) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace

void judge_assignment(Case& c, string_view name, const Word& value) {
  if (name.starts_with("ESCROW_") || name.starts_with("CORDON_")) {
    return c.note(Level::critical, bit(Category::guard_tamper), "changes the guard's settings");
  }
  if (skips_hooks(c, name, value.text))
    return c.note(Level::medium, bit(Category::guard_tamper), "skips the repository's hooks");
  if (in_list("GIT_DIR GIT_COMMON_DIR GIT_TEMPLATE_DIR", name)) {
    return c.note(Level::medium, bit(Category::env_hijack),
                  std::string(name) + " points git at settings that can run programs");
  }
  if (!value.opaque && (contains(value.text, "$(") || contains(value.text, "`"))) {
    c.note(Level::medium, bit(Category::inline_code), "keeps a substitution as text, which bash may run later");
  }
  if (name == "HISTFILE" || name == "HISTSIZE" || name == "HISTFILESIZE") {
    return c.note(Level::high, bit(Category::guard_tamper), "hides the shell's history");
  }
  const bool names_program = in_list(kProgramVariables, name);
  if (names_program) {
    const string_view text = value.text;
    const string_view first = text.substr(0, text.find(' '));
    const bool bare_shell = name == "SHELL" || !in_list("bash sh zsh fish", base_name(first));
    const bool harmless =
        text.empty() || (in_list(kHarmlessPrograms, base_name(first)) && is_trusted_path(first) && bare_shell &&
                         !contains(text, " -c") && text.find_first_of(";|&`$(") == string_view::npos);
    if (!harmless) c.note(Level::high, bit(Category::env_hijack), std::string(name) + " makes another program run");
    return;
  }
  if (name == "PATH") {
    if (hijacks_path(c, value)) c.note(Level::high, bit(Category::env_hijack), "PATH makes other programs run");
    return;
  }
  if (name == "NODE_OPTIONS" && (contains(value.text, "require") || contains(value.text, "import") ||
                                 contains(value.text, "loader") || contains(value.text, "-r "))) {
    return c.note(Level::high, bit(Category::env_hijack), "NODE_OPTIONS loads code into every node");
  }
  if (name == "PYTHONPATH") {
    const Target target = c.place(value);
    if (target.zone == Zone::scratch || target.zone == Zone::home || target.zone == Zone::above) {
      c.note(Level::high, bit(Category::env_hijack), "PYTHONPATH loads code from outside the workspace");
    }
    return;
  }
  if ((name.ends_with("_INDEX_URL") || lower(name).ends_with("_registry") || name == "GOPROXY" || name == "GOSUMDB" ||
       name == "GONOSUMDB") &&
      !value.text.empty()) {
    if (!is_loopback(host_of(value.text)))
      c.note(Level::medium, bit(Category::env_hijack), "takes packages from another place");
    return;
  }
  if (name == "NODE_TLS_REJECT_UNAUTHORIZED" || name == "GIT_SSL_NO_VERIFY" || name == "PYTHONHTTPSVERIFY") {
    return c.note(Level::medium, bit(Category::env_hijack), "switches certificate checks off");
  }
  if (in_list("MAKEFLAGS GNUMAKEFLAGS", name) &&
      (contains(value.text, "eval") || contains(value.text, "SHELL=") || contains(value.text, "-f"))) {
    return c.note(Level::high, bit(Category::env_hijack), std::string(name) + " gives make other recipes");
  }
  const bool loader = in_list(kLoaderVariables, name) || name.starts_with("GIT_CONFIG_KEY_") ||
                      name.starts_with("GIT_CONFIG_VALUE_") || name.starts_with("BASH_FUNC_");
  const bool harmless = value.text.empty() || value.text == "/dev/null" ||
                        (name.starts_with("GIT_") && in_list("true cat : 0", value.text));
  if (loader && !harmless) c.note(Level::high, bit(Category::env_hijack), std::string(name) + " makes other code run");
}

void judge_environment(Case& c) {
  const bool wraps = std::any_of(c.line.children[c.index].begin(), c.line.children[c.index].end(), [&](std::size_t i) {
    return c.line.script.commands[i].context == CommandContext::wrapped;
  });
  if (c.line.scene.venue == Venue::host && !wraps && !contains(c.arguments().positional(0), "="))
    c.note(Level::medium, bit(Category::credential_access), "prints the environment with the secrets in it");
  for (const std::size_t child : c.line.children[c.index]) {
    for (const Assignment& assignment : c.line.script.commands[child].assignments)
      judge_assignment(c, assignment.name, assignment.value);
  }
  for (const Option& option : c.arguments().options) {
    const bool unset = in_list("-u --unset", option.name) && option.value;
    if (unset && (option.value->starts_with("ESCROW_") || option.value->starts_with("CORDON_")))
      c.note(Level::critical, bit(Category::guard_tamper), "changes the guard's settings");
  }
  for (std::size_t i = 1; i < c.argv.size(); ++i) {
    const std::size_t equals = c.word(i).find('=');
    if (equals == string_view::npos || c.word(i).starts_with('-')) {
      if (!c.word(i).starts_with('-')) return;
      continue;
    }
    Word value = c.argv[i];
    value.text = c.word(i).substr(equals + 1);
    judge_assignment(c, c.word(i).substr(0, equals), value);
  }
}

}  // namespace escrow::engine
