#include "server/store/policy_yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "engine/action.h"
#include "engine/grant.h"
#include "engine/own_rules.h"
#include "engine/pattern_cost.h"
#include "engine/redact.h"
#include "engine/shell.h"
#include "server/units.h"

// The file's shape is a table a section: key → what reads its value. The table is also what a message names as
// "allowed here", so that the two can't drift apart.

namespace escrow::server {
namespace {

using engine::OwnRule;
using engine::PolicyLayer;
using engine::PolicyRule;
using engine::RiskBandChange;

using ReadValue = std::function<void(const YAML::Node& value, const std::string& path)>;
using Section = std::map<std::string, ReadValue>;

constexpr std::size_t kMaxMessage = 600;

const std::set<std::string> kAlwaysOn = {"egress_deny_by_default", "no_prod_credentials", "sandbox_isolation",
                                         "secrets_scan"};

std::string joined(const auto& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

template <class E>
std::string names_of() {
  std::string text;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
      [&](auto entry) { text += (text.empty() ? "" : ", ") + std::string(entry.name); });
  return text;
}

bool is_identifier(const std::string& text) {
  if (text.empty() || text.size() > 64) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

/// `host` or `host:port`, lower-case letters, digits, dots, dashes, one leading `*.`.
bool is_host_pattern(std::string text) {
  if (const auto colon = text.rfind(':'); colon != std::string::npos) {
    const auto port = text.substr(colon + 1);
    if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos) return false;
    if (const int number = std::stoi(port); number < 1 || number > 65535) return false;
    text.resize(colon);
  }
  if (text.starts_with("*.")) text.erase(0, 2);
  if (text.find('.') == std::string::npos && text != "localhost") return false;
  if (text.starts_with('.') || text.ends_with('.') || text.find("..") != std::string::npos) return false;
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos;
}

std::string what_it_is(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  if (node.IsScalar()) return "\"" + node.Scalar().substr(0, 60) + "\"";
  return "nothing";
}

class Reader {
 public:
  explicit Reader(ParsedPolicy& out) : out_(out), layer_(out.layer) {}

  void document(const YAML::Node& root) {
    if (root.IsNull()) return;
    section(root, "",
            {{"version", [this](auto& v, auto& p) { version(v, p); }},
             {"mode", [this](auto& v, auto& p) { enumerator(v, p, layer_.mode); }},
             {"autonomy", [this](auto& v, auto& p) { enumerator(v, p, layer_.autonomy); }},
             {"risk_bands", [this](auto& v, auto& p) { risk_bands(v, p); }},
             {"always_on", [this](auto& v, auto& p) { always_on(v, p); }},
             {"checks", [this](auto& v, auto& p) { checks(v, p); }},
             {"rules", [this](auto& v, auto& p) { rules(v, p); }},
             {"diff_rules", [this](auto& v, auto& p) { diff_rules(v, p); }},
             {"sandbox", [this](auto& v, auto& p) { sandbox(v, p); }},
             {"network", [this](auto& v, auto& p) { network(v, p); }},
             {"review", [this](auto& v, auto& p) { review(v, p); }},
             {"allow_policy_only_runner", [this](auto& v, auto& p) {
                bool value = false;
                if (flag(v, p, value)) layer_.allow_policy_only_runner = value;
              }}});
  }

 private:
  // ---- shapes

  void problem(const YAML::Node& at, const std::string& message) { problem(at.Mark(), message); }
  void problem(const YAML::Mark& mark, const std::string& message) {
    // What the file says is quoted in it: one line, and nothing that a terminal obeys.
    out_.problems.push_back(
        {std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1, engine::one_line(message, kMaxMessage)});
  }

  bool expect(bool fits, const YAML::Node& node, const std::string& path, const std::string& expected) {
    if (!fits) problem(node, path + ": expected " + expected + ", found " + what_it_is(node));
    return fits;
  }

