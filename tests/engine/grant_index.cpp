#include "engine/grant_index.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/action_signals.h"
#include "engine/grant_match.h"
#include "tests/catch.h"

using namespace escrow::engine;

namespace {

Grant filed(std::string id, GrantEffect effect, std::string tool, std::string match) {
  Grant grant;
  grant.id = std::move(id);
  grant.effect = effect;
  grant.tool = std::move(tool);
  grant.match = std::move(match);
  grant.scope = Scope::user;
  grant.max_autonomy = Autonomy::high;
  return grant;
}

std::vector<Grant> many() {
  std::vector<Grant> out;
  int next = 0;
  for (const GrantEffect effect : {GrantEffect::allow, GrantEffect::deny}) {
    for (const auto& [tool, match] : std::vector<std::pair<const char*, const char*>>{{"shell", "make lint"},
                                                                                      {"shell", "npm install"},
                                                                                      {"exec", "git push origin"},
                                                                                      {"shell", "'my tool' x"},
                                                                                      {"network", "docs.example.org"},
                                                                                      {"network", "*.example.org:443"},
                                                                                      {"network", "DOCS.example.org."},
                                                                                      {"file", "docs/**"},
                                                                                      {"file", "a.md"},
                                                                                      {"mcp", "db/query"},
                                                                                      {"mcp", "db"},
                                                                                      {"deploy", "deploy"},
                                                                                      {"other", "deploy"},
                                                                                      {"shell", ""},
                                                                                      {"network", ""},
                                                                                      {"deploy", ""}})
      out.push_back(filed("g" + std::to_string(next++), effect, tool, match));
  }
  return out;
}

}  // namespace

TEST_CASE("the index finds every grant that covers an action, whatever its kind and spelling") {
  const std::vector<Grant> grants = many();
  const GrantIndex index(grants);
  const std::vector<Action> actions = {ShellAction{"make lint", ""},
                                       ShellAction{"/usr/bin/make lint", ""},
                                       ShellAction{"sudo npm install x", ""},
                                       ShellAction{"bash -c 'git push origin'", ""},
                                       ShellAction{"ls; make lint", ""},
                                       ShellAction{"'my tool' x y", ""},
                                       ShellAction{"NPM install", ""},
                                       ExecAction{{"npm", "install", "x"}, "", {}},
                                       NetworkAction{"docs.example.org", 443},
                                       NetworkAction{"Docs.Example.Org.", 443},
                                       NetworkAction{"x.example.org", 443},
                                       NetworkAction{"other.net", {}},
                                       FileAction{FileOp::write, {"docs/a.md"}, ""},
                                       FileAction{FileOp::read, {"a.md"}, ""},
                                       McpAction{"db", "query", false},
                                       McpAction{"db", "drop", false},
                                       OtherAction{"deploy"},
                                       OtherAction{"rest"}};
  GrantContext context;
  context.now_ms = 1;
  for (const Action& action : actions) {
    INFO(describe(action));
    CommandScene scene;
    scene.venue = Venue::host;
    const auto found = index.about(action, judge_action(action, scene));
    for (const Grant& grant : grants) {
      if (!covers(grant, action, context)) continue;
      INFO(grant.id << " " << grant.tool << " " << grant.match);
      CHECK(std::any_of(found.begin(), found.end(), [&](const Grant* one) { return one->id == grant.id; }));
    }
    CHECK(std::is_sorted(found.begin(), found.end()));
  }
}

TEST_CASE("a line of several commands is offered one grant each, and they cover it together") {
  const Action action = ShellAction{"npm install && npm run build", ""};
  const auto matches = suggest_matches(action);
  CHECK(matches == std::vector<std::string>{"npm install", "npm run build"});
  CHECK(suggest_match(action).empty());
  CHECK(quoted_list(matches) == "`npm install` and `npm run build`");
  CHECK(suggest_matches(ShellAction{"npm install && sudo make install", ""}).empty());
  CHECK(suggest_matches(ShellAction{"a; b; c; d; e; f", ""}).empty());
}

TEST_CASE("a grant that could never count is refused, and says what would") {
  const auto why = [](GrantEffect effect, const char* tool, const char* match) {
    const auto valid = validate_grant(filed("g", effect, tool, match));
    return valid ? std::string() : valid.error().message;
  };
  CHECK(why(GrantEffect::allow, "shell", "rm -rf").find("`rm -rf build`") != std::string::npos);
  CHECK(why(GrantEffect::allow, "shell", "rm -rf /").find("critical, which no grant loosens") != std::string::npos);
  CHECK(why(GrantEffect::allow, "shell", "npm test && npm run build") ==
        "grant: `npm test && npm run build` is several commands; remember each by itself: `npm test` and `npm run "
        "build`");
  CHECK(why(GrantEffect::deny, "shell", "a && b").find("several commands") != std::string::npos);
  CHECK(why(GrantEffect::deny, "shell", "$X y").find("not one plain command") != std::string::npos);
  CHECK(why(GrantEffect::deny, "network", "*").find("leave the match out") != std::string::npos);
  CHECK(why(GrantEffect::deny, "network", "*.org").empty());
  CHECK(why(GrantEffect::deny, "shell", "").empty());
}
