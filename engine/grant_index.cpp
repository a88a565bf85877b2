#include "engine/grant_index.h"

#include <algorithm>

#include "engine/action_signals.h"
#include "engine/command_profile.h"
#include "engine/grant_match.h"
#include "engine/rule_match.h"
#include "engine/text.h"

namespace escrow::engine {
namespace {

/// `shell` and `exec` are sisters: a grant for one holds for the other.
std::string_view file_of_tool(std::string_view tool) {
  return tool == "exec" ? std::string_view("shell") : tool;
}

std::string under(std::string_view tool, std::string_view first) {
  std::string key(tool);
  if (!first.empty()) key.append(" ").append(first);
  return key;
}

std::string host_key(std::string_view host) {
  const std::size_t colon = host.find(':');
  std::string key = lower(colon == host.rfind(':') ? host.substr(0, colon) : host);  // several: an IPv6 literal
  while (key.ends_with('.')) key.pop_back();
  return key.find('*') == std::string::npos ? key : std::string();
}

/// The first word, where no quoting can be about it: most need no parser.
std::string_view plain_program(std::string_view match) {
  const std::string_view word = match.substr(0, match.find(' '));
  static constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  return word.find_first_not_of(kPlain) == std::string_view::npos ? word : std::string_view();
}

/// What the match names first, as an action would; empty if the match could fit any.
std::string first_of(const Grant& grant) {
  if (grant.scope == Scope::once || grant.match.empty()) return {};
  const std::string_view tool = file_of_tool(grant.tool);
  if (tool == "shell") {
    if (const auto program = plain_program(grant.match); !program.empty()) return program_key(program);
    const auto words = plain_words(grant.match);
    return words.empty() ? std::string() : program_key(words.front());
  }
  if (tool == "network") return host_key(grant.match);
  if (tool == "mcp") return grant.match.substr(0, grant.match.find('/'));
  return {};
}

class Finder {
 public:
  explicit Finder(const std::map<std::string, std::vector<std::size_t>, std::less<>>& filed) : filed_(filed) {}

  void add(std::string_view tool, std::string_view first) {
    const auto found = filed_.find(under(tool, first));
    if (found != filed_.end()) found_.insert(found_.end(), found->second.begin(), found->second.end());
  }

  /// In the order the grants were given, each once.
  std::vector<std::size_t> take() {
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  const std::map<std::string, std::vector<std::size_t>, std::less<>>& filed_;
  std::vector<std::size_t> found_;
};

}  // namespace

GrantIndex::GrantIndex(std::vector<Grant> grants) : grants_(std::move(grants)) {
  for (std::size_t i = 0; i < grants_.size(); ++i)
    filed_[under(file_of_tool(grants_[i].tool), first_of(grants_[i]))].push_back(i);
}

std::vector<const Grant*> GrantIndex::about(const Action& action, const ActionJudgement& judged) const {
  Finder finder(filed_);
  const std::string name = grant_tool(action);
  const std::string_view tool = file_of_tool(name);
  finder.add(tool, {});
  for (const SimpleCommand& command : judged.script.commands)
    if (!command.argv.empty()) finder.add(tool, program_key(command.argv.front().text));
  if (const auto* network = std::get_if<NetworkAction>(&action)) finder.add(tool, host_key(network->host));
  if (const auto* mcp = std::get_if<McpAction>(&action)) finder.add(tool, mcp->server);
  if (const auto* other = std::get_if<OtherAction>(&action)) finder.add(file_of_tool(other->label), {});
  std::vector<const Grant*> out;
  for (const std::size_t i : finder.take()) out.push_back(&grants_[i]);
  return out;
}

}  // namespace escrow::engine
