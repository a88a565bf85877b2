#include "engine/grant.h"

#include <algorithm>
#include <array>

#include "engine/command_case.h"
#include "engine/grant_match.h"
#include "engine/redact.h"
#include "engine/rule_match.h"

namespace escrow::engine {
namespace {

using std::string_view;

constexpr std::size_t kMaxMatch = 4096;

/// Categories that the words of a grant must already carry: a longer command may not add one to them.
constexpr CategorySet kGrave = bit(Category::guard_tamper) | Category::remote_code | Category::exfiltration |
                               Category::obfuscation | Category::destructive | Category::env_hijack |
                               Category::credential_access | Category::privilege | Category::persistence |
                               Category::path_escape | Category::system | Category::network |
                               Category::package_install | Category::inline_code;

bool is_command_tool(string_view tool) {
  return tool == "shell" || tool == "exec";
}

bool speaks_of_tool(const Grant& grant, const Action& action) {
  const std::string tool = grant_tool(action);
  // A session's grant for the shell tool holds for the argv tool too: both run the same commands.
  if (is_command_tool(grant.tool)) return is_command_tool(tool);
  if (grant.tool == tool) return true;
  const auto* other = std::get_if<OtherAction>(&action);
  return other != nullptr && grant.tool == other->label;
}

bool same_words(const SimpleCommand& command, const std::vector<std::string>& words) {
  return command.argv.size() == words.size();
}

std::string place_of(const std::string& path, const Ground& ground) {
  return locate(Word{.text = path, .span = {}}, ground).path;
}

bool file_covered(const Grant& grant, const FileAction& action, const ActionJudgement& judged,
                  const CommandScene& scene) {
  std::vector<std::string> paths = action.paths;
  if (!action.to.empty()) paths.push_back(action.to);
  if (paths.empty()) return false;
  const bool allow = grant.effect == GrantEffect::allow;
  const auto matches = [&](const std::string& path) {
    const std::string place = place_of(path, scene.ground);
    if (!allow) return path_matches(lower(grant.match), lower(place)) || path_matches(lower(grant.match), lower(path));
    // A protected path is only ever allowed by its own name.
    if (judged.risk.level >= Level::high) return grant.match == place || grant.match == path;
    return path_matches(grant.match, place);
  };
  return allow ? std::all_of(paths.begin(), paths.end(), matches) : std::any_of(paths.begin(), paths.end(), matches);
}

}  // namespace

std::string grant_tool(const Action& action) {
  static constexpr std::array<string_view, 6> kTools = {"shell", "exec", "file", "network", "mcp", "other"};
  return std::string(kTools[action.index()]);
}

bool is_in_force(const Grant& grant, const GrantContext& context) {
  if (grant.expires_ms && *grant.expires_ms <= context.now_ms) return false;
  if (grant.effect == GrantEffect::allow && grant.max_autonomy < context.autonomy) return false;
  switch (grant.scope) {
    case Scope::once:
      return !grant.call_id.empty() && grant.call_id == context.call_id && !grant.subject_hash.empty() &&
             grant.subject_hash == context.subject_hash;
    case Scope::session:
      return !grant.session.empty() && grant.session == context.session;
    case Scope::workspace:
      return !grant.workspace.empty() && grant.workspace == context.workspace;
    case Scope::user:
      return true;
  }
  return false;
}

std::vector<bool> covered_commands(const Grant& grant, const ActionJudgement& judged, const CommandScene& scene) {
  const auto& commands = judged.script.commands;
  std::vector<bool> out(commands.size(), false);
  const bool once = grant.scope == Scope::once;
  const std::vector<std::string> words = once ? std::vector<std::string>() : plain_words(grant.match);
  if (!once && words.empty()) return out;
  ScriptJudgement granted;
  if (!once) granted = judge_script(parse_shell(grant.match), scene);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const CommandJudgement& one = judged.risk.commands[i];
    if (one.level == Level::none || once) {
      out[i] = true;
      continue;
    }
    // What an assignment or a redirect adds is no part of the words that were granted.
    if (one.beside_words > Level::low || !begins_with(commands[i], words)) continue;
    const bool adds_nothing =
        (one.categories & kGrave & ~granted.categories) == 0 && one.level <= std::max(granted.level, Level::low);
    out[i] = same_words(commands[i], words) || adds_nothing;
  }
  return out;
}

