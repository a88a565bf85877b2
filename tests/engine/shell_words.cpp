#include <string>
#include <vector>

#include "engine/shell.h"
#include "tests/catch.h"

using namespace escrow::engine;

namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  const ShellScript script = parse_shell(text);
  if (script.commands.empty()) return out;
  for (const Word& word : script.commands.back().argv) out.push_back(word.text);
  return out;
}

using Words = std::vector<std::string>;

Word first_word(std::string_view text) {
  return parse_shell(text).commands.at(0).argv.at(0);
}

}  // namespace

TEST_CASE("quotes and escapes come off as in bash") {
  CHECK(words_of("a 'b c' \"d e\"") == Words{"a", "b c", "d e"});
  CHECK(words_of("a b\\ c") == Words{"a", "b c"});
  CHECK(words_of("a \"\\$x \\q\"") == Words{"a", "$x \\q"});
  CHECK(words_of("a '' \"\"") == Words{"a", "", ""});
  CHECK(words_of("a 'it'\\''s'") == Words{"a", "it's"});
  CHECK(words_of("a $'x\\ty\\x41\\101\\u00e9'") == Words{"a", "x\tyAA\xC3\xA9"});
  CHECK(words_of("a 'x | y; z'") == Words{"a", "x | y; z"});
  CHECK(words_of("a \"\\\nb\"") == Words{"a", "b"});
}

TEST_CASE("braces expand, and only outside quotes") {
  CHECK(words_of("a {b,c}d") == Words{"a", "bd", "cd"});
  CHECK(words_of("a {1..3}") == Words{"a", "1", "2", "3"});
  CHECK(words_of("a '{b,c}'") == Words{"a", "{b,c}"});
  CHECK(words_of("a {b}") == Words{"a", "{b}"});
  CHECK(words_of("a {}") == Words{"a", "{}"});
  CHECK(words_of("a x{b,{c,d}}y") == Words{"a", "xby", "xcy", "xdy"});
}

TEST_CASE("a variable set on the same line is known, an uncertain one is not") {
  CHECK(words_of("c=rm; $c x") == Words{"rm", "x"});
  CHECK(words_of("c='rm -rf'; $c x") == Words{"rm", "-rf", "x"});
  CHECK(words_of("c='a b'; x \"$c\"") == Words{"x", "a b"});
  CHECK(first_word("$c x").opaque);
  const auto last_is_opaque = [](std::string_view text) {
    return parse_shell(text).commands.back().argv.front().opaque;
  };
  CHECK(last_is_opaque("c=rm; if a; then c=ls; fi; $c /"));
  CHECK(last_is_opaque("c=rm; false && c=ls; $c /"));
  CHECK(last_is_opaque("c=ls; read c; $c /"));
  CHECK(last_is_opaque("c=ls; eval \"$x\"; $c /"));
  CHECK(last_is_opaque("c=$(which rm); $c /"));
}

TEST_CASE("a word remembers how it was written") {
  CHECK(first_word("r\\m x").disguised);
  CHECK(first_word("r''m x").disguised);
  CHECK(first_word("w\"ge\"t x").disguised);
  CHECK(first_word("$'\\x72m' x").disguised);
  CHECK(first_word("{rm,-rf} x").disguised);
  CHECK_FALSE(first_word("\\ls x").disguised);
  CHECK_FALSE(first_word("'ls' x").disguised);
  CHECK_FALSE(first_word("\"ls\" x").disguised);
  const auto argument = [](std::string_view text) { return parse_shell(text).commands.at(0).argv.at(1); };
  CHECK(argument("ls *.c").glob);
  CHECK_FALSE(argument("ls '*.c'").glob);
  CHECK(argument("ls ~/x").tilde);
  CHECK_FALSE(argument("ls '~/x'").tilde);
  CHECK(argument("ls \"${HOME}/x\"").text == "$HOME/x");
}

TEST_CASE("a quoted command line parses back to its words") {
  const Words lists[] = {{"ls"},
                         {"a", ""},
                         {"a", "b c", "it's", "x\ty", "new\nline"},
                         {"a=b", "c"},
                         {"a", "$HOME", "`x`", "\\", "*", "{b,c}", "~", "#x", "!"},
                         {"a", "\x01\x7f", "\xC3\xA9"}};
  for (const Words& words : lists) {
    const std::string line = quote_argv(words);
    INFO(line);
    CHECK(words_of(line) == words);
    CHECK(parse_shell(line).commands.size() == 1);
  }
}
