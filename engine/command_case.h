#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/command_profile.h"
#include "engine/command_signals.h"
#include "engine/text.h"

/// One simple command under judgement, with what is known of the line around it. Internal to the command judge.
namespace escrow::engine {

/// What is known of data that flows between commands.
using Taint = unsigned;
inline constexpr Taint kFromNetwork = 1, kSecretData = 2, kDecoded = 4, kLocalData = 8;

struct LineState;

class Case {
 public:
  Case(LineState& line, std::size_t index, const SimpleCommand& command);

  const SimpleCommand& command;
  const std::vector<Word>& argv;
  std::string key;                          ///< program_key of the command word
  const CommandProfile* profile = nullptr;  ///< nullptr for an unknown program
  std::size_t index;
  LineState& line;

  /// Records a finding; the gravest sets level and clause, categories add up.
  void note(Level level, CategorySet categories, std::string_view message);
  void note(const PlaceEffect& effect) { note(effect.level, effect.categories, effect.message); }

  Arguments arguments(std::size_t first = 1) const;
  std::string_view word(std::size_t i) const {
    return i < argv.size() ? std::string_view(argv[i].text) : std::string_view();
  }
  Target place(const Word& word) const;
  Target place(std::string_view text) const;
  void reads(const Word& word);
  void writes(const Word& word);
  void writes(std::string_view path);
  void removes(const Word& word, Reach reach);

  /// What arrives on standard input, and what substitutions and variables bring into the arguments.
  Taint input() const;
  Taint brought() const;
  bool has_input() const;  ///< a pipe or a redirect feeds it
  Taint file_taint(std::string_view path) const;

  /// The line of a tool's own run-a-command feature (`awk 'system("…")'`).
  void launches(std::string_view script, bool known);
  /// The judgement of a text as a shell line at this place.
  ScriptJudgement judge_text(std::string_view script) const;
  /// Data of this kind leaves the machine.
  void uploads(Taint taint, std::string_view how);
  void connects(std::string_view host_or_url);

  bool wrapped_by(std::string_view programs) const;  ///< any of the commands around it is one of these

  CommandJudgement judgement;
};

/// The line as a whole.
struct LineState {
  const ShellScript& script;
  CommandScene scene;
  Ground ground;  ///< changes with `cd`
  std::vector<CommandJudgement> done;
  std::map<std::string, Taint, std::less<>> files;
  std::map<std::string, Taint, std::less<>> variables;
  std::map<std::string, std::string, std::less<>> texts;  ///< files whose content the line itself wrote
  std::vector<std::vector<std::size_t>> children;
  std::vector<std::optional<Taint>> output;

  /// What a command writes to its standard output.
  Taint output_of(std::size_t index);
  Taint feeds_of(const SimpleCommand& command);
};

// One judge a family of programs.
void judge_files(Case& c);
void judge_filter(Case& c);
void judge_finder(Case& c);
void judge_archiver(Case& c);
void judge_editor(Case& c);
void judge_shell(Case& c);
void judge_interpreter(Case& c);
void judge_evaluator(Case& c);
/// Judges a file by the text that this very line wrote into it; false if that is not known.
bool judge_written_text(Case& c, const Word& file);
void judge_code(Case& c, std::string_view code);
void judge_git(Case& c);
void judge_fetcher(Case& c);
void judge_remote(Case& c);
void judge_lookup(Case& c);
void judge_package(Case& c);
void judge_build(Case& c);
void judge_cloud(Case& c);
void judge_container(Case& c);
void judge_database(Case& c);
void judge_system(Case& c);
void judge_vault(Case& c);
void judge_quiet(Case& c);
/// After the judge of its family: what the words of a program that only reads do all the same.
void judge_quiet_words(Case& c);
void judge_environment(Case& c);
void judge_assignment(Case& c, std::string_view name, const Word& value);

/// Shell-style match of one path component; enough for a globbed command word.
bool glob_matches(std::string_view pattern, std::string_view name);
/// True for `localhost`, 127/8, `::1`, 0.0.0.0.
bool is_loopback(std::string_view host);
/// The host of a URL or of `host:port`; the text itself if it is neither.
std::string_view host_of(std::string_view url);
bool is_metadata_host(std::string_view host);
/// `API_TOKEN`, `AWS_SECRET_ACCESS_KEY`, …
bool is_secret_name(std::string_view name);
/// A variable of that kind is named in the text (`$GITHUB_TOKEN`).
bool names_secret_variable(std::string_view text);
/// A file that a project builds or tests with, run by an interpreter (`setup.py`, `tests/x.py`).
bool is_project_script(std::string_view path);

}  // namespace escrow::engine