bool covers_judged(const Grant& grant, const Action& action, const ActionJudgement& judged, const CommandScene& scene) {
  if (!speaks_of_tool(grant, action)) return false;
  if (grant.scope == Scope::once) return true;  // bound to the call and its content by is_in_force
  if (grant.match.empty()) return grant.effect == GrantEffect::deny;
  if (grant.effect == GrantEffect::allow && !validate_grant(grant)) return false;
  if (const auto* file = std::get_if<FileAction>(&action)) return file_covered(grant, *file, judged, scene);
  if (const auto* network = std::get_if<NetworkAction>(&action))
    return host_matches(grant.match, network->host, network->port);
  if (const auto* mcp = std::get_if<McpAction>(&action)) {
    return grant.match == mcp->server + "/" + mcp->tool ||
           (grant.effect == GrantEffect::deny && grant.match == mcp->server);
  }
  if (const auto* other = std::get_if<OtherAction>(&action)) return grant.match == other->label;
  if (grant.effect == GrantEffect::deny) {
    const std::vector<std::string> words = plain_words(grant.match);
    return std::any_of(judged.script.commands.begin(), judged.script.commands.end(),
                       [&](const SimpleCommand& c) { return amounts_to(c, words); });
  }
  if (judged.script.state != ParseState::ok || judged.script.commands.empty()) return false;
  const std::vector<bool> covered = covered_commands(grant, judged, scene);
  return std::all_of(covered.begin(), covered.end(), [](bool b) { return b; });
}

bool covers(const Grant& grant, const Action& action, const GrantContext& context) {
  if (!is_in_force(grant, context)) return false;
  CommandScene scene;
  scene.venue = Venue::host;
  return covers_judged(grant, action, judge_action(action, scene), scene);
}

namespace {

std::vector<std::string> texts_of(const SimpleCommand& command, std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(count, command.argv.size()); ++i) out.push_back(command.argv[i].text);
  return out;
}

Error refusal(std::string message) {
  return {ErrorKind::invalid_argument, "grant: " + std::move(message)};
}

/// Programs whose first word alone would allow nearly anything.
bool is_wide_program(Role role) {
  switch (role) {
    case Role::quiet:
    case Role::reader:
    case Role::writer:
    case Role::searcher:
    case Role::build:
    case Role::lookup:
    case Role::clipboard:
      return false;
    case Role::copier:
    case Role::mover:
    case Role::remover:
    case Role::mode_setter:
    case Role::truncater:
    case Role::disk:
    case Role::archiver:
    case Role::filter:
    case Role::finder:
    case Role::shell:
    case Role::interpreter:
    case Role::wrapper:
    case Role::privileged:
    case Role::vcs:
    case Role::fetcher:
    case Role::remote:
    case Role::package:
    case Role::cloud:
    case Role::container:
    case Role::database:
    case Role::service:
    case Role::scheduler:
    case Role::process:
    case Role::power:
    case Role::kernel:
    case Role::firewall:
    case Role::vault:
    case Role::editor:
    case Role::environment:
    case Role::guard:
    case Role::evaluator:
      return true;
  }
  return true;
}

string_view narrower_example(Role role) {
  switch (role) {
    case Role::package:
      return "name the sub-command too, as in `npm install`";
    case Role::vcs:
      return "name the sub-command too, as in `git push origin`";
    case Role::interpreter:
      return "name the module or script too, as in `python3 -m pytest`";
    case Role::shell:
      return "name the program that the shell would run, as in `make lint`";
    case Role::wrapper:
    case Role::privileged:
    case Role::environment:
      return "name the program behind it, as in `npm install`";
    case Role::fetcher:
    case Role::remote:
      return "allow the host instead, as in tool `network`, match `docs.example.org:443`";
    case Role::remover:
      return "name what it may remove, as in `rm -rf build`";
    default:
      return "name its arguments too";
  }
}

/// `a && b`: one grant holds one command, so that each may be revoked alone.
Error not_one_command(const Grant& grant) {
  const std::string shown = "`" + grant.match.substr(0, 200) + "`";
  std::vector<std::string> parts;
  const ShellScript script = parse_shell(grant.match);
  for (const SimpleCommand& command : script.commands) {
    const bool plain = std::none_of(command.argv.begin(), command.argv.end(), [](const Word& w) { return w.opaque; });
    if (command.parent == SimpleCommand::npos && plain && !command.argv.empty() && command.redirects.empty())
      parts.push_back(quote_argv(texts_of(command, command.argv.size())));
  }
  if (script.state == ParseState::ok && parts.size() > 1 && parts.size() <= 4)
    return refusal(shown + " is several commands; remember each by itself: " + quoted_list(parts));
  return refusal(shown +
                 " is not one plain command; write its leading words without operators, redirects, variables or "
                 "substitutions");
}

/// What judges critical is never loosened, so that the grant would be listed and never counted.
Result<void> validate_effect(const Grant& grant) {
  CommandScene scene;
  scene.venue = Venue::host;
  const ScriptJudgement granted = judge_script(parse_shell(grant.match), scene);
  if (granted.level == Level::critical)
    return refusal("`" + grant.match.substr(0, 200) +
                   "` is critical, which no grant loosens; run it yourself if you mean it");
  return {};
}