  /// Reads a mapping key by key; unknown and repeated keys are problems. Null says nothing.
  void section(const YAML::Node& node, const std::string& path, const Section& fields) {
    const auto where = path.empty() ? "the policy" : path;
    if (node.IsNull() || !expect(node.IsMap(), node, where, "a mapping")) return;
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const auto key = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
      const auto field = fields.find(key);
      if (field == fields.end()) {
        std::vector<std::string> allowed;
        for (const auto& [name, read] : fields) allowed.push_back(name);
        problem(entry.first,
                "unknown key " + what_it_is(entry.first) + " in " + where + "; allowed here: " + joined(allowed));
      } else if (!seen.insert(key).second) {
        problem(entry.first, "\"" + key + "\" appears twice in " + where + "; keep one");
      } else {
        read_field(*field, entry, path);
      }
    }
  }

  template <class Entry>
  void read_field(const Section::value_type& field, const Entry& entry, const std::string& path) {
    const auto full = path.empty() ? field.first : path + "." + field.first;
    layer_.lines[full] = entry.first.Mark().line + 1;
    field.second(entry.second, full);
  }

  /// A mapping whose keys are the author's own names.
  void named_entries(const YAML::Node& node, const std::string& path, const ReadValue& read) {
    if (node.IsNull() || !expect(node.IsMap(), node, path, "a mapping")) return;
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const auto key = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
      if (!is_identifier(key)) {
        problem(entry.first,
                path + ": a name is made of letters, digits, `_`, `-` and `.`, not " + what_it_is(entry.first));
      } else if (!seen.insert(key).second) {
        problem(entry.first, "\"" + key + "\" appears twice in " + path + "; keep one");
      } else {
        layer_.lines[path + "." + key] = entry.first.Mark().line + 1;
        read(entry.second, key);
      }
    }
  }

  // ---- values

  bool text(const YAML::Node& node, const std::string& path, std::string& out) {
    if (!expect(node.IsScalar() && !node.Scalar().empty(), node, path, "text")) return false;
    out = node.Scalar();
    return true;
  }

  /// `true` and `false` only: YAML's `yes`, `off` and friends have surprised too many.
  bool flag(const YAML::Node& node, const std::string& path, bool& out) {
    const bool fits = node.IsScalar() && (node.Scalar() == "true" || node.Scalar() == "false");
    if (!expect(fits, node, path, "true or false")) return false;
    out = node.Scalar() == "true";
    return true;
  }

  void optional_flag(const YAML::Node& node, const std::string& path, std::optional<bool>& out) {
    bool value = false;
    if (flag(node, path, value)) out = value;
  }

  bool whole_number(const YAML::Node& node, const std::string& path, int low, int high, int& out) {
    int value = 0;
    const bool fits = node.IsScalar() && YAML::convert<int>::decode(node, value) && value >= low && value <= high;
    if (!expect(fits, node, path, "a whole number from " + std::to_string(low) + " to " + std::to_string(high))) {
      return false;
    }
    out = value;
    return true;
  }

  bool duration(const YAML::Node& node, const std::string& path, std::int64_t& out) {
    const auto ms = node.IsScalar() ? parse_duration_ms(node.Scalar()).value_or(0) : 0;
    if (!expect(ms > 0, node, path, "a time such as 500ms, 30s, 5m or 24h")) return false;
    out = ms;
    return true;
  }

  template <class E>
  void enumerator(const YAML::Node& node, const std::string& path, std::optional<E>& out) {
    const auto value = node.IsScalar() ? engine::parse_enum<E>(node.Scalar()) : std::nullopt;
    if (expect(value.has_value(), node, path, "one of " + names_of<E>())) out = value;
  }

  void texts(const YAML::Node& node, const std::string& path, std::vector<std::string>& out) {
    if (node.IsNull() || !expect(node.IsSequence(), node, path, "a list, as in [one, two]")) return;
    for (const auto& item : node) {
      std::string value;
      if (text(item, path, value)) out.push_back(std::move(value));
    }
  }

  // ---- sections

  void version(const YAML::Node& node, const std::string& path) {
    expect(node.IsScalar() && node.Scalar() == "1", node, path, "1, the only version this Escrow reads");
  }

  void risk_bands(const YAML::Node& node, const std::string& path) {
    section(node, path,
            {{"low", [this](auto& v, auto& p) { risk_band(v, p, layer_.risk_bands["low"]); }},
             {"medium", [this](auto& v, auto& p) { risk_band(v, p, layer_.risk_bands["medium"]); }},
             {"high", [this](auto& v, auto& p) { risk_band(v, p, layer_.risk_bands["high"]); }}});
    if (out_.problems.empty() && node.IsMap()) check_bands_meet(node);
  }

