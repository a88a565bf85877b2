#include <algorithm>
#include <array>
#include <cctype>

#include "engine/command_case.h"
#include "engine/inner_command.h"

// Text programs that hold a language of their own (sed, awk), and editors: each can run commands and write files.

namespace escrow::engine {
namespace {

using std::string_view;

/// Reads a sed script for the three things that matter: `e`, `w` and `r`. Follows POSIX sed plus GNU's `e`, `s///e`,
/// `s///w`.
class SedScript {
 public:
  SedScript(Case& c, string_view text) : c_(c), text_(text) {}

  void judge() {
    while (at_ < text_.size()) {
      skip_blank();
      if (at_ >= text_.size()) return;
      read_address();
      if (at_ < text_.size()) read_command();
    }
  }

 private:
  void skip_blank() {
    while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == ';' ||
                                  text_[at_] == '{' || text_[at_] == '}'))
      ++at_;
  }

  void read_address() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '/')
        skip_pattern('/');
      else if (c == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        skip_pattern(text_[at_]);
      } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
                 std::string_view("$,~+! \t").find(c) != string_view::npos) {
        ++at_;
      } else if ((c == 'I' || c == 'M') && at_ > 0 && text_[at_ - 1] == '/') {
        ++at_;
      } else {
        return;
      }
    }
  }

  /// Past `/…/` at the opening mark.
  void skip_pattern(char mark) {
    ++at_;
    bool in_class = false;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      else if (text_[at_] == '[')
        in_class = true;
      else if (text_[at_] == ']')
        in_class = false;
      else if (text_[at_] == mark && !in_class)
        break;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  string_view rest_of_line() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    string_view rest = text_.substr(at_, end - at_);
    at_ = end;
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    return rest;
  }

  void read_command() {
    const char command = text_[at_++];
    switch (command) {
      case 's':
        return read_substitution();
      case 'y':
        if (at_ < text_.size()) skip_two_parts();
        return;
      case 'e': {
        const string_view line = rest_of_line();
        return c_.launches(line, !line.empty());
      }
      case 'w':
      case 'W':
        return c_.writes(rest_of_line());
      case 'r':
      case 'R':
        return c_.note(effect_of_read(c_.place(rest_of_line())));
      case 'a':
      case 'i':
      case 'c':
      case '#':
        rest_of_line();
        return;
      case 'b':
      case 't':
      case 'T':
      case ':':
        while (at_ < text_.size() && text_[at_] != ';' && text_[at_] != '\n') ++at_;
        return;
      default:
        return;
    }
  }

  void skip_two_parts() {
    const char mark = text_[at_];
    skip_pattern(mark);
    --at_;
    if (at_ < text_.size()) skip_pattern(mark);
  }

  void read_substitution() {
    if (at_ >= text_.size()) return;
    skip_two_parts();
    for (; at_ < text_.size(); ++at_) {
      const char flag = text_[at_];
      if (flag == 'e') {
        c_.launches("", false);
      } else if (flag == 'w') {
        ++at_;
        return c_.writes(rest_of_line());
      } else if (std::isalnum(static_cast<unsigned char>(flag)) == 0) {
        return;
      }
    }
  }

  Case& c_;
  string_view text_;
  std::size_t at_ = 0;
};

void judge_sed(Case& c) {
  const Arguments args = read_arguments(c.argv, 1, "-e -f -l --expression --file");
  bool given = false;
  for (const Option& option : args.options) {
    if (in_list("-e --expression", option.name) && option.value) {
      SedScript(c, *option.value).judge();
      given = true;
    }
    if (in_list("-f --file", option.name)) {
      c.note(Level::low, bit(Category::inline_code), "runs a sed script from a file");
      given = true;
    }
  }
  if (!given && !args.positionals.empty()) SedScript(c, args.positionals.front()->text).judge();
  const bool in_place = std::any_of(args.options.begin(), args.options.end(), [](const Option& o) {
    return o.name.starts_with("-i") || o.name == "--in-place" || o.name == "-i";
  });
  for (std::size_t i = given ? 0 : 1; i < args.positionals.size(); ++i) {
    if (in_place)
      c.writes(*args.positionals[i]);
    else
      c.reads(*args.positionals[i]);
  }
  if (in_place) c.note(Level::low, bit(Category::workspace_write), "edits files in place");
}

