#include "engine/rule_match.h"

#include <algorithm>
#include <charconv>

#include "engine/command_case.h"
#include "engine/command_profile.h"

namespace escrow::engine {
namespace {

using std::string_view;

/// Linear in practice: a `*` is retried only from the last one seen.
bool component_matches(string_view pattern, string_view text) {
  std::size_t p = 0, t = 0, star = string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (star != string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<string_view> components(string_view path) {
  std::vector<string_view> out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) out.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return out;
}

bool components_match(const std::vector<string_view>& pattern, const std::vector<string_view>& path) {
  std::size_t p = 0, t = 0, star = string_view::npos, mark = 0;
  while (t < path.size()) {
    if (p < pattern.size() && pattern[p] == "**") {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && component_matches(pattern[p], path[t])) {
      ++p;
      ++t;
    } else if (star != string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == "**") ++p;
  return p == pattern.size();
}

std::string clean_host(string_view host) {
  std::string out = lower(host);
  while (out.ends_with('.')) out.pop_back();
  return out;
}

bool commands_match(const PolicyRule& rule, const ActionJudgement& judged) {
  const auto& commands = judged.script.commands;
  if (rule.effect != RuleEffect::allow) {
    return std::any_of(commands.begin(), commands.end(),
                       [&](const SimpleCommand& c) { return amounts_to(c, rule.command); });
  }
  bool any = false;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const CommandJudgement& one = judged.risk.commands[i];
    if (one.level == Level::none) continue;
    if (one.beside_words >= Level::medium || !begins_with(commands[i], rule.command)) return false;
    any = true;
  }
  return any && judged.script.state == ParseState::ok;
}

bool file_matches(const PolicyRule& rule, const FileAction& action, const Ground& ground) {
  const auto matches = [&](const std::string& path) {
    const std::string place = locate(Word{.text = path, .span = {}}, ground).path;
    if (rule.effect == RuleEffect::allow) return path_matches(rule.path, place);
    return path_matches(lower(rule.path), lower(place)) || path_matches(lower(rule.path), lower(path));
  };
  std::vector<std::string> paths = action.paths;
  if (!action.to.empty()) paths.push_back(action.to);
  if (paths.empty()) return false;
  if (rule.effect == RuleEffect::allow) return std::all_of(paths.begin(), paths.end(), matches);
  return std::any_of(paths.begin(), paths.end(), matches);
}

bool tool_matches(string_view tool, const Action& action) {
  static constexpr string_view kKinds[] = {"shell", "exec", "file", "network", "mcp", "other"};
  if (tool == kKinds[action.index()]) return true;
  if (const auto* mcp = std::get_if<McpAction>(&action))
    return tool == mcp->server || tool == mcp->server + "." + mcp->tool || tool == mcp->server + "/" + mcp->tool;
  if (const auto* other = std::get_if<OtherAction>(&action)) return tool == other->label;
  return false;
}

}  // namespace

bool begins_with(const SimpleCommand& command, const std::vector<std::string>& words) {
  if (words.empty() || command.argv.size() < words.size()) return false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word& word = command.argv[i];
    if (word.opaque || word.text != words[i] || (i == 0 && word.glob)) return false;
  }
  return true;
}

bool amounts_to(const SimpleCommand& command, const std::vector<std::string>& words) {
  if (words.empty() || command.argv.empty()) return false;
  const std::string key = program_key(command.argv.front().text);
  if (key != program_key(words.front())) return false;
  std::vector<Word> wanted;
  for (const std::string& word : words) wanted.push_back(Word{.text = word, .span = {}});
  const CommandProfile* profile = find_profile(key);
  const string_view options = profile != nullptr ? profile->value_options : string_view();
  const Arguments have = read_arguments(command.argv, 1, options);
  const Arguments want = read_arguments(wanted, 1, options);
  if (have.positionals.size() < want.positionals.size()) return false;
  for (std::size_t i = 0; i < want.positionals.size(); ++i) {
    if (have.positionals[i]->text != want.positionals[i]->text) return false;
  }
  return std::all_of(want.options.begin(), want.options.end(), [&](const Option& o) { return have.has(o.name); });
}

bool path_matches(string_view pattern, string_view path) {
  if (pattern.empty()) return false;
  if (pattern.starts_with('/') != path.starts_with('/') && pattern.find('/') != string_view::npos &&
      !pattern.starts_with("**"))
    return false;
  const std::vector<string_view> parts = components(path);
  if (pattern.find('/') == string_view::npos && pattern != "**")
    return !parts.empty() && component_matches(pattern, parts.back());
  return components_match(components(pattern), parts);
}

bool host_matches(string_view pattern, string_view host, std::optional<int> port) {
  string_view name = pattern;
  if (const std::size_t colon = pattern.rfind(':'); colon != string_view::npos && pattern.find(':') == colon) {
    int wanted = 0;
    const string_view digits = pattern.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), wanted);
    if (error != std::errc() || end != digits.data() + digits.size() || !port || *port != wanted) return false;
    name = pattern.substr(0, colon);
  }
  const std::string want = clean_host(name), have = clean_host(host);
  if (want.empty() || have.empty()) return false;
  if (want.starts_with("*.")) return have.size() > want.size() - 1 && have.ends_with(string_view(want).substr(1));
  return want == have;
}

std::vector<std::string> plain_words(string_view text) {
  const ShellScript script = parse_shell(text);
  if (script.state != ParseState::ok || script.commands.empty()) return {};
  const SimpleCommand& command = script.commands.front();
  if (!command.assignments.empty() || !command.redirects.empty()) return {};
  // More than one command of its own: `a; b`. What a wrapper runs belongs to it.
  const auto own = std::count_if(script.commands.begin(), script.commands.end(),
                                 [](const SimpleCommand& c) { return c.parent == SimpleCommand::npos; });
  if (own != 1) return {};
  std::vector<std::string> out;
  for (const Word& word : command.argv) {
    if (word.opaque) return {};
    out.push_back(word.text);
  }
  return out;
}

bool rule_matches(const PolicyRule& rule, const Action& action, const ActionJudgement& judged, const Ground& ground) {
  if (!rule.tool.empty() && !tool_matches(rule.tool, action)) return false;
  const bool about_nothing = rule.command.empty() && rule.network.empty() && rule.path.empty();
  if (about_nothing) return !rule.tool.empty();
  if (!rule.command.empty()) return !judged.script.commands.empty() && commands_match(rule, judged);
  if (const auto* network = std::get_if<NetworkAction>(&action))
    return !rule.network.empty() && host_matches(rule.network, network->host, network->port);
  if (const auto* file = std::get_if<FileAction>(&action))
    return !rule.path.empty() && file_matches(rule, *file, ground);
  return false;
}

std::vector<std::string> failing_examples(const PolicyRule& rule) {
  std::vector<std::string> out;
  if (rule.command.empty()) return out;
  const auto matches = [&](const std::string& line) {
    const ShellScript script = parse_shell(line);
    return std::any_of(script.commands.begin(), script.commands.end(), [&](const SimpleCommand& c) {
      return rule.effect == RuleEffect::allow ? begins_with(c, rule.command) : amounts_to(c, rule.command);
    });
  };
  for (const std::string& line : rule.match) {
    if (!matches(line)) out.push_back("rule " + rule.id + ": the example `" + line + "` is not matched by this rule");
  }
  for (const std::string& line : rule.not_match) {
    if (matches(line))
      out.push_back("rule " + rule.id + ": the counter-example `" + line + "` is matched by this rule");
  }
  return out;
}

}  // namespace escrow::engine
