// library: escrow_engine
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/evaluate.h"

using namespace escrow::engine;

/// Any bytes: the parse ends, spans stay inside the text, and what is not whole is never allowed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ShellScript script = parse_shell(text);
  for (std::size_t i = 0; i < script.commands.size(); ++i) {
    const SimpleCommand& command = script.commands[i];
    if (command.span.begin > command.span.end || command.span.end > size) std::abort();
    if (command.parent != SimpleCommand::npos && command.parent >= script.commands.size()) std::abort();
    if (command.piped_from != SimpleCommand::npos && command.piped_from >= script.commands.size()) std::abort();
  }
  ActionContext context;
  context.venue = Venue::cage;
  const Evaluation evaluation = evaluate(Action(ShellAction{std::string(text), ""}), context, builtin_policy());
  if (script.state != ParseState::ok && evaluation.decision.verdict == Verdict::allow) std::abort();
  if (evaluation.span.end > size) std::abort();
  // The words of a command, quoted, are one command with the same words.
  if (!script.commands.empty() && !script.commands.front().argv.empty()) {
    std::vector<std::string> words;
    for (const Word& word : script.commands.front().argv) {
      if (word.text.find('\0') != std::string::npos) return 0;
      words.push_back(word.text);
    }
    const std::string line = quote_argv(words);
    if (line.size() > 100'000) return 0;
    const ShellScript again = parse_shell(line);
    if (again.commands.empty() || again.commands.front().argv.size() != words.size()) std::abort();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (again.commands.front().argv[i].text != words[i]) std::abort();
    }
  }
  return 0;
}
