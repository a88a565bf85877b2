#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/shell.h"
#include "tests/catch.h"

// What our parser says a line would run, against what bash does run. Every command of a generated line is `p`, a
// function that records its words; `pi` records what it reads. What our parser marks opaque may stand for anything.

using namespace escrow::engine;

namespace {

namespace fs = std::filesystem;
using Argv = std::vector<std::string>;
using Pick = std::initializer_list<const char*>;

/// The same lines on every machine: the generators of the standard library are not specified to the last bit.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::size_t below(std::size_t n) {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<std::size_t>((z ^ (z >> 31)) % n);
  }
  std::string of(Pick list) { return *(list.begin() + below(list.size())); }
  template <class Make>
  std::string many(std::size_t least, std::size_t most, Make make) {
    std::string out;
    for (std::size_t n = least + below(most - least + 1); n > 0; --n) out += make();
    return out;
  }

 private:
  std::uint64_t state_;
};

// --- Words

std::string plain_text(Dice& dice) {
  return dice.many(1, 4, [&] {
    return dice.of({"a", "b", "x1", "Z", "_", "-", "--k", ".", "/", ":", ",", "@",    "%", "+",
                    "^", "=", "0",  "7", "~", "!", "é",   "*", "?", "]", "}", "usr/", "q#"});
  });
}

std::string single_quoted(Dice& dice) {
  return "'" + dice.many(0, 4, [&] {
    return dice.of({"a", " ", "\"", "\\", "$a", "`", "{1,2}", ";",   "|", "&", "\n",
                    "#", "(", ")",  "<",  ">",  "*", "~",     "\\n", "!", "\t"});
  }) + "'";
}

std::string double_quoted(Dice& dice) {
  return "\"" + dice.many(0, 4, [&] {
    return dice.of({"a", " ", "'", "\\\\", "\\\"", "\\$", "\\`", "\\n", "\\a", "\\'", "\\\n", "\n",   "{1,2}", ";",
                    "|", "#", "(", ")",    "<",    ">",   "*",   "~",   "$ ",  "$.",  "$a",   "${b}", "b$a"});
  }) + "\"";
}

std::string ansi_quoted(Dice& dice) {
  return "$'" + dice.many(0, 4, [&] {
    return dice.of({"a",     " ",      "\"",      "\\n",   "\\t",     "\\\\",    "\\'",         "\\\"",
                    "\\x41", "\\x7",   "\\x4g",   "\\101", "\\7",     "\\0",     "\\1011",      "\\e",
                    "\\E",   "\\a",    "\\b",     "\\v",   "\\u0041", "\\u00e9", "\\U0001F600", "\\cB",
                    "\\c?",  "\\?",    "\\q",     "\\",    "$a",      "`",       "{a,b}",       "\\xg",
                    "\\u",   "\\U41x", "\\x{41}", "\\400", "\\c\\\\", ";",       "\n"});
  }) + "'";
}

std::string escaped(Dice& dice) {
  return dice.of({"\\a", "\\ ", "\\'", "\\\"", "\\\\", "\\$", "\\`", "\\{", "\\}",  "\\,", "\\;", "\\|",
                  "\\&", "\\<", "\\>", "\\(",  "\\)",  "\\#", "\\*", "\\~", "\\\n", "\\!", "\\=", "\\-"});
}

std::string word(Dice& dice, int depth);

std::string braces(Dice& dice, int depth) {
  if (dice.below(3) == 0) {
    return dice.of({"{1..3}",     "{3..1}",     "{a..d}",   "{d..a}",    "{01..03}",   "{1..10..3}", "{a..g..2}",
                    "{-1..1}",    "{1..1}",     "{1..a}",   "{a..}",     "{..b}",      "{}",         "{a}",
                    "{A..C}",     "{10..08}",   "{+1..3}",  "{1..3..0}", "{1...3}",    "{8..011}",   "{g..a..2}",
                    "{5..1..-2}", "{1..5..-2}", "{-02..2}", "{a..f..0}", "{1..2}{a,b}"});
  }
  std::string out = "{";
  const std::size_t parts = 1 + dice.below(3);
  for (std::size_t i = 0; i < parts; ++i) {
    if (i > 0) out += ",";
    if (dice.below(4) != 0) out += word(dice, depth + 1);
  }
  // Now and then it is never closed.
  return dice.below(12) == 0 ? out : out + "}";
}

std::string expansion(Dice& dice) {
  return dice.of({"$a", "${a}", "\"$b\"", "$b", "${b}c", "\"${a}\"", "$unset", "${a:-x}", "$((1+2))", "$(p sub)",
                  "`p sub`", "\"$(p 'in' \"x y\")\"", "${#a}", "$1", "$@", "\"$@\"", "$", "$'x'$a", "${a/x/y}"});
}