  void risk_band(const YAML::Node& node, const std::string& path, RiskBandChange& band) {
    section(node, path,
            {{"min_score", [&](auto& v, auto& p) { score(v, p, band.min_score); }},
             {"max_score", [&](auto& v, auto& p) { score(v, p, band.max_score); }},
             {"actions", [&](auto& v, auto& p) { identifiers(v, p, band.actions.emplace()); }},
             {"human_review", [&](auto& v, auto& p) { optional_flag(v, p, band.human_review); }},
             {"auto_merge", [&](auto& v, auto& p) { optional_flag(v, p, band.auto_merge); }}});
    if (band.human_review.value_or(false) && band.auto_merge.value_or(false)) {
      problem(node, path + ": human_review and auto_merge cannot both be true; a person decides, or nobody does");
    }
  }

  void score(const YAML::Node& node, const std::string& path, std::optional<int>& out) {
    int value = 0;
    if (whole_number(node, path, 0, 100, value)) out = value;
  }

  void identifiers(const YAML::Node& node, const std::string& path, std::vector<std::string>& out) {
    texts(node, path, out);
    for (const auto& name : out) {
      if (!is_identifier(name)) problem(node, path + ": \"" + name + "\" is not the name of a check");
    }
  }

  /// A score that falls between two bands would be in no lane.
  void check_bands_meet(const YAML::Node& node) {
    static constexpr std::pair<const char*, const char*> kNeighbours[] = {{"low", "medium"}, {"medium", "high"}};
    for (const auto& [below, above] : kNeighbours) {
      const auto lower = layer_.risk_bands.find(below);
      const auto upper = layer_.risk_bands.find(above);
      if (lower == layer_.risk_bands.end() || upper == layer_.risk_bands.end()) continue;
      const auto max = lower->second.max_score;
      const auto min = upper->second.min_score;
      if (max && min && *min != *max + 1) {
        problem(node[above], "risk_bands: " + std::string(above) + ".min_score must be " + std::to_string(*max + 1) +
                                 ", one above " + below + ".max_score, so that every score is in one band");
      }
    }
  }

  void always_on(const YAML::Node& node, const std::string& path) {
    std::vector<std::string> names;
    texts(node, path, names);
    for (const auto& required : kAlwaysOn) {
      if (std::find(names.begin(), names.end(), required) == names.end()) {
        problem(node, path + ": \"" + required + "\" cannot be removed; always on: " + joined(kAlwaysOn));
      }
    }
    for (const auto& name : names) {
      if (!kAlwaysOn.contains(name)) {
        problem(node, path + ": unknown \"" + name + "\"; allowed here: " + joined(kAlwaysOn));
      }
    }
    layer_.always_on = std::move(names);
  }

  void checks(const YAML::Node& node, const std::string& path) {
    named_entries(node, path, [&](const YAML::Node& value, const std::string& name) {
      auto& check = layer_.checks[name];
      section(value, path + "." + name,
              {{"run", [&](auto& v, auto& p) { text(v, p, check.run); }},
               {"timeout", [&](auto& v, auto& p) { duration(v, p, check.timeout_ms); }},
               {"required", [&](auto& v, auto& p) { flag(v, p, check.required); }}});
    });
  }

  void rules(const YAML::Node& node, const std::string& path) {
    if (node.IsNull() || !expect(node.IsSequence(), node, path, "a list of rules")) return;
    std::set<std::string> ids;
    for (const auto& item : node) {
      auto rule = read_rule(item, path + "[" + std::to_string(layer_.rules.size()) + "]");
      if (!rule.id.empty() && !ids.insert(rule.id).second) {
        problem(item, "two rules are called \"" + rule.id + "\"; ids are unique, since verdicts name them");
      }
      layer_.rules.push_back(std::move(rule));
    }
  }

