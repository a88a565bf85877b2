#include "server/store/policy_keys.h"

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "engine/policy_lint.h"
#include "server/store/policy_yaml.h"
#include "tests/catch.h"

using namespace escrow;
using namespace escrow::server;

namespace {

/// A policy in which the section holds one unknown key, in flow style.
std::string with_unknown_key(std::string_view section) {
  std::string open, close;
  std::size_t at = 0;
  while (at < section.size()) {
    std::size_t end = std::min(section.find('.', at), section.size());
    std::string name(section.substr(at, end - at));
    const bool list = name.ends_with("[]");
    if (list) name.resize(name.size() - 2);
    if (name == "*") name = "mine";
    open += name + (list ? ": [{ " : ": { ");
    close = (list ? " }]" : " }") + close;
    at = end + 1;
  }
  // The document itself is block style.
  return open + "no-such-key: 1" + close;
}

/// What the parser says may stand in that section; empty if it names nothing.
std::set<std::string> allowed_in(std::string_view section) {
  std::set<std::string> out;
  for (const auto& problem : parse_policy(with_unknown_key(section), "p", engine::LayerKind::user).problems) {
    const std::size_t at = problem.message.find("; allowed here: ");
    if (at == std::string::npos || problem.message.find("no-such-key") == std::string::npos) continue;
    std::istringstream in(problem.message.substr(at + 16));
    for (std::string name; std::getline(in, name, ',');) out.insert(name.substr(name.find_first_not_of(' ')));
  }
  return out;
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("the table of keys and the parser know the same ones, section by section") {
  std::set<std::string> sections{""};
  for (const auto& key : policy_keys()) {
    if (key.shape == KeyShape::mapping) sections.insert(key.path);
    if (key.shape == KeyShape::named) sections.insert(key.path + ".*");
    if (key.shape == KeyShape::list) sections.insert(key.path + "[]");
  }
  for (const auto& section : sections) {
    INFO("section " << section);
    std::set<std::string> table;
    for (const auto* key : keys_below(section)) table.insert(name_of_key(*key));
    CHECK_FALSE(table.empty());
    CHECK(allowed_in(section) == table);
  }
}

TEST_CASE("the choices of the table are those of the parser") {
  for (const auto& key : policy_keys()) {
    if (key.shape != KeyShape::choice || key.path.find_first_of("[*") != std::string::npos) continue;
    INFO(key.path);
    const auto problems = parse_policy(key.path + ": no-such-word", "p", engine::LayerKind::user).problems;
    REQUIRE(problems.size() == 1);
    for (const auto& choice : key.choices) {
      CHECK(problems[0].message.find(choice) != std::string::npos);
      CHECK(parse_policy(key.path + ": " + choice, "p", engine::LayerKind::user).problems.empty());
    }
  }
}

TEST_CASE("the schema that ships is that of the table, and every key of it says what it means") {
  const auto shipped = boost::json::parse(file_text(std::string(ESCROW_SOURCE_DIR) + "/docs/policy.schema.json"));
  CHECK(shipped == boost::json::value(policy_schema()));
  for (const auto& key : policy_keys()) {
    INFO(key.path);
    CHECK(key.meaning.size() > 10);
    CHECK(find_policy_key(key.path) == &key);
  }
}

TEST_CASE("a policy key that nothing reads is announced as without effect, and no other is") {
  // Member of engine::Policy → the keys that fill it.
  const std::pair<const char*, std::vector<std::string>> kMembers[] = {
      {"mode", {"mode"}},
      {"autonomy", {"autonomy"}},
      {"risk_bands", {"risk_bands"}},
      {"checks", {"checks"}},
      {"rules", {"rules"}},
      {"own_rules", {"diff_rules"}},
      {"limits", {"sandbox.limits"}},
      {"env_allow", {"sandbox.env_allow"}},
      {"mask", {"sandbox.mask"}},
      {"read", {"sandbox.read"}},
      {"write", {"sandbox.write"}},
      {"network_allow", {"network.allow"}},
      {"sample_rate", {"review.sample_rate"}},
      {"review_expiry_ms", {"review.expiry"}},
      {"allow_policy_only_runner", {"allow_policy_only_runner"}},
  };
  const auto& dead = engine::keys_without_effect();
  const std::filesystem::path source(ESCROW_SOURCE_DIR);
  std::string code;
  for (const char* folder : {"engine", "server"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source / folder)) {
      const std::string name = entry.path().filename().string();
      // Those that build, merge and show the policy; reading it to act on it is what counts.
      if (entry.path().extension() != ".cpp" || name.starts_with("policy")) continue;
      code += file_text(entry.path());
    }
  }
  for (const auto& [member, keys] : kMembers) {
    INFO(member);
    const bool is_read = code.find("policy." + std::string(member)) != std::string::npos ||
                         code.find("policy_." + std::string(member)) != std::string::npos;
    const bool is_dead = std::find(dead.begin(), dead.end(), keys[0]) != dead.end();
    CHECK(is_read != is_dead);
    CHECK(find_policy_key(keys[0]) != nullptr);
  }
  for (const auto& key : dead) {
    INFO(key);
    const auto* known = find_policy_key(key);
    REQUIRE(known != nullptr);
    CHECK(known->meaning.find("No effect in this version") != std::string::npos);
  }
}

TEST_CASE("rules that allow too much, never match, or never decide are pointed out with their line") {
  const auto parsed = parse_policy(R"(rules:
  - { id: all-git, effect: allow, command: [git] }
  - { id: glued, effect: deny, command: ["git push"] }
  - { id: no-docker, effect: deny, command: [docker] }
  - { id: docker-ps, effect: allow, command: [docker, ps] }
  - { id: again, effect: deny, command: [docker, run] }
  - { id: fine, effect: allow, command: [npm, install] }
  - { id: everything, effect: allow, path: "**" }
  - { id: hosts, effect: deny, network: "*.example.org" }
  - { id: one-host, effect: allow, network: "docs.example.org:443" }
sandbox: { write: ["/tmp"] }
)",
                                   "p.yaml", engine::LayerKind::user);
  REQUIRE(parsed.problems.empty());
  std::vector<std::string> found;
  for (const auto& warning : engine::lint_layer(parsed.layer))
    found.push_back(std::to_string(warning.line) + ": " + warning.message.substr(0, warning.message.find(':')));
  CHECK(found == std::vector<std::string>{"2: rule \"all-git\" allows too much", "3: rule \"glued\" never matches",
                                          "5: rule \"docker-ps\" never decides", "6: rule \"again\" adds nothing",
                                          "8: rule \"everything\" allows too much",
                                          "10: rule \"one-host\" never decides",
                                          "11: sandbox.write has no effect in this version of Escrow"});
}