std::string piece(Dice& dice, int depth) {
  switch (dice.below(depth > 2 ? 6 : 9)) {
    case 0:
    case 1:
      return plain_text(dice);
    case 2:
      return single_quoted(dice);
    case 3:
      return double_quoted(dice);
    case 4:
      return ansi_quoted(dice);
    case 5:
      return escaped(dice);
    case 6:
      return dice.of({"$\"", "\""}) + dice.of({"text", "t t", ""}) + "\"";
    case 7:
      return braces(dice, depth);
    default:
      return dice.below(3) == 0 ? expansion(dice) : braces(dice, depth);
  }
}

std::string word(Dice& dice, int depth = 0) {
  return dice.many(1, 3, [&] { return piece(dice, depth); });
}

/// A word that is neither tilde-expanded nor an assignment nor a file descriptor where it stands.
std::string argument(Dice& dice) {
  return dice.of({"", "", "w", "-"}) + word(dice);
}

std::string blank(Dice& dice) {
  return dice.of({" ", " ", " ", "  ", "\t", " \\\n", " \\\n "});
}

// --- Lines

std::string command(Dice& dice) {
  std::string out;
  if (dice.below(8) == 0) out += dice.of({"v=1 ", "v= ", "v='x y' ", "v=a\\ b w=\"$a\" "});
  if (dice.below(12) == 0) out += dice.of({"</dev/null ", "2>/dev/null ", "2>&1 "});
  out += dice.of({"p", "p", "p", "p", "'p'", "\\p", "\"p\"", "$'p'", "$'\\160'", "p''", "\\\np"});
  for (std::size_t n = dice.below(4); n > 0; --n) {
    out += blank(dice) + argument(dice);
    if (dice.below(10) == 0)
      out += " " + dice.of({"2>/dev/null", ">>/dev/null", "<'/dev/null'", "2>&1", "> /dev/null"});
  }
  return out;
}

std::string here_text(Dice& dice) {
  const std::string body = dice.many(0, 3, [&] {
    return dice.of(
        {"plain text\n", "it's \"so\"\n", "\\$a \\\\ \\n\n", "{1,2} *\n", "\ttabbed\n", "E \n", "\n", "p x\n"});
  });
  return dice.of({"pi <<E\n", "pi <<'E'\n", "pi <<\\E\n", "pi <<\"E\"\n", "pi <<-E\n"}) + body + "E\n";
}

std::string line(Dice& dice, int depth = 0);

std::string compound(Dice& dice, int depth) {
  const auto inner = [&] { return line(dice, depth + 1); };
  switch (dice.below(9)) {
    case 0:
      return "( " + inner() + "\n)";
    case 1:
      return "{ " + inner() + "\n}";
    case 2:
      return "if " + command(dice) + "; then " + inner() + "\nfi";
    case 3:
      return "case x in y) p no;; x) " + inner() + "\n;; esac";
    case 4:
      return "while " + command(dice) + "; do " + inner() + "\nbreak; done";
    case 5:
      return "for i in 1; do " + inner() + "\ndone";
    case 6:
      return "f" + std::to_string(depth) + "() { " + inner() + "\n}; f" + std::to_string(depth);
    case 7:
      return "eval " + dice.of({"'p e1 \"e 2\"'", "p e1 e2", "\"p \\\"q r\\\"\"", "$'p \\'x y\\''"});
    default:
      return "v=$(" + command(dice) + "\n)";
  }
}

std::string part(Dice& dice, int depth) {
  const std::size_t kind = dice.below(12);
  if (kind == 0) return here_text(dice) + ":";
  if (kind == 1) return "pi <<< " + word(dice);
  if (kind <= 4 && depth < 3) return compound(dice, depth);
  return command(dice);
}

std::string line(Dice& dice, int depth) {
  std::string out = part(dice, depth);
  for (std::size_t n = dice.below(3); n > 0; --n) {
    out += dice.of({"; ", "\n", " && ", ";", " # note\n", " | ", "\n\n", "|| p never; ", "&\nwait; ", " |& "});
    out += part(dice, depth);
  }
  return out;
}

// --- bash

/// One `p` or `pi` that bash ran.
struct Answers {
  std::vector<std::vector<Argv>> ran;  ///< by line
  std::vector<bool> read;              ///< false where bash itself finds a syntax error
};