  PolicyRule read_rule(const YAML::Node& node, const std::string& path) {
    PolicyRule rule;
    rule.origin = {layer_.kind, layer_.file, node.Mark().line + 1};
    std::optional<engine::RuleEffect> effect;
    section(node, path,
            {{"id", [&](auto& v, auto& p) { text(v, p, rule.id); }},
             {"effect", [&](auto& v, auto& p) { enumerator(v, p, effect); }},
             {"command", [&](auto& v, auto& p) { texts(v, p, rule.command); }},
             {"network", [&](auto& v, auto& p) { host(v, p, rule.network); }},
             {"path", [&](auto& v, auto& p) { text(v, p, rule.path); }},
             {"tool", [&](auto& v, auto& p) { text(v, p, rule.tool); }},
             {"match", [&](auto& v, auto& p) { texts(v, p, rule.match); }},
             {"not_match", [&](auto& v, auto& p) { texts(v, p, rule.not_match); }}});
    if (!node.IsMap()) return rule;
    rule.effect = effect.value_or(engine::RuleEffect::deny);
    check_rule(node, path, rule, effect.has_value());
    return rule;
  }

  void check_rule(const YAML::Node& node, const std::string& path, const PolicyRule& rule, bool has_effect) {
    if (!is_identifier(rule.id)) {
      problem(node, path + ": needs an id of letters, digits, `_`, `-` and `.`; verdicts name it");
    }
    if (!has_effect && !node["effect"]) {
      problem(node, path + ": needs an effect: one of " + names_of<engine::RuleEffect>());
    }
    const int subjects = int{!rule.command.empty()} + int{!rule.network.empty()} + int{!rule.path.empty()};
    if (subjects > 1 || (subjects == 0 && rule.tool.empty())) {
      problem(node, path + ": a rule is about exactly one of command, network, path or tool");
    }
    check_examples(node, rule);
  }

  /// A rule that does not do what its author believes is worse than none.
  void check_examples(const YAML::Node& node, const PolicyRule& rule) {
    if ((!rule.match.empty() || !rule.not_match.empty()) && rule.command.empty()) {
      problem(node, "rule \"" + rule.id + "\": match and not_match are for rules with a command");
      return;
    }
    for (const auto& example : rule.match) {
      if (!matches(rule, example)) {
        problem(node["match"], "rule \"" + rule.id + "\": its example \"" + example + "\" is not matched by " +
                                   engine::quote_argv(rule.command));
      }
    }
    for (const auto& example : rule.not_match) {
      if (matches(rule, example)) {
        problem(node["not_match"], "rule \"" + rule.id + "\": its counter-example \"" + example + "\" is matched by " +
                                       engine::quote_argv(rule.command));
      }
    }
  }

  static bool matches(const PolicyRule& rule, const std::string& command) {
    engine::Grant words;
    words.effect = engine::GrantEffect::deny;
    words.tool = "shell";
    words.match = engine::quote_argv(rule.command);
    words.scope = engine::Scope::user;
    words.max_autonomy = engine::Autonomy::high;
    return engine::covers(words, engine::ShellAction{.command = command, .cwd = {}}, {});
  }

  // ---- rules about the lines of a change

  void diff_rules(const YAML::Node& node, const std::string& path) {
    if (node.IsNull() || !expect(node.IsSequence(), node, path, "a list of rules")) return;
    if (node.size() > engine::kMaxOwnRules) {
      problem(node, path + ": holds " + std::to_string(node.size()) + " rules; at most " +
                        std::to_string(engine::kMaxOwnRules) + " are allowed in a file");
      return;
    }
    std::set<std::string> ids;
    for (const auto& item : node) {
      auto rule = read_own_rule(item, path + "[" + std::to_string(layer_.own_rules.size()) + "]");
      if (!rule.id.empty() && !ids.insert(rule.id).second) {
        problem(item, "two diff rules are called \"" + rule.id + "\"; ids are unique, since signals name them");
      }
      layer_.own_rules.push_back(std::move(rule));
    }
    check_cost(node, path);
  }

  void check_cost(const YAML::Node& node, const std::string& path) {
    std::size_t steps = 0;
    for (const auto& rule : layer_.own_rules) steps += rule.pattern.empty() ? 0 : engine::pattern_steps(rule.pattern);
    if (steps <= engine::kMaxFileSteps) return;
    problem(node, path + ": the patterns cost too much together: " + std::to_string(steps) + " steps, of " +
                      std::to_string(engine::kMaxFileSteps) + " allowed in a file; repeat less often than in {100}");
  }

