#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/command_category.h"
#include "engine/level.h"
#include "engine/path_name.h"
#include "engine/shell.h"

/// What is known of programs: their argument grammar, and which options write, run or connect. All of it is data.
namespace escrow::engine {

/// What kind of program it is; decides how its arguments are judged.
enum class Role : unsigned char {
  quiet,        ///< arguments are text or numbers, not files
  reader,       ///< reads the files it names
  writer,       ///< writes every file it names
  copier,       ///< reads all but the last, writes the last
  mover,        ///< the same, and the sources go away
  remover,      ///< deletes what it names
  mode_setter,  ///< chmod, chown
  truncater,    ///< empties or overwrites what it names
  disk,         ///< formats or partitions a device
  archiver,     ///< tar, zip and the like
  filter,       ///< sed, awk, perl-less text programs with a language of their own
  finder,       ///< find, fd
  searcher,     ///< grep, rg: the first word is a pattern
  shell,
  interpreter,  ///< python, node, perl, ruby, php …
  wrapper,      ///< runs another command; judged by that one
  privileged,   ///< sudo, su: a wrapper that gains rights
  build,        ///< the project's own build, tests and linters
  vcs,          ///< git
  fetcher,      ///< curl, wget
  remote,       ///< ssh, scp, rsync, nc, ftp
  lookup,       ///< dig, host, ping, whois
  package,      ///< package managers, by sub-command
  cloud,        ///< clients of remote APIs, by sub-command
  container,    ///< docker, podman
  database,     ///< psql, mysql, sqlite3 …
  service,      ///< systemctl, launchctl, service
  scheduler,    ///< crontab, at
  process,      ///< kill, pkill
  power,        ///< shutdown, reboot
  kernel,       ///< mount, modprobe, sysctl, setcap …
  firewall,     ///< iptables, ufw …
  vault,        ///< pass, gpg, security, vault
  editor,       ///< vim, emacs, ed
  environment,  ///< env, printenv, export
  guard,        ///< escrow itself
  clipboard,    ///< pbcopy, xclip
  evaluator     ///< eval, source, trap
};

struct CommandProfile {
  std::string_view name;
  Role role;
  std::string_view value_options;  ///< options that take the next word, separated by blanks
  std::string_view write_options;  ///< those whose value is a file that is written
  std::string_view run_options;    ///< those whose value is a command
};

/// Nullptr for an unknown program. `key` as from program_key.
const CommandProfile* find_profile(std::string_view key);

/// The name a command word is looked up by: base name, lower case, without version suffix (`python3.11` → `python`).
std::string program_key(std::string_view word);

/// True for a program named plainly or by a system path; false for `./sed`, `tools/grep`.
bool is_trusted_path(std::string_view word);

struct Option {
  std::string name;
  std::size_t index = 0;             ///< of the word it stands in
  std::optional<std::string> value;  ///< joined or following
  const Word* word = nullptr;        ///< the word that holds the value, if it is a word of its own
};

/// A command line read by its program's grammar. Points into the argv it was read from.
struct Arguments {
  std::vector<Option> options;
  std::vector<const Word*> positionals;
  bool has(std::string_view names) const;  ///< any of the blank-separated option names
  const Option* find(std::string_view names) const;
  std::string_view positional(std::size_t i) const;  ///< "" if absent
};

/// `first` is the index after the program (or sub-command). Clusters (`-so FILE`) and `--name=value` are taken apart.
Arguments read_arguments(const std::vector<Word>& argv, std::size_t first, std::string_view value_options);

/// True if `item` is one of the blank-separated `list`.
bool in_list(std::string_view list, std::string_view item);

/// What a sub-command does.
struct SubcommandEffect {
  std::string_view program;
  std::string_view subcommands;  ///< blank-separated; "*" for any other; "-" for none given
  Level level;
  CategorySet categories;
};

/// The row of `subcommand/next` if the table has one, else of the sub-command, else of `*`; nullptr if there is none.
const SubcommandEffect* find_effect(std::string_view program, std::string_view subcommand, std::string_view next = {});

}  // namespace escrow::engine