Result<void> validate_command(const Grant& grant) {
  const std::vector<std::string> words = plain_words(grant.match);
  if (words.empty()) return not_one_command(grant);
  const std::string& program = words.front();
  if (program.find_first_of("*?[") != std::string::npos)
    return refusal("a pattern cannot name the program; write its name");
  const CommandProfile* profile = find_profile(program_key(program));
  if (profile == nullptr) return validate_effect(grant);
  if (profile->role == Role::privileged || profile->role == Role::evaluator || profile->role == Role::guard) {
    return refusal("`" + program + "` would allow too much whatever follows it; " +
                   std::string(narrower_example(profile->role)));
  }
  if (words.size() == 1 && is_wide_program(profile->role)) {
    return refusal("`" + program + "` alone would allow too much; " + std::string(narrower_example(profile->role)));
  }
  const bool only_options =
      std::all_of(words.begin() + 1, words.end(), [](const std::string& w) { return w.starts_with('-'); });
  if (words.size() > 1 && only_options && is_wide_program(profile->role)) {
    return refusal("`" + grant.match + "` would allow any text behind it; " +
                   std::string(narrower_example(profile->role)));
  }
  return validate_effect(grant);
}

Result<void> validate_path(const Grant& grant) {
  const string_view match = grant.match;
  const bool names_something = match.find_first_not_of("*/.~?") != string_view::npos;
  if (!names_something)
    return refusal("`" + grant.match + "` matches every file; name a folder or a file, as in `docs/**`");
  if (match.starts_with("**") && std::count(match.begin(), match.end(), '/') == 0)
    return refusal("`" + grant.match + "` matches too many files; name a folder, as in `docs/**`");
  return {};
}

Result<void> validate_host(const Grant& grant) {
  string_view host = grant.match;
  if (const std::size_t colon = host.rfind(':'); colon != string_view::npos) {
    if (host.substr(colon + 1).find_first_not_of("0123456789") != string_view::npos || colon + 1 == host.size())
      return refusal("`" + grant.match + "`: the port must be a number");
    if (host.size() - colon > 6 || std::stoi(std::string(host.substr(colon + 1))) > 65535)
      return refusal("`" + grant.match + "`: a port is at most 65535");
    host = host.substr(0, colon);
  }
  if (host.find_first_of(" /@?#\\") != string_view::npos || host.empty())
    return refusal("`" + grant.match + "` is not a host; write `host` or `host:port`");
  const string_view tail = host.starts_with("*.") ? host.substr(2) : host;
  if (tail.find('*') != string_view::npos || (host.starts_with("*.") && tail.find('.') == string_view::npos)) {
    return refusal("`" + grant.match + "` allows too many hosts; name one, as in `docs.example.org:443`");
  }
  return {};
}

/// A deny may be as wide as it likes, but one that can never match protects nobody.
Result<void> validate_deny(const Grant& grant) {
  if (grant.match.empty()) return {};
  if (is_command_tool(grant.tool) && plain_words(grant.match).empty()) return not_one_command(grant);
  if (grant.tool != "network") return {};
  if (grant.match == "*") return refusal("`*` is no host; leave the match out to deny every host");
  Grant named = grant;
  if (named.match.starts_with("*.")) named.match.erase(0, 2);
  return validate_host(named);
}