/// The string literal that begins at or after `at`, if nothing but blanks and brackets come before it.
string_view literal_at(string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '(' || text[at] == '\t')) ++at;
  if (at >= text.size() || text[at] != '"') return {};
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return end < text.size() ? text.substr(at + 1, end - at - 1) : string_view();
}

/// True if `at` lies outside string and regular-expression literals of an awk program.
std::vector<bool> awk_code_mask(string_view text) {
  std::vector<bool> code(text.size(), true);
  char quote = 0;
  char before = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      code[i] = false;
      if (c == '\\') {
        if (++i < text.size()) code[i] = false;
      } else if (c == quote) {
        quote = 0;
        before = c;
      }
      continue;
    }
    const bool starts_pattern =
        c == '/' && (before == 0 || std::string_view("(,{;~!&|\n").find(before) != string_view::npos);
    if (c == '"' || starts_pattern) {
      quote = c;
      code[i] = false;
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      before = c;
    }
  }
  return code;
}

void judge_awk_program(Case& c, string_view program) {
  const std::vector<bool> code = awk_code_mask(program);
  for (std::size_t at = program.find("system"); at != string_view::npos; at = program.find("system", at + 1)) {
    const std::size_t open = program.find_first_not_of(" \t", at + 6);
    if (!code[at] || open == string_view::npos || program[open] != '(') continue;
    const string_view text = literal_at(program, open + 1);
    c.launches(text, !text.empty());
  }
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!code[i]) continue;
    if (program[i] == '|' && program.substr(i, 2) != "||" && (i == 0 || program[i - 1] != '|')) {
      const std::size_t next = program[i + 1 < program.size() ? i + 1 : i] == '&' ? i + 2 : i + 1;
      const string_view text = literal_at(program, next);
      const std::size_t word = program.find_first_not_of(" \t", next);
      const bool reads = word != string_view::npos && program.substr(word).starts_with("getline");
      if (!reads) {
        c.launches(text, !text.empty());
        continue;
      }
      const std::size_t end = program.rfind('"', i);
      const std::size_t begin = end == string_view::npos || end == 0 ? string_view::npos : program.rfind('"', end - 1);
      c.launches(begin == string_view::npos ? string_view() : program.substr(begin + 1, end - begin - 1),
                 begin != string_view::npos);
    }
    if (program[i] == '>' && program.substr(0, i).find("print") != string_view::npos) {
      const string_view text = literal_at(program, program.substr(i).starts_with(">>") ? i + 2 : i + 1);
      if (!text.empty()) c.writes(text);
      if (program.substr(i).starts_with(">>")) ++i;
    }
    if (program.substr(i).starts_with("getline")) {
      const std::size_t less = program.find_first_not_of(" \tabcdefghijklmnopqrstuvwxyz_", i + 7);
      if (less != string_view::npos && program[less] == '<') {
        const string_view text = literal_at(program, less + 1);
        if (!text.empty()) c.note(effect_of_read(c.place(text)));
      }
    }
  }
  if (contains(program, "/inet/") && contains(program, "getline") &&
      (contains(program, "|getline") || contains(program, "| getline") || contains(program, "system(")))
    c.note(Level::critical, Category::remote_code | Category::network, "hands a shell to the network");
  if (contains(program, "/inet/"))
    c.note(Level::high, Category::network | Category::inline_code, "opens a network connection from awk");
  if (contains(program, "@load")) c.note(Level::high, bit(Category::inline_code), "loads an extension into awk");
}

