#include <algorithm>
#include <array>

#include "engine/command_case.h"

// git is programmable: its configuration, its environment and many options name programs. In the cage it runs with a
// scrubbed configuration, so reading sub-commands are judged as readers; what the command line itself configures is
// not.

namespace escrow::engine {
namespace {

using std::string_view;

constexpr string_view kReads =
    "status log diff show blame annotate ls-files ls-tree cat-file rev-parse rev-list describe shortlog name-rev "
    "merge-base for-each-ref show-ref "
    "count-objects check-ignore check-attr check-mailmap diff-tree diff-index diff-files whatchanged version help var "
    "show-branch cherry range-diff fsck "
    "verify-commit verify-tag grep merge-tree get-tar-commit-id patch-id stripspace column rev-count verify-pack "
    "--version --help --exec-path --html-path";
constexpr string_view kWritingSubcommands =
    "add commit mv merge cherry-pick revert apply am init format-patch archive bundle sparse-checkout repack "
    "update-index read-tree write-tree hash-object "
    "commit-tree mktree mktag pack-objects index-pack unpack-objects update-server-info rerere notes maintenance gc "
    "pack-refs merge-file mergetool fast-export "
    "fast-import replace checkout-index stage citool gui interpret-trailers request-pull update-ref symbolic-ref "
    "multi-pack-index commit-graph bisect";
constexpr string_view kContacts =
    "fetch pull clone ls-remote fetch-pack archive-remote svn p4 cvsimport remote-https send-pack";

/// Configuration keys whose value is a program, by exact name or by ending.
bool names_program(const std::string& key) {
  static constexpr std::array<string_view, 22> kKeys = {"core.pager",
                                                        "core.editor",
                                                        "core.sshcommand",
                                                        "core.fsmonitor",
                                                        "core.hookspath",
                                                        "core.askpass",
                                                        "core.gitproxy",
                                                        "core.worktree",
                                                        "diff.external",
                                                        "sequence.editor",
                                                        "gpg.program",
                                                        "gpg.ssh.program",
                                                        "credential.helper",
                                                        "interactive.difffilter",
                                                        "init.templatedir",
                                                        "core.attributesfile",
                                                        "include.path",
                                                        "uploadpack.packobjectshook",
                                                        "core.alternaterefscommand",
                                                        "ssh.variant",
                                                        "web.browser",
                                                        "sendemail.smtpserver"};
  if (std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end()) return true;
  static constexpr std::array<string_view, 14> kEnds = {".textconv",    ".command", ".clean", ".smudge", ".process",
                                                        ".driver",      ".cmd",     ".path",  ".helper", ".uploadpack",
                                                        ".receivepack", ".program", ".vcs",   ".proxy"};
  return key.starts_with("alias.") || key.starts_with("pager.") || key.starts_with("includeif.") ||
         key.starts_with("url.") || std::any_of(kEnds.begin(), kEnds.end(), [&](string_view end) {
           return key.ends_with(end) && !key.starts_with("http.");
         });
}

bool is_harmless_value(string_view value) {
  return value.empty() || in_list("cat less more true false vim vi nano emacs : delta bat", value) ||
         value == "/dev/null" || value == "code --wait";
}

bool runs_hooks(const Case& c) {
  return std::any_of(c.argv.begin(), c.argv.end(), [](const Word& word) {
    return in_list("commit push merge am rebase cherry-pick pull revert checkout switch", word.text);
  });
}

void judge_setting(Case& c, string_view key_text, string_view value, bool lasting) {
  const std::string key = lower(key_text);
  if (!names_program(key)) {
    if (key == "http.sslverify" && lasting)
      c.note(Level::medium, bit(Category::guard_tamper), "switches certificate checks off");
    return;
  }
  if (key == "core.hookspath" && (value.empty() || value == "/dev/null")) {
    if (lasting || runs_hooks(c)) c.note(Level::medium, bit(Category::guard_tamper), "skips the repository's hooks");
    return;
  }
  if (is_harmless_value(value)) return;
  if (key.starts_with("alias.")) {
    if (!value.starts_with('!')) return;
    const ScriptJudgement inner = c.judge_text(value.substr(1));
    c.note(std::max(inner.level, Level::high), bit(Category::inline_code), "defines a git alias that runs a command");
    if (inner.level > Level::high) c.note(inner.level, inner.categories, inner.message);
    return;
  }
  c.note(Level::high, bit(Category::env_hijack), "tells git which program to run: " + key);
}

void judge_config(Case& c, const Arguments& args, std::size_t sub) {
  Arguments own = read_arguments(c.argv, sub + 1, "-f --file --blob --type --default --comment --value");
  static_cast<void>(args);
  const bool global = own.has("--global --system");
  if (own.has("--get --get-all --list -l --get-regexp --get-urlmatch --show-origin --show-scope --name-only") ||
      in_list("get list get-all", own.positional(0))) {
    if (contains(lower(own.positional(0)), "credential") || contains(lower(own.positional(0)), "token"))
      c.note(Level::medium, bit(Category::credential_access), "reads stored credentials");
    return;
  }
  std::size_t first = in_list("set unset edit rename-section remove-section", own.positional(0)) ? 1 : 0;
  if (own.positionals.size() - std::min(first, own.positionals.size()) < 2 &&
      !own.has("--unset --unset-all --edit -e --add --replace-all") && first == 0)
    return;  // reads one key
  c.note(Level::low, bit(Category::workspace_write), "changes the repository's settings");
  if (global) c.note(Level::medium, bit(Category::path_escape), "changes git's settings for every repository");
  if (const Option* file = own.find("-f --file"); file != nullptr && file->value) c.writes(*file->value);
  const std::size_t before = static_cast<std::size_t>(c.judgement.level);
  judge_setting(c, own.positional(first), own.positional(first + 1), true);
  const bool graver = static_cast<std::size_t>(c.judgement.level) > before;
  if (graver && lower(own.positional(first)) == "core.hookspath") c.judgement.categories |= bit(Category::persistence);
}

bool is_remote_address(string_view text) {
  return contains(text, "://") || text.starts_with("git@") || text.starts_with("ext::") ||
         (contains(text, "@") && contains(text, ":") && !text.starts_with('-'));
}

/// True if an earlier command of the line made the remote, or pointed it elsewhere.
bool is_remote_of_this_line(const Case& c, string_view name) {
  const auto& commands = c.line.script.commands;
  for (std::size_t i = 0; i < c.index && i < commands.size(); ++i) {
    const auto& argv = commands[i].argv;
    const auto verb = std::find_if(argv.begin(), argv.end(), [](const Word& w) { return w.text == "remote"; });
    if (argv.empty() || program_key(argv.front().text) != "git" || argv.end() - verb < 3) continue;
    if (in_list("add set-url", verb[1].text) &&
        std::any_of(verb + 2, argv.end(), [&](const Word& w) { return w.text == name; }))
      return true;
  }
  return false;
}

void judge_push(Case& c, std::size_t sub) {
  const Arguments args =
      read_arguments(c.argv, sub + 1, "-o --push-option --repo --receive-pack --exec --recurse-submodules");
  c.note(Level::medium, bit(Category::network), "publishes to a remote");
  const bool rewrites = args.has("-f --force --force-with-lease --mirror --delete -d --prune --force-if-includes");
  bool refspec = false;
  for (std::size_t i = 1; i < args.positionals.size(); ++i) {
    const string_view ref = args.positionals[i]->text;
    if (ref.starts_with('+') || ref.starts_with(':')) refspec = true;
  }
  if (rewrites || refspec)
    c.note(Level::high, Category::destructive | Category::network, "rewrites or deletes a branch that others use");
  const string_view target = args.positional(0);
  if (is_remote_address(target) || is_remote_of_this_line(c, target)) {
    if (target.starts_with("ext::"))
      c.note(Level::high, bit(Category::inline_code), "has git run a program as transport");
    c.note(Level::high, Category::exfiltration | Category::network,
           "publishes to a place that is not a configured remote");
  }
  if (args.has("--no-verify")) c.note(Level::medium, bit(Category::guard_tamper), "skips the repository's hooks");
  if (args.has("--receive-pack --exec"))
    c.note(Level::high, bit(Category::inline_code), "names the program that the remote runs");
}

void judge_contact(Case& c, string_view name, std::size_t sub) {
  const Arguments args = read_arguments(
      c.argv, sub + 1,
      "-u --upload-pack -b --branch --depth -o --origin -j --template -c --config --reference --separate-git-dir");
  c.note(Level::medium, bit(Category::network), "contacts a remote");
  if (name == "clone" || name == "pull" || name == "fetch") c.judgement.categories |= bit(Category::workspace_write);
  const string_view address = args.positional(0);
  if (address.starts_with("ext::"))
    c.note(Level::high, bit(Category::inline_code), "has git run a program as transport");
  if (const Option* pack = args.find("--upload-pack -u"); pack != nullptr && pack->value && name != "pull") {
    c.note(Level::high, bit(Category::inline_code), "names the program that git runs for the transfer");
  }
  if (const Option* set = args.find("-c --config"); set != nullptr && set->value && name == "clone") {
    const std::size_t equals = std::min(set->value->find('='), set->value->size());
    judge_setting(c, string_view(*set->value).substr(0, equals),
                  equals < set->value->size() ? string_view(*set->value).substr(equals + 1) : "", false);
  }
  if (name == "clone" && args.positionals.size() > 1) c.writes(*args.positionals[1]);
  if (args.has("--no-verify") && name == "pull")
    c.note(Level::medium, bit(Category::guard_tamper), "skips the repository's hooks");
}

void judge_discards(Case& c, string_view name, const Arguments& args) {
  constexpr CategorySet kLoss = bit(Category::destructive);
  for (const Word* word : args.positionals) {
    const Target target = c.place(*word);
    if (target.ward == Ward::guard) c.note(effect_of_write(target));
  }
  if (name == "reset") {
    if (args.has("--hard --merge --keep")) return c.note(Level::medium, kLoss, "discards changes and commits");
    return c.note(Level::low, bit(Category::workspace_write), "moves the branch or the index");
  }
  if (name == "clean") {
    if (args.has("-n --dry-run")) return;
    return c.note(Level::medium, kLoss, "removes files that git does not track");
  }
  if (name == "restore") {
    if (args.has("--staged -S") && !args.has("--worktree -W"))
      return c.note(Level::low, bit(Category::workspace_write), "unstages changes");
    return c.note(Level::medium, kLoss, "discards changes of the working tree");
  }
  // checkout, switch
  const bool makes = args.has("-b -B -c -C --orphan --track -t --detach");
  bool after_dashes = std::any_of(c.argv.begin(), c.argv.end(), [](const Word& w) { return w.text == "--"; });
  const bool dot = std::any_of(args.positionals.begin(), args.positionals.end(),
                               [](const Word* w) { return w->text == "." || w->text == ":/" || w->text == "*"; });
  if (name == "checkout" && !makes && (after_dashes || dot || args.has("-f --force -p")))
    return c.note(Level::medium, kLoss, "discards changes of the working tree");
  if (args.has("-f --force --discard-changes"))
    return c.note(Level::medium, kLoss, "discards changes of the working tree");
  c.note(Level::low, bit(Category::workspace_write), "switches branches");
}

bool judge_by_list(Case& c, string_view name, const Arguments& args) {
  constexpr CategorySet kLoss = bit(Category::destructive);
  if (name == "branch") {
    if (args.has("-D") || (args.has("-d --delete") && args.has("-f --force")))
      c.note(Level::medium, kLoss, "deletes a branch that may not be merged");
    else if (!args.positionals.empty() || args.has("-m -M -d --delete -u --set-upstream-to --unset-upstream -c")) {
      if (!args.has("--list -l -a -r --contains --merged --no-merged --show-current -v -vv"))
        c.note(Level::low, bit(Category::workspace_write), "changes branches");
    }
    return true;
  }
  if (name == "tag") {
    if (args.has("-d --delete"))
      c.note(Level::low, Category::destructive | Category::workspace_write, "deletes a local tag");
    else if (!args.positionals.empty() && !args.has("-l --list -n --contains --points-at --sort"))
      c.note(Level::low, bit(Category::workspace_write), "makes a tag");
    return true;
  }
  if (name == "stash") {
    if (in_list("list show", args.positional(0))) return true;
    if (in_list("drop clear", args.positional(0)))
      c.note(Level::medium, kLoss, "deletes stashed work");
    else
      c.note(Level::low, bit(Category::workspace_write), "moves changes to or from the stash");
    return true;
  }
  if (name == "reflog") {
    if (in_list("expire delete", args.positional(0)))
      c.note(Level::medium, kLoss, "deletes the record that could bring commits back");
    return true;
  }
  if (name == "remote") {
    const string_view verb = args.positional(0);
    if (in_list("update prune show", verb) && !args.has("-n"))
      c.note(Level::medium, bit(Category::network), "contacts a remote");
    else if (verb == "set-url")
      c.note(Level::medium, Category::workspace_write | Category::network, "changes where the repository is published");
    else if (in_list("add remove rm rename set-head set-branches", verb))
      c.note(Level::low, bit(Category::workspace_write), "changes the list of remotes");
    return true;
  }
  if (in_list("notes bisect sparse-checkout", name) && in_list("list show log view visualize", args.positional(0)))
    return true;
  if (name == "archive" && args.has("--list -l")) return true;
  if (name == "apply" && args.has("--stat --numstat --summary --check")) return true;
  if (name == "worktree") {
    if (args.positional(0) == "list") return true;
    c.note(Level::low, bit(Category::workspace_write), "changes work trees");
    if (args.positionals.size() > 1 && args.positional(0) == "add") c.writes(*args.positionals[1]);
    if (args.positional(0) == "remove")
      c.note(args.has("-f --force") ? Level::medium : Level::low, kLoss, "removes a work tree");
    return true;
  }
  if (name == "submodule") {
    if (args.positional(0) == "status" || args.positional(0) == "summary" || args.positionals.empty()) return true;
    if (in_list("update add", args.positional(0)))
      c.note(Level::medium, bit(Category::network), "fetches other repositories");
    else
      c.note(Level::low, bit(Category::workspace_write), "changes submodules");
    return true;
  }
  if (name == "lfs") {
    if (in_list("track untrack", args.positional(0)) && args.positionals.size() > 1) {
      c.note(Level::low, bit(Category::workspace_write), "changes which files are stored elsewhere");
      return true;
    }
    if (in_list("ls-files status track env version", args.positional(0))) return true;
    c.note(Level::medium, bit(Category::network), "contacts a remote");
    return true;
  }
  return false;
}

void judge_rebase(Case& c, const Arguments& args) {
  c.note(Level::low, bit(Category::workspace_write), "rewrites local commits");
  if (args.has("--no-verify")) c.note(Level::medium, bit(Category::guard_tamper), "skips the repository's hooks");
  const Arguments own = read_arguments(c.argv, 2, "-x --exec");
  if (const Option* run = own.find("-x --exec"); run != nullptr && run->value) {
    const ScriptJudgement inner = c.judge_text(*run->value);
    c.note(inner.level, inner.categories, inner.message);
  }
}

/// Options that run a program or write a file, whatever the sub-command.
void judge_common_options(Case& c, string_view name, std::size_t sub) {
  for (std::size_t i = sub + 1; i < c.argv.size(); ++i) {
    const string_view text = c.word(i);
    if (text == "--") return;
    if (text.starts_with("--output="))
      c.writes(text.substr(9));
    else if ((text == "--output" || (text == "-o" && in_list("archive format-patch bundle", name))) &&
             i + 1 < c.argv.size())
      c.writes(c.argv[i + 1]);
    if (name == "grep" && (text.starts_with("-O") || text.starts_with("--open-files-in-pager"))) {
      c.note(Level::high, bit(Category::inline_code), "has git run a program on what it finds");
    }
    if (name == "difftool" && (text == "-x" || text.starts_with("--extcmd")))
      c.note(Level::high, bit(Category::inline_code), "has git run a program");
    if (name == "diff" && text == "--no-index") {
      for (std::size_t j = i + 1; j < c.argv.size(); ++j) c.reads(c.argv[j]);
    }
  }
}

void judge_readers_on_host(Case& c, string_view name) {
  if (!c.line.scene.git_config_runs_programs || !in_list("diff show log blame", name)) return;
  const Level level = c.line.scene.venue == Venue::host ? Level::medium : Level::low;
  c.note(level, bit(Category::inline_code), "the repository's settings make git run programs");
}

/// `-C`, `-c`, `--git-dir` and the like, before the sub-command. Returns its index.
std::size_t judge_global_options(Case& c) {
  std::size_t at = 1;
  while (at < c.argv.size() && c.word(at).starts_with('-') && c.word(at).size() > 1) {
    const string_view text = c.word(at);
    const bool takes = in_list(c.profile->value_options, text);
    const string_view value = takes                 ? c.word(at + 1)
                              : contains(text, "=") ? text.substr(text.find('=') + 1)
                                                    : string_view();
    if (text == "-c" || text.starts_with("--config-env")) {
      const std::size_t equals = std::min(value.find('='), value.size());
      judge_setting(c, value.substr(0, equals), equals < value.size() ? value.substr(equals + 1) : string_view(),
                    false);
    } else if (text == "-C" || text.starts_with("--git-dir") || text.starts_with("--work-tree")) {
      const Target target = c.place(value);
      if (target.zone == Zone::scratch && text.starts_with("--git-dir")) {
        c.note(Level::medium, bit(Category::inline_code), "another repository's settings can make git run programs");
      }
      if (target.zone != Zone::workspace && target.zone != Zone::workspace_root && target.zone != Zone::unknown &&
          target.zone != Zone::scratch) {
        c.note(Level::medium, bit(Category::path_escape), "works on a repository outside the workspace");
      }
    } else if (text.starts_with("--exec-path=")) {
      c.note(Level::high, bit(Category::env_hijack), "tells git where its own programs are");
    }
    if (in_list("--version --help --exec-path --html-path --man-path", text)) return c.argv.size();
    at += takes ? 2 : 1;
  }
  return at;
}

}  // namespace

void judge_git(Case& c) {
  const std::size_t sub = judge_global_options(c);
  if (sub >= c.argv.size()) return;
  const string_view name = c.word(sub);
  const Arguments args = read_arguments(c.argv, sub + 1, "-m --message -F --file -C --reuse-message --author --date");
  judge_common_options(c, name, sub);
  if (name == "config") return judge_config(c, args, sub);
  if (name == "push") return judge_push(c, sub);
  if (name == "commit" || name == "merge" || name == "cherry-pick" || name == "am") {
    const bool short_form = name == "commit" && args.has("-n");
    if (args.has("--no-verify") || short_form)
      c.note(Level::medium, bit(Category::guard_tamper), "skips the repository's hooks");
  }
  if (in_list("reset clean restore checkout switch", name)) return judge_discards(c, name, args);
  if (name == "rm")
    return c.note(Level::low, Category::workspace_write | Category::destructive, "removes tracked files");
  if (name == "rebase") return judge_rebase(c, args);
  if (judge_by_list(c, name, args)) return;
  if (in_list("filter-branch filter-repo", name))
    return c.note(Level::high, bit(Category::destructive), "rewrites the whole history");
  if (name == "update-ref" && args.has("-d"))
    return c.note(Level::medium, bit(Category::destructive), "deletes a reference");
  if (name == "gc" && args.has("--prune=now --prune --aggressive"))
    return c.note(Level::medium, bit(Category::destructive), "deletes commits that nothing names");
  if (name == "prune") return c.note(Level::medium, bit(Category::destructive), "deletes commits that nothing names");
  if (name == "credential" || name.starts_with("credential-"))
    return c.note(Level::high, bit(Category::credential_access), "reads stored credentials");
  if (name == "send-email" || name == "imap-send")
    return c.note(Level::high, Category::exfiltration | Category::network, "mails patches");
  if (name == "daemon" || name == "instaweb" || name == "http-backend")
    return c.note(Level::high, bit(Category::network), "serves the repository to others");
  if (name == "hook") return c.note(Level::low, bit(Category::build_test), "runs the repository's hooks");
  if (in_list(kContacts, name)) return judge_contact(c, name, sub);
  if (in_list(kReads, name)) return judge_readers_on_host(c, name);
  if (name == "difftool") return c.note(Level::low, bit(Category::inline_code), "shows differences in a tool");
  if (in_list(kWritingSubcommands, name))
    return c.note(Level::low, bit(Category::workspace_write), "changes local git state");
  if (c.judgement.level >= Level::medium) return;
  c.note(Level::medium, bit(Category::inline_code), "runs a git sub-command that is not known");
}

}  // namespace escrow::engine