  OwnRule read_own_rule(const YAML::Node& node, const std::string& path) {
    OwnRule rule;
    rule.origin = {layer_.kind, layer_.file, node.Mark().line + 1};
    std::optional<engine::LineSide> side;
    std::optional<engine::Level> severity;
    section(node, path,
            {{"id", [&](auto& v, auto& p) { text(v, p, rule.id); }},
             {"pattern", [&](auto& v, auto& p) { pattern(v, p, rule.pattern); }},
             {"paths", [&](auto& v, auto& p) { globs(v, p, rule.paths); }},
             {"exclude", [&](auto& v, auto& p) { globs(v, p, rule.exclude); }},
             {"on", [&](auto& v, auto& p) { enumerator(v, p, side); }},
             {"weight", [&](auto& v, auto& p) { whole_number(v, p, 1, 100, rule.weight); }},
             {"severity", [&](auto& v, auto& p) { severity_word(v, p, severity); }},
             {"message", [&](auto& v, auto& p) { message(v, p, rule.message); }},
             {"cwe", [&](auto& v, auto& p) { weaknesses(v, p, rule.cwe); }},
             {"match", [&](auto& v, auto& p) { example_lines(v, p, rule.match); }},
             {"not_match", [&](auto& v, auto& p) { example_lines(v, p, rule.not_match); }}});
    if (!node.IsMap()) return rule;
    rule.on = side.value_or(engine::LineSide::added);
    rule.severity = severity.value_or(engine::severity_of_weight(rule.weight));
    check_own_rule(node, path, rule);
    return rule;
  }

  /// Keys whose value is wrong have had their problem; here it is about those that are not there.
  void check_own_rule(const YAML::Node& node, const std::string& path, const OwnRule& rule) {
    if (!is_identifier(rule.id)) {
      problem(node, path + ": needs an id of letters, digits, `_`, `-` and `.`; signals name it `own.` and the id");
    }
    static constexpr std::pair<const char*, const char*> kNeeded[] = {
        {"pattern", "a pattern: a regular expression, looked for in each line"},
        {"weight", "a weight: the points it brings, 1 to 100 (from 31 alone medium, from 71 high)"},
        {"message", "a message: one line that says what is wrong"}};
    for (const auto& [key, what] : kNeeded) {
      if (!node[key]) problem(node, path + ": needs " + what);
    }
    if (!rule.pattern.empty()) check_own_examples(node, rule);
  }

  void check_own_examples(const YAML::Node& node, const OwnRule& rule) {
    const engine::OwnRules alone({rule});
    const auto check = [&](const char* key, bool wanted, const char* complaint) {
      const YAML::Node list = node[key];
      if (!list || !list.IsSequence()) return;
      for (const auto& item : list) {
        if (!item.IsScalar() || alone.matching(rule.on, item.Scalar()).empty() != wanted) continue;
        problem(item,
                "diff rule \"" + rule.id + "\": its " + complaint + " by its pattern: " + item.Scalar().substr(0, 80));
      }
    };
    check("match", true, "example is not matched");
    check("not_match", false, "counter-example is matched");
  }

  void pattern(const YAML::Node& node, const std::string& path, std::string& out) {
    std::string written;
    if (!text(node, path, written)) return;
    if (const auto fault = engine::pattern_fault(written)) {
      problem(node, path + ": " + *fault);
    } else {
      out = std::move(written);
    }
  }

  /// Relative to the repository, as `path_matches` reads them; `docs/` means all below it.
  void globs(const YAML::Node& node, const std::string& path, std::vector<std::string>& out) {
    texts(node, path, out);
    if (out.size() > engine::kMaxRuleGlobs) {
      problem(node, path + ": at most " + std::to_string(engine::kMaxRuleGlobs) + " globs are allowed here");
    }
    for (auto& glob : out) {
      if (glob.size() > engine::kMaxGlobBytes || glob.starts_with('/') || glob.starts_with("./") ||
          glob.find("..") != std::string::npos || glob.find_first_of("[]{}\\!") != std::string::npos) {
        problem(node, path + ": \"" + glob.substr(0, 60) +
                          "\" is no glob; allowed here: a path of the repository, as in src/**/*.py, *.sql or docs/, "
                          "with * within a name and ** across directories");
      }
      if (glob.ends_with('/')) glob += "**";
    }
  }