/// bash writes at each line end, and two processes of a pipe must not mix: a line end travels as \x01.
constexpr std::string_view kHarness = R"(set -f
unset HISTFILE
p() { local w=("${@//$'\n'/$'\1'}"); printf '%s\0' "$#" "${w[@]}" >&9; }
pi() { local t; IFS= read -r -d '' t; printf '%s\0' 1 "${t//$'\n'/$'\1'}" >&9; }
cases=$1
set --
while IFS= read -r -d '' -u 8 line; do
  a=one b='two  three' IFS=$' \t\n'; unset v w i unset
  unset -f f0 f1 f2
  eval "if false; then :
$line
fi" 2> /dev/null && ok=0 || ok=1
  (( ok )) || eval "$line" > /dev/null 2>&1 < /dev/null
  printf '%s\0' E "$ok" >&9
done 8< "$cases"
)";

std::vector<std::string> split_records(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<std::string> out;
  std::string field;
  while (std::getline(in, field, '\0')) {
    std::replace(field.begin(), field.end(), '\x01', '\n');
    out.push_back(field);
  }
  return out;
}

class Place {
 public:
  Place() {
    std::string name = (fs::temp_directory_path() / "shell-against-bash-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
    fs::create_directory(root_ / "empty");
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  fs::path operator/(const char* name) const { return root_ / name; }

 private:
  fs::path root_;
};

/// Runs all lines in one bash, in an empty directory.
Answers ask_bash(const std::vector<std::string>& lines) {
  const Place place;
  std::ofstream(place / "harness", std::ios::binary) << kHarness;
  std::ofstream cases(place / "cases", std::ios::binary);
  for (const std::string& text : lines) cases << text << '\0';
  cases.close();
  const std::string run = "cd '" + (place / "empty").string() + "' && LC_ALL=C.UTF-8 HOME=/nowhere timeout 40 bash " +
                          "--norc --noprofile ../harness ../cases 9>> ../records > /dev/null 2>&1 < /dev/null";
  REQUIRE(std::system(run.c_str()) == 0);
  Answers answers;
  std::vector<Argv> ran;
  const std::vector<std::string> fields = split_records(place / "records");
  for (std::size_t i = 0; i < fields.size();) {
    if (fields[i] == "E") {
      REQUIRE(i + 1 < fields.size());
      answers.ran.push_back(std::exchange(ran, {}));
      answers.read.push_back(fields[i + 1] == "0");
      i += 2;
      continue;
    }
    const std::size_t count = std::stoul(fields[i]);
    REQUIRE(i + count < fields.size());
    ran.emplace_back(fields.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                     fields.begin() + static_cast<std::ptrdiff_t>(i + 1 + count));
    i += 1 + count;
  }
  return answers;
}

bool bash_is_modern() {
  return std::system("bash -c '((BASH_VERSINFO[0] >= 5))' > /dev/null 2>&1") == 0;
}

// --- Comparison

/// The words after `p`; an opaque one stands for any number of words.
struct Claim {
  std::vector<Word> words;
  bool matches(const Argv& argv, std::size_t word = 0, std::size_t at = 0) const {
    if (word == words.size()) return at == argv.size();
    if (!words[word].opaque && !words[word].tilde) {
      return at < argv.size() && argv[at] == words[word].text && matches(argv, word + 1, at + 1);
    }
    // An opaque word may stand for any number of words, and a tilde for a directory.
    for (std::size_t skip = at; skip <= argv.size(); ++skip) {
      if (matches(argv, word + 1, skip)) return true;
    }
    return false;
  }
  bool exact() const {
    return std::none_of(words.begin(), words.end(), [](const Word& w) { return w.opaque || w.tilde; });
  }
};

std::optional<Claim> claim_of(const SimpleCommand& command) {
  if (command.argv.empty()) return std::nullopt;
  const std::string& name = command.argv.front().text;
  if (name == "p") return Claim{{command.argv.begin() + 1, command.argv.end()}};
  if (name != "pi") return std::nullopt;
  Claim claim;
  for (const Redirect& redirect : command.redirects) {
    if (redirect.kind != RedirectKind::here_doc && redirect.kind != RedirectKind::here_string) continue;
    Word body = redirect.target;
    if (redirect.kind == RedirectKind::here_string) body.text += '\n';
    claim.words = {body};
  }
  return claim;
}

std::string show(const Argv& argv) {
  return "  " + quote_argv(argv) + "\n";
}

struct Difference {
  std::string text;       ///< empty if there is none
  std::size_t exact = 0;  ///< commands of the line whose every word was known
};

/// Every command that bash ran must be one that we named, with the same words.
Difference compare(const std::vector<Argv>& ran, const ShellScript& script) {
  std::vector<Claim> claims;
  for (const SimpleCommand& command : script.commands) {
    if (std::optional<Claim> claim = claim_of(command)) claims.push_back(std::move(*claim));
  }
  std::stable_partition(claims.begin(), claims.end(), [](const Claim& claim) { return claim.exact(); });
  Difference out;
  std::vector<bool> used(claims.size(), false);
  for (const Argv& argv : ran) {
    std::size_t i = 0;
    while (i < claims.size() && (used[i] || !claims[i].matches(argv))) ++i;
    // What stands in a loop, a function or a brace group stands once in our list and may run more than once.
    for (std::size_t again = 0; i == claims.size() && again < claims.size(); ++again) {
      if (claims[again].matches(argv)) i = again;
      if (i != claims.size()) break;
    }
    if (i == claims.size()) {
      out.text += "bash ran\n" + show(argv);
      continue;
    }
    used[i] = true;
    if (claims[i].exact()) ++out.exact;
  }
  if (out.text.empty()) return out;
  out.text += "we named\n";
  for (const Claim& claim : claims) {
    Argv argv;
    for (const Word& w : claim.words) argv.push_back(w.opaque ? "<opaque>" + w.text : w.text);
    out.text += show(argv);
  }
  return out;
}

struct Tally {
  std::size_t lines = 0, ran = 0, exact = 0, refused = 0, unread = 0;
};

Tally check_against_bash(const std::vector<std::string>& lines) {
  const Answers answers = ask_bash(lines);
  REQUIRE(answers.ran.size() == lines.size());
  Tally tally;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ++tally.lines;
    if (!answers.read[i]) {
      ++tally.refused;
      continue;
    }
    const ShellScript script = parse_shell(lines[i]);
    tally.ran += answers.ran[i].size();
    if (script.state != ParseState::ok) {
      ++tally.unread;
      continue;  // such a line is never allowed
    }
    const Difference difference = compare(answers.ran[i], script);
    tally.exact += difference.exact;
    if (difference.text.empty()) continue;
    INFO(lines[i]);
    INFO(difference.text);
    CHECK(false);
  }
  INFO("lines " << tally.lines << ", run " << tally.ran << ", known " << tally.exact << ", refused by bash "
                << tally.refused << ", not read by us " << tally.unread);
  return tally;
}

}  // namespace

