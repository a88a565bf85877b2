#include "server/cli/sarif.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <map>
#include <set>

#include "engine/diff_rule_table.h"
#include "engine/explain.h"
#include "engine/redact.h"
#include "engine/rule_page.h"
#include "engine/text.h"
#include "server/json_out.h"
#include "server/lsp/uri.h"

// Paths in results are relative to the repository's root (`%SRCROOT%`), so that a log says nothing of the machine it
// was made on. Lines are those of the new files.

namespace escrow::server::cli {
namespace {

namespace json = boost::json;
using engine::Level;
using engine::Signal;

constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr std::string_view kUnread = engine::kUnreadRule;

std::string_view sarif_level(Level level) {
  switch (level) {
    case Level::critical:
    case Level::high:
      return "error";
    case Level::medium:
      return "warning";
    case Level::low:
      return "note";
    case Level::none:
      return "none";
  }
  return "none";
}

/// Code scanning services read their own words from it: over 9.0 critical, from 7.0 high, from 4.0 medium, else low.
std::string_view security_severity(Level level) {
  switch (level) {
    case Level::critical:
      return "9.5";
    case Level::high:
      return "8.0";
    case Level::medium:
      return "5.5";
    case Level::low:
      return "2.0";
    case Level::none:
      return "0.0";
  }
  return "0.0";
}

json::object text_of(std::string_view text) {
  return {{"text", json_text(text)}};
}

// ---- Rules

json::object rule_properties(const engine::DiffRule& rule) {
  json::array tags;
  if (!rule.cwe.empty()) tags.emplace_back("security");
  for (const auto& cwe : engine::split_words(rule.cwe)) tags.emplace_back("external/cwe/" + engine::lower(cwe));
  json::object properties{{"tags", std::move(tags)}, {"weight", rule.weight}};
  // The services take a rule with this number for a vulnerability; one without a weakness class is none.
  if (!rule.cwe.empty()) properties["security-severity"] = security_severity(rule.severity);
  return properties;
}

json::object describe_rule(const engine::DiffRule& rule) {
  const auto& text = *engine::find_rule_text(rule.id);
  json::object out{{"id", rule.id}, {"shortDescription", text_of(text.title)}, {"fullDescription", text_of(text.why)}};
  const auto page = engine::rule_page(rule.id);
  out["help"] = {{"text", std::string(text.title) + ". " + std::string(text.why)}, {"markdown", page}};
  if (const auto cwes = engine::split_words(rule.cwe); !cwes.empty()) out["helpUri"] = engine::cwe_page(cwes.front());
  out["defaultConfiguration"] = {{"level", sarif_level(rule.severity)}, {"rank", rule.weight}};
  out["properties"] = rule_properties(rule);
  return out;
}

json::object describe_unread() {
  const auto& text = engine::unread_text();
  return {
      {"id", kUnread},
      {"shortDescription", text_of(text.title)},
      {"fullDescription", text_of(text.why)},
      {"help", {{"text", "Make the diff again, with git diff or diff -u."}, {"markdown", engine::rule_page(kUnread)}}},
      {"defaultConfiguration", {{"level", "error"}}}};
}

/// A rule of a policy file. Its message is all that its author has said; where the file lies is nobody else's business,
/// but whose it is helps to find it.
json::object describe_own(const engine::OwnRule& rule) {
  const std::string layer(engine::name_of(rule.origin.layer));
  const std::string help = "A rule of the " + layer + "'s policy, `" + rule.id +
                           "` under diff_rules; `escrow policy show` says where it stands.";
  json::object out{{"id", json_text(engine::signal_id(rule))}, {"name", json_text(rule.id)}};
  out["shortDescription"] = text_of(rule.message);
  out["fullDescription"] = text_of(rule.message + " (a rule of the " + layer + "'s policy)");
  out["help"] = {{"text", json_text(help)}, {"markdown", json_text(help)}};
  if (!rule.cwe.empty()) out["helpUri"] = engine::cwe_page(rule.cwe.front());
  out["defaultConfiguration"] = {{"level", sarif_level(rule.severity)}, {"rank", rule.weight}};
  json::array tags{"policy"};
  if (!rule.cwe.empty()) tags.emplace_back("security");
  for (const auto& cwe : rule.cwe) tags.emplace_back("external/cwe/" + engine::lower(cwe));
  json::object properties{{"tags", std::move(tags)}, {"weight", rule.weight}, {"layer", layer}};
  if (!rule.cwe.empty()) properties["security-severity"] = security_severity(rule.severity);
  out["properties"] = std::move(properties);
  return out;
}

const engine::OwnRule* find_own(const std::vector<engine::OwnRule>& own, std::string_view id) {
  const auto found = std::find_if(own.begin(), own.end(), [&](const auto& rule) { return signal_id(rule) == id; });
  return found == own.end() ? nullptr : &*found;
}

/// Ids of the rules that were met, in order: a result names its rule by its place there.
std::vector<std::string> rules_met(const engine::ParsedPatch& change, const engine::PatchEvaluation& verdict,
                                   const std::vector<engine::OwnRule>& own) {
  std::set<std::string> met;
  for (const auto& signal : verdict.risk.signals) {
    if (engine::find_diff_rule(signal.rule) != nullptr || find_own(own, signal.rule) != nullptr)
      met.insert(signal.rule);
  }
  if (!change.issues.empty()) met.emplace(kUnread);
  return {met.begin(), met.end()};
}

json::array describe_rules(const std::vector<std::string>& met, const std::vector<engine::OwnRule>& own) {
  json::array rules;
  for (const auto& id : met) {
    const auto* rule = engine::find_diff_rule(id);
    const auto* own_rule = find_own(own, id);
    if (rule != nullptr)
      rules.emplace_back(describe_rule(*rule));
    else
      rules.emplace_back(own_rule != nullptr ? describe_own(*own_rule) : describe_unread());
  }
  return rules;
}

// ---- Places

/// A finding about the whole file stands on its first line: the services refuse a place without one.
json::object location(const std::string& path, std::uint32_t line, std::uint32_t end_line) {
  json::object region{{"startLine", std::max<std::uint32_t>(line, 1)}};
  if (line != 0) region["endLine"] = std::max(line, end_line);
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", lsp::percent_encode(path)}, {"uriBaseId", "%SRCROOT%"}}},
            {"region", std::move(region)}}}};
}