  void severity_word(const YAML::Node& node, const std::string& path, std::optional<engine::Level>& out) {
    const auto value = node.IsScalar() ? engine::parse_enum<engine::Level>(node.Scalar()) : std::nullopt;
    const bool fits = value && *value != engine::Level::none;
    if (expect(fits, node, path, "one of low, medium, high, critical")) out = value;
  }

  /// It is shown to people and agents, beside what Escrow itself says.
  void message(const YAML::Node& node, const std::string& path, std::string& out) {
    constexpr std::size_t kLongest = 200;
    std::string written;
    if (!text(node, path, written)) return;
    const bool plain = written.size() <= kLongest && engine::make_visible(written) == written &&
                       written.find_first_of("\n\t") == std::string::npos;
    if (plain) {
      out = std::move(written);
    } else {
      problem(node, path + ": must be one line of at most " + std::to_string(kLongest) +
                        " bytes, without control or invisible characters");
    }
  }

  void weaknesses(const YAML::Node& node, const std::string& path, std::vector<std::string>& out) {
    texts(node, path, out);
    for (const auto& id : out) {
      const bool fits = id.starts_with("CWE-") && id.size() > 4 && id.size() <= 9 &&
                        id.find_first_not_of("0123456789", 4) == std::string::npos;
      if (!fits) problem(node, path + ": \"" + id.substr(0, 60) + "\" is not a weakness such as CWE-798");
    }
  }

  /// Lines of a file, without the mark of a diff; an empty one is a line too.
  void example_lines(const YAML::Node& node, const std::string& path, std::vector<std::string>& out) {
    if (node.IsNull() || !expect(node.IsSequence(), node, path, "a list of lines")) return;
    for (const auto& item : node) {
      if (expect(item.IsScalar(), item, path, "a line of text")) out.push_back(item.Scalar());
    }
  }

  void host(const YAML::Node& node, const std::string& path, std::string& out) {
    if (!text(node, path, out)) return;
    expect(is_host_pattern(out), node, path,
           "a host name such as docs.example.org or *.example.org:443 (never * alone)");
  }

  void hosts(const YAML::Node& node, const std::string& path, std::vector<std::string>& out) {
    if (node.IsNull() || !expect(node.IsSequence(), node, path, "a list of hosts")) return;
    for (const auto& item : node) host(item, path, out.emplace_back());
  }

  void sandbox(const YAML::Node& node, const std::string& path) {
    section(node, path,
            {{"pool", [this](auto& v, auto& p) { pool(v, p); }},
             {"limits", [this](auto& v, auto& p) { limits(v, p); }},
             {"env_allow", [this](auto& v, auto& p) { texts(v, p, layer_.env_allow); }},
             {"mask", [this](auto& v, auto& p) { texts(v, p, layer_.mask); }},
             {"read", [this](auto& v, auto& p) { texts(v, p, layer_.read); }},
             {"write", [this](auto& v, auto& p) { texts(v, p, layer_.write); }}});
  }

  void pool(const YAML::Node& node, const std::string& path) {
    int min = 0;
    int max = 64;
    section(node, path,
            {{"min", [&](auto& v, auto& p) { pool_size(v, p, min); }},
             {"max", [&](auto& v, auto& p) { pool_size(v, p, max); }},
             {"handoff_slo", [&](auto& v, auto& p) {
                std::int64_t ms = 0;
                if (duration(v, p, ms)) layer_.limits["pool.handoff_slo"] = v.Scalar();
              }}});
    if (min > max) problem(node, path + ": min is larger than max");
  }

  void pool_size(const YAML::Node& node, const std::string& path, int& out) {
    if (!whole_number(node, path, 0, 64, out)) return;
    layer_.limits[path.substr(path.find("pool."))] = node.Scalar();
  }