bool is_tool_name(string_view tool) {
  return !tool.empty() && tool.size() <= 128 && std::all_of(tool.begin(), tool.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

}  // namespace

Result<void> validate_grant(const Grant& grant) {
  if (!is_tool_name(grant.tool))
    return refusal("tool `" + grant.tool.substr(0, 40) + "` must be letters, digits, `.`, `_` or `-`");
  if (grant.match.size() > kMaxMatch) return refusal("the match is longer than 4096 bytes; shorten it");
  if (grant.match.find('\0') != std::string::npos) return refusal("the match holds a NUL byte; remove it");
  if (grant.effect == GrantEffect::deny) return validate_deny(grant);
  if (grant.scope == Scope::once) {
    if (grant.call_id.empty() || grant.subject_hash.empty())
      return refusal("a grant for one call must name the call and the hash of its content");
    return {};
  }
  if (grant.scope == Scope::session && grant.session.empty())
    return refusal("a grant for a session must name the session");
  if (grant.scope == Scope::workspace && grant.workspace.empty())
    return refusal("a grant for a workspace must name the workspace");
  if (grant.match.empty())
    return refusal(
        "an allow without a match would allow the whole tool; say what it may do, as in tool `shell`, match `npm "
        "install`");
  if (grant.match == "*") return refusal("`*` would allow everything; say what it may do, as in `npm install`");
  if (is_command_tool(grant.tool)) return validate_command(grant);
  if (grant.tool == "file") return validate_path(grant);
  if (grant.tool == "network") return validate_host(grant);
  if (grant.match.find('*') != std::string::npos)
    return refusal("a pattern cannot be used for this tool; name it exactly");
  return {};
}

namespace {

/// How many leading words say what kind of thing it does; the whole command where a prefix would say too little.
std::size_t telling_words(const SimpleCommand& command) {
  const std::string key = program_key(command.argv.front().text);
  const CommandProfile* profile = find_profile(key);
  const std::size_t all = command.argv.size();
  if (profile == nullptr) return all;
  const auto plain = [&](std::size_t i) {
    return i < all && !command.argv[i].text.starts_with('-') && !command.argv[i].opaque;
  };
  switch (profile->role) {
    case Role::package: {
      static constexpr string_view kNested = "run run-script mod config compose pip tool cache workspace";
      if (!plain(1)) return all;
      return in_list(kNested, command.argv[1].text) && plain(2) ? 3 : 2;
    }
    case Role::vcs:
    case Role::container:
    case Role::cloud:
    case Role::service:
      return plain(1) ? (plain(2) ? 3 : 2) : all;
    case Role::build:
      return plain(1) && command.argv[1].text.find_first_of("./") == std::string::npos ? 2 : 1;
    case Role::interpreter:
      return all > 2 && command.argv[1].text == "-m" ? 3 : all;
    case Role::reader:
    case Role::searcher:
    case Role::quiet:
    case Role::writer:
      return 1;
    default:
      return all;
  }
}

Grant trial(const std::string& match) {
  Grant grant;
  grant.effect = GrantEffect::allow;
  grant.tool = "shell";
  grant.match = match;
  grant.scope = Scope::user;
  return grant;
}

/// The narrowest match that covers this one command of the line; empty if none may be remembered.
std::string suggest_for_part(const ActionJudgement& judged, std::size_t part, const CommandScene& scene) {
  const SimpleCommand& command = judged.script.commands[part];
  if (command.argv.empty() || command.argv.front().opaque) return {};
  std::vector<std::string> candidates{quote_argv(texts_of(command, telling_words(command)))};
  if (std::none_of(command.argv.begin(), command.argv.end(), [](const Word& w) { return w.opaque; }))
    candidates.push_back(quote_argv(texts_of(command, command.argv.size())));
  for (const std::string& match : candidates) {
    const Grant grant = trial(match);
    if (validate_grant(grant) && covered_commands(grant, judged, scene)[part]) return match;
  }
  return {};
}

/// More parts than this in one question are not read any more, only clicked away.
constexpr std::size_t kMaxParts = 4;

std::vector<std::string> suggest_for_command(const ActionJudgement& judged, const CommandScene& scene) {
  if (judged.script.state != ParseState::ok) return {};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < judged.script.commands.size(); ++i) {
    if (judged.risk.commands[i].level == Level::none) continue;
    std::string match = suggest_for_part(judged, i, scene);
    if (match.empty()) return {};
    if (std::find(out.begin(), out.end(), match) == out.end()) out.push_back(std::move(match));
    if (out.size() > kMaxParts) return {};
  }
  return out;
}

std::vector<std::string> unless_empty(std::string match) {
  if (match.empty()) return {};
  return {std::move(match)};
}

}  // namespace

std::vector<std::string> suggest_for(const Action& action, const ActionJudgement& judged, const CommandScene& scene) {
  if (judged.risk.level == Level::critical) return {};
  if (const auto* file = std::get_if<FileAction>(&action)) {
    if (file->paths.size() != 1 || !file->to.empty()) return {};
    return unless_empty(place_of(file->paths.front(), scene.ground));
  }
  if (const auto* network = std::get_if<NetworkAction>(&action))
    return unless_empty(network->host + (network->port ? ":" + std::to_string(*network->port) : ""));
  if (const auto* mcp = std::get_if<McpAction>(&action)) return unless_empty(mcp->server + "/" + mcp->tool);
  if (std::holds_alternative<OtherAction>(action)) return {};
  return suggest_for_command(judged, scene);
}

std::vector<std::string> suggest_matches(const Action& action) {
  CommandScene scene;
  scene.venue = Venue::host;
  return suggest_for(action, judge_action(action, scene), scene);
}

std::string suggest_match(const Action& action) {
  auto matches = suggest_matches(action);
  return matches.size() == 1 ? std::move(matches.front()) : std::string();
}

std::string quoted_list(const std::vector<std::string>& matches) {
  std::string out;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (i > 0) out += i + 1 == matches.size() ? " and " : ", ";
    out += "`" + one_line(matches[i], 80) + "`";
  }
  return out;
}

}  // namespace escrow::engine