/// What stands on the line, or was deleted there; without blanks, so that indenting makes no new finding.
std::string line_text(const engine::Patch& patch, const Signal& signal) {
  std::string text;
  for (const auto& file : patch.files) {
    if (file.path() != signal.file) continue;
    for (const auto& hunk : file.hunks) {
      for (const auto& line : hunk.lines) {
        if (line.new_line == signal.line && line.kind != engine::LineKind::context) text += line.text;
      }
    }
  }
  text = engine::redact(text);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  return text;
}

/// The same finding in a later change has the same fingerprint, wherever its line has moved.
class Fingerprints {
 public:
  std::string next(const engine::Patch& patch, const Signal& signal) {
    const auto key = signal.rule + '\n' + signal.file + '\n' + line_text(patch, signal);
    const int seen = ++seen_[key];
    // A version 5 UUID (RFC 9562) in the name space for URLs is a standard hash of text.
    const boost::uuids::name_generator_sha1 hash(boost::uuids::ns::url());
    return boost::uuids::to_string(hash("escrow:finding\n" + key + '\n' + std::to_string(seen)));
  }

 private:
  std::map<std::string, int> seen_;
};

// ---- Results

std::size_t index_of(const std::vector<std::string>& met, std::string_view rule) {
  return static_cast<std::size_t>(std::find(met.begin(), met.end(), rule) - met.begin());
}

json::object result_of(const Signal& signal, const std::vector<std::string>& met) {
  json::object out{{"ruleId", json_text(signal.rule)}};
  if (const auto index = index_of(met, signal.rule); index < met.size()) out["ruleIndex"] = index;
  out["level"] = sarif_level(signal.severity);
  out["rank"] = signal.weight;
  out["message"] = text_of(signal.message);
  if (!signal.file.empty()) out["locations"] = json::array{location(signal.file, signal.line, signal.end_line)};
  out["properties"] = {{"severity", engine::name_of(signal.severity)}, {"wholeFile", signal.line == 0}};
  return out;
}

json::object result_of(const engine::ParseIssue& issue, const std::vector<std::string>& met, const std::string& input) {
  const auto line = static_cast<std::uint32_t>(issue.line);
  json::object out{{"ruleId", kUnread}, {"ruleIndex", index_of(met, kUnread)}, {"level", "error"}};
  out["message"] = text_of("line " + std::to_string(line) + " of the diff: " + engine::one_line(issue.message));
  if (!input.empty() && !input.starts_with('/')) out["locations"] = json::array{location(input, line, line)};
  return out;
}

json::array results_of(const engine::ParsedPatch& change, const engine::PatchEvaluation& verdict,
                       const std::vector<std::string>& met, const std::string& input) {
  json::array results;
  for (const auto& issue : change.issues) results.emplace_back(result_of(issue, met, input));
  Fingerprints fingerprints;
  for (const auto& signal : verdict.risk.signals) {
    auto result = result_of(signal, met);
    result["partialFingerprints"] = {{"escrowFinding/v1", fingerprints.next(change.patch, signal)}};
    results.emplace_back(std::move(result));
  }
  return results;
}

}  // namespace

json::object sarif_log(const engine::ParsedPatch& change, const engine::PatchEvaluation& verdict,
                       const engine::OwnRules& own_rules, const std::string& input) {
  const auto& own = own_rules.list();
  const auto met = rules_met(change, verdict, own);
  json::object driver{{"name", "Escrow"}, {"semanticVersion", ESCROW_VERSION}, {"rules", describe_rules(met, own)}};
  json::object run{{"tool", {{"driver", std::move(driver)}}}};
  run["invocations"] = json::array{json::object{{"executionSuccessful", true}}};
  run["results"] = results_of(change, verdict, met, input);
  run["properties"] = {{"score", verdict.risk.score},
                       {"lane", engine::name_of(verdict.lane)},
                       {"level", engine::name_of(verdict.risk.level)},
                       {"explain", json_explain(verdict.risk.explain)},
                       {"notes", json_texts(verdict.notes)}};
  return {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", json::array{std::move(run)}}};
}

}  // namespace escrow::server::cli