  void limits(const YAML::Node& node, const std::string& path) {
    const auto time = [this](const char* name) -> ReadValue {
      return [this, name](auto& v, auto& p) {
        std::int64_t ms = 0;
        if (duration(v, p, ms)) layer_.limits[name] = v.Scalar();
      };
    };
    const auto size = [this](const char* name) -> ReadValue {
      return [this, name](auto& v, auto& p) {
        const auto bytes = v.IsScalar() ? parse_bytes(v.Scalar()).value_or(0) : 0;
        if (expect(bytes > 0, v, p, "a size such as 512K, 64M or 4G")) layer_.limits[name] = v.Scalar();
      };
    };
    const ReadValue pids = [this](auto& v, auto& p) {
      int count = 0;
      if (whole_number(v, p, 1, 1 << 22, count)) layer_.limits["pids"] = v.Scalar();
    };
    section(node, path,
            {{"wall", time("wall")},
             {"cpu", time("cpu")},
             {"memory", size("memory")},
             {"output", size("output")},
             {"file-size", size("file-size")},
             {"pids", pids}});
  }

  void network(const YAML::Node& node, const std::string& path) {
    section(node, path, {{"allow", [this](auto& v, auto& p) { hosts(v, p, layer_.network_allow); }}});
  }

  void review(const YAML::Node& node, const std::string& path) {
    section(node, path,
            {{"sample_rate", [this](auto& v, auto& p) { sample_rate(v, p); }}, {"expiry", [this](auto& v, auto& p) {
                                                                                  std::int64_t ms = 0;
                                                                                  if (duration(v, p, ms))
                                                                                    layer_.review_expiry_ms = ms;
                                                                                }}});
  }

  void sample_rate(const YAML::Node& node, const std::string& path) {
    double rate = -1;
    const bool fits = node.IsScalar() && YAML::convert<double>::decode(node, rate) && rate >= 0 && rate <= 1;
    if (expect(fits, node, path, "a share from 0 to 1")) layer_.sample_rate = rate;
  }

  ParsedPolicy& out_;
  PolicyLayer& layer_;
};

constexpr const char* kShape = "`key: value` lines, lists as [a, b], mappings as { key: value }";

/// yaml-cpp ends its input silently at the byte 0x04: whatever a file forbids after it would be lost.
std::optional<PolicyProblem> find_control_character(std::string_view text) {
  PolicyProblem at{1, 1, {}};
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') {
      at.message = "control character; remove it (code " + std::to_string(byte) + ")";
      return at;
    }
    at.column = c == '\n' ? 1 : at.column + 1;
    if (c == '\n') ++at.line;
  }
  return std::nullopt;
}

/// Notes where a document begins, and nothing else of it.
class DocumentStart final : public YAML::EventHandler {
 public:
  YAML::Mark mark = {};
  void OnDocumentStart(const YAML::Mark& at) override { mark = at; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

struct Documents {
  int count = 0;  ///< none, one, or more than one
  YAML::Mark second = {};
};

/// YAML::LoadAll never ends where a document begins with what none may begin with: yaml-cpp finds an empty document
/// there again and again. Two are as good as many.
Documents count_documents(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  DocumentStart first, second;
  if (!parser.HandleNextDocument(first)) return {};
  if (!parser.HandleNextDocument(second)) return {1, {}};
  return {2, second.mark};
}

}  // namespace

ParsedPolicy parse_policy(std::string_view text, const std::string& file, engine::LayerKind kind) {
  ParsedPolicy out;
  out.layer.kind = kind;
  out.layer.file = file;
  if (const auto problem = find_control_character(text)) {
    out.problems.push_back(*problem);
    return out;
  }
  try {
    const std::string copy(text);
    const Documents documents = count_documents(copy);
    if (documents.count > 1)
      out.problems.push_back(
          {documents.second.line + 1, documents.second.column + 1, "a second YAML document begins; keep one"});
    if (documents.count == 1) Reader(out).document(YAML::Load(copy));
  } catch (const YAML::Exception& error) {
    out.problems.push_back({std::max(error.mark.line, 0) + 1, std::max(error.mark.column, 0) + 1,
                            "not YAML: " + engine::one_line(error.msg, kMaxMessage) + "; allowed here: " + kShape});
  }
  std::stable_sort(out.problems.begin(), out.problems.end(), [](const auto& a, const auto& b) {
    return std::pair{a.line, a.column} < std::pair{b.line, b.column};
  });
  return out;
}

std::string to_text(const PolicyProblem& problem, const std::string& file) {
  return file + ":" + std::to_string(problem.line) + ":" + std::to_string(problem.column) + ": " + problem.message;
}

}  // namespace escrow::server