void judge_awk(Case& c) {
  const Arguments args = c.arguments();
  const bool from_file = args.has("-f --file -i --include -l --load");
  if (from_file) c.note(Level::low, bit(Category::inline_code), "runs an awk program from a file");
  std::size_t first = 0;
  for (const Option& option : args.options) {
    if (option.name == "-e" && option.value) judge_awk_program(c, *option.value);
  }
  if (!from_file && !args.positionals.empty()) {
    judge_awk_program(c, args.positionals.front()->text);
    first = 1;
  }
  const bool in_place = std::any_of(args.options.begin(), args.options.end(),
                                    [](const Option& o) { return o.value && *o.value == "inplace"; });
  for (std::size_t i = first; i < args.positionals.size(); ++i) {
    const Word& word = *args.positionals[i];
    if (contains(word.text, "=") && !contains(word.text, "/")) continue;  // NAME=value
    if (in_place)
      c.writes(word);
    else
      c.reads(word);
  }
}

/// The shell text in an editor command: `:!cmd`, `r !cmd`, `call system("…")`; empty if it runs nothing.
bool editor_runs(string_view command, string_view& script) {
  while (!command.empty() && (command.front() == ':' || command.front() == ' ' || command.front() == '+'))
    command.remove_prefix(1);
  for (const string_view prefix :
       {"silent!", "silent", "sil!", "sil", "exe", "execute", "exec", "%", "r", "read", "w", "write"}) {
    if (command.starts_with(prefix) && command.size() > prefix.size() &&
        (command[prefix.size()] == ' ' || command[prefix.size()] == '!')) {
      command.remove_prefix(prefix.size());
      while (!command.empty() &&
             (command.front() == ' ' || command.front() == '"' || command.front() == '\'' || command.front() == ':'))
        command.remove_prefix(1);
    }
  }
  if (command.starts_with('!')) {
    script = command.substr(1);
    return true;
  }
  static constexpr std::array<string_view, 16> kCalls = {
      "system(",      "systemlist(",   "term_start(", "termopen(", "job_start(",    "shell-command",
      "call-process", "start-process", "os.execute",  "io.popen",  "vim.fn.system", "python3",
      "py3 ",         "perl ",         "ruby ",       "terminal"};
  for (const string_view call : kCalls) {
    if (contains(command, call)) {
      script = {};
      return true;
    }
  }
  return false;
}

}  // namespace

void judge_filter(Case& c) {
  if (c.key == "sed" || c.key == "gsed") return judge_sed(c);
  judge_awk(c);
}

void judge_editor(Case& c) {
  const Arguments args = c.arguments();
  const auto judge_text = [&](string_view text) {
    string_view script;
    if (editor_runs(text, script)) c.launches(script, !script.empty());
  };
  for (const Option& option : args.options) {
    if (option.value && in_list("-c --cmd --eval -eval -execute -e -f --funcall -funcall", option.name))
      judge_text(*option.value);
    if (in_list("-S -s --script -l --load -load -u", option.name) && option.value && *option.value != "NONE") {
      c.note(Level::medium, bit(Category::inline_code), "runs an editor script whose content is not seen");
    }
  }
  for (const Word* word : args.positionals) {
    if (word->text.starts_with('+'))
      judge_text(word->text);
    else
      c.writes(*word);
  }
  const auto judge_lines = [&](string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      judge_text(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  };
  for (const Redirect& redirect : c.command.redirects) {
    if (redirect.kind == RedirectKind::here_doc || redirect.kind == RedirectKind::here_string)
      judge_lines(redirect.target.text);
  }
  if (c.command.piped_from != SimpleCommand::npos) {
    if (const auto typed = printed_text(c.line.script.commands[c.command.piped_from])) judge_lines(*typed);
  }
  c.note(Level::low, bit(Category::workspace_write), "edits files");
}

}  // namespace escrow::engine
