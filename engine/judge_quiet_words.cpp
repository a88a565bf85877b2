#include <array>

#include "engine/command_case.h"
#include "engine/path_name.h"

// What a program that only reads can still do through its words: bash evaluates some of them a second time, an option
// names a key, a pattern matches one.

namespace escrow::engine {

using std::string_view;

namespace {

bool holds_substitution(const Word& word) {
  return !word.opaque && (contains(word.text, "$(") || contains(word.text, "`"));
}

/// Builtins that take a name, and evaluate the subscript in it, or an arithmetic expression.
constexpr string_view kTakesNames = "let read declare typeset local export readonly unset wait getopts";
constexpr string_view kArithmeticTests = "-v -eq -ne -lt -le -gt -ge";

bool has_word(const Case& c, string_view list) {
  for (std::size_t i = 1; i < c.argv.size(); ++i) {
    if (in_list(list, c.word(i))) return true;
  }
  return false;
}

/// True if bash runs a substitution in this builtin's words though they are quoted (bash(1), ARITHMETIC EVALUATION and
/// Arrays: subscripts undergo expansion again).
bool evaluates_words(const Case& c) {
  if (in_list(kTakesNames, c.key)) return true;
  if (in_list("test [ [[", c.key)) return has_word(c, kArithmeticTests);
  return c.key == "printf" && has_word(c, "-v");
}

void judge_evaluated_words(Case& c) {
  const bool calls_back = in_list("mapfile readarray compgen complete", c.key);
  for (std::size_t i = 1; i < c.argv.size(); ++i) {
    if (calls_back && c.word(i - 1) == "-C") c.launches(c.word(i), !c.argv[i].opaque);
    if (holds_substitution(c.argv[i]) && evaluates_words(c)) {
      c.note(Level::high, Category::inline_code | Category::obfuscation, "bash runs the substitution in a quoted word");
    }
  }
}

/// Programs whose words are names to look at, not files to print.
constexpr string_view kNamesOnly =
    "echo printf ls dir test [ [[ stat file basename dirname realpath readlink find fd du which type command touch "
    "mkdir export set unset local declare typeset alias true false : exit return cd pushd tree";
constexpr string_view kGitNamesOnly = "status check-ignore check-attr ls-files rev-parse add rm restore";
constexpr std::array<string_view, 7> kSecretNames = {".env",   ".env.local",       ".env.production", ".npmrc",
                                                     ".netrc", ".git-credentials", ".pgpass"};

/// `.e*`, `.[e]nv`, `--include=.env*`: a pattern is as secret as what it can match. As in bash, the dot is written out.
bool can_match_secret(string_view path) {
  const string_view pattern = base_name(path).substr(0, 24);
  if (!pattern.starts_with('.') || pattern.find_first_of("*?[") == string_view::npos) return false;
  for (const string_view name : kSecretNames) {
    if (glob_matches(pattern, name)) return true;
  }
  return false;
}

string_view value_of(string_view word) {
  const std::size_t equals = word.find('=');
  return word.starts_with('-') && equals != string_view::npos ? word.substr(equals + 1) : word;
}

bool shows_contents(const Case& c) {
  if (c.key == "git") return !has_word(c, kGitNamesOnly);
  return !in_list(kNamesOnly, c.key);
}

/// `date -f ~/.ssh/id_rsa`, `wc --files0-from=.env`: any word of a program that prints may be what it prints.
void judge_named_secrets(Case& c) {
  if (!shows_contents(c)) return;
  for (std::size_t i = 1; i < c.argv.size(); ++i) {
    const string_view text = value_of(c.word(i));
    if (text.empty() || text.size() > 4096) continue;
    const bool plain = !c.argv[i].opaque || c.argv[i].tilde;
    if (plain && c.place(text).ward == Ward::secret) c.note(effect_of_read(c.place(text)));
    if (can_match_secret(text)) {
      c.note(Level::high, bit(Category::credential_access),
             "a pattern that matches files with secrets: " + std::string(text));
    }
  }
}

/// Programs that print, but take a file to write as a later word.
void judge_second_file(Case& c) {
  const Arguments args = c.arguments();
  if (in_list("uniq xxd", c.key) && args.positionals.size() > 1) c.writes(*args.positionals[1]);
  if (c.key.starts_with("python") && c.word(1) == "-m" && c.word(2) == "json.tool" && args.positionals.size() > 1 &&
      !c.argv.back().text.starts_with('-')) {
    c.writes(c.argv.back());
  }
  if (c.key == "info" && has_word(c, "-o --output")) c.writes(c.argv.back());
}

void judge_reader_options(Case& c) {
  for (std::size_t i = 1; i < c.argv.size(); ++i) {
    const string_view text = c.word(i);
    if (in_list("less more most man", c.key) && text.starts_with("+!")) c.launches(text.substr(2), !c.argv[i].opaque);
    if (in_list("npm yarn pnpm", c.key) && (contains(text, "_auth") || contains(text, "_password"))) {
      c.note(Level::high, bit(Category::credential_access), "prints a registry's credential");
    }
  }
  if (c.key == "git" && has_word(c, "--ext-diff --textconv")) {
    c.note(c.line.scene.venue == Venue::host ? Level::medium : Level::low, bit(Category::inline_code),
           "lets the repository's settings run programs");
  }
  if (in_list("kubectl oc", c.key) && c.word(1) == "config" && has_word(c, "--raw")) {
    c.note(Level::high, bit(Category::credential_access), "prints the cluster's credentials");
  }
}

}  // namespace

void judge_quiet_words(Case& c) {
  judge_evaluated_words(c);
  judge_second_file(c);
  judge_reader_options(c);
  if (c.judgement.level == Level::none) judge_named_secrets(c);
}

}  // namespace escrow::engine