TEST_CASE("a word is resolved as bash resolves it, or said to be opaque") {
  REQUIRE(bash_is_modern());
  Dice dice(20'260'101);
  std::vector<std::string> lines;
  for (int i = 0; i < 2000; ++i) lines.push_back("p " + argument(dice));
  for (int i = 0; i < 400; ++i) lines.push_back("v=" + dice.of({"", "x"}) + word(dice) + "; p \"$v\"");
  for (int i = 0; i < 400; ++i) lines.push_back("pi <<< " + word(dice));
  const Tally tally = check_against_bash(lines);
  CHECK(tally.refused * 10 < tally.lines);
  CHECK(tally.unread * 50 < tally.lines);
  CHECK(tally.exact * 10 > tally.ran * 7);
}

TEST_CASE("every command that bash runs is named, however the line is put together") {
  REQUIRE(bash_is_modern());
  Dice dice(20'260'102);
  std::vector<std::string> lines;
  for (int i = 0; i < 600; ++i) lines.push_back(line(dice));
  const Tally tally = check_against_bash(lines);
  CHECK(tally.refused * 5 < tally.lines);
  CHECK(tally.unread * 10 < tally.lines);
  CHECK(tally.exact * 10 > tally.ran * 6);
}

TEST_CASE("what quote_argv writes, bash reads back") {
  REQUIRE(bash_is_modern());
  Dice dice(20'260'103);
  std::vector<std::string> lines;
  std::vector<Argv> expected;
  for (int i = 0; i < 300; ++i) {
    Argv argv{"p"};
    for (std::size_t n = dice.below(4); n > 0; --n) {
      argv.push_back(dice.many(0, 5, [&] {
        return dice.of({"a",     " ", "'", "\"", "\\", "$a", "`", "\n", "\t", "\x02", "\x7f",
                        "{1,2}", "*", "~", "#",  ";",  "=",  "é", "-",  "!",  "\\n",  "|"});
      }));
    }
    lines.push_back(quote_argv(argv));
    expected.emplace_back(argv.begin() + 1, argv.end());
  }
  const Answers answers = ask_bash(lines);
  REQUIRE(answers.ran.size() == lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    INFO(lines[i]);
    CHECK(answers.ran[i] == std::vector<Argv>{expected[i]});
  }
}
