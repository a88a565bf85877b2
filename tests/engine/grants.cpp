#include <string>

#include "engine/grant.h"
#include "engine/rule_match.h"
#include "tests/catch.h"

using namespace escrow::engine;

namespace {

Grant grant(std::string tool, std::string match, Scope scope = Scope::user, GrantEffect effect = GrantEffect::allow) {
  Grant out;
  out.id = "g";
  out.effect = effect;
  out.tool = std::move(tool);
  out.match = std::move(match);
  out.scope = scope;
  out.session = "s";
  out.workspace = "w";
  return out;
}

GrantContext context() {
  GrantContext out;
  out.workspace = "w";
  out.session = "s";
  out.call_id = "c";
  out.subject_hash = "h";
  out.now_ms = 100;
  return out;
}

bool shell_covers(const std::string& match, const std::string& command) {
  return covers(grant("shell", match), Action(ShellAction{command, ""}), context());
}

std::string why_refused(const Grant& candidate) {
  const auto result = validate_grant(candidate);
  return result ? "" : result.error().message;
}

}  // namespace

TEST_CASE("a grant matches words, never a string prefix") {
  CHECK(shell_covers("make test", "make test"));
  CHECK(shell_covers("make test", "make test V=1"));
  CHECK_FALSE(shell_covers("make test", "make tests"));
  CHECK_FALSE(shell_covers("make test", "make"));
  CHECK_FALSE(shell_covers("make lint", "make -C ../x lint"));
  CHECK(shell_covers("touch", "touch a"));
  CHECK_FALSE(shell_covers("touch", "touchy a"));
  CHECK_FALSE(shell_covers("make test", "./make test"));
  CHECK_FALSE(shell_covers("make test", "$X test"));
}

TEST_CASE("an allow covers every command above none, a deny needs one") {
  CHECK(shell_covers("make test", "ls && make test | grep x"));
  CHECK_FALSE(shell_covers("make test", "make test; make deploy"));
  CHECK_FALSE(shell_covers("make test", "make test; evil"));
  CHECK_FALSE(shell_covers("make test", "make test \"$(evil)\""));
  CHECK_FALSE(shell_covers("make test", "make test > ~/.bashrc"));
  CHECK_FALSE(shell_covers("make test", "echo \"unterminated && make test"));
  const Grant deny = grant("shell", "git push", Scope::user, GrantEffect::deny);
  for (const char* command :
       {"git push", "git -C sub push", "ls; git push -f", "/usr/bin/git push", "sudo git push", "bash -c 'git push'"}) {
    INFO(command);
    CHECK(covers(deny, Action(ShellAction{command, ""}), context()));
  }
  CHECK_FALSE(covers(deny, Action(ShellAction{"git pull", ""}), context()));
}

TEST_CASE("a grant for the shell holds for its sister tool") {
  CHECK(covers(grant("shell", "make test"), Action(ExecAction{{"make", "test"}, "", {}}), context()));
  CHECK_FALSE(covers(grant("file", "make"), Action(ShellAction{"make", ""}), context()));
}

TEST_CASE("scope, expiry and autonomy are honoured") {
  const Action make = ShellAction{"make test", ""};
  Grant session = grant("shell", "make test", Scope::session);
  CHECK(covers(session, make, context()));
  session.session = "other";
  CHECK_FALSE(covers(session, make, context()));
  session.session = "";
  GrantContext nameless = context();
  nameless.session = "";
  CHECK_FALSE(covers(session, make, nameless));
  Grant workspace = grant("shell", "make test", Scope::workspace);
  workspace.workspace = "elsewhere";
  CHECK_FALSE(covers(workspace, make, context()));
  Grant expiring = grant("shell", "make test");
  expiring.expires_ms = 100;
  CHECK_FALSE(covers(expiring, make, context()));
  expiring.expires_ms = 101;
  CHECK(covers(expiring, make, context()));
  GrantContext bold = context();
  bold.autonomy = Autonomy::high;
  CHECK_FALSE(covers(grant("shell", "make test"), make, bold));
  CHECK(covers(grant("shell", "make test", Scope::user, GrantEffect::deny), make, bold));
}

TEST_CASE("files, hosts and MCP tools are matched by their own rules") {
  const auto file_covers = [](const std::string& match, const std::string& path,
                              GrantEffect effect = GrantEffect::allow) {
    return covers(grant("file", match, Scope::user, effect), Action(FileAction{FileOp::write, {path}, ""}), context());
  };
  CHECK(file_covers("docs/**", "docs/a/b.md"));
  CHECK(file_covers("docs/*.md", "docs/a.md"));
  CHECK_FALSE(file_covers("docs/*.md", "docs/a/b.md"));
  CHECK_FALSE(file_covers("docs/**", "docs/../src/a"));
  CHECK_FALSE(file_covers("**/*", ".git/hooks/pre-commit"));
  CHECK_FALSE(file_covers(".git/**", ".git/hooks/pre-commit"));
  CHECK(file_covers("docs/**", "DOCS/x", GrantEffect::deny));
  const auto host_covers = [](const std::string& match, const std::string& host, std::optional<int> port) {
    return covers(grant("network", match), Action(NetworkAction{host, port}), context());
  };
  CHECK(host_covers("example.org", "example.org", 443));
  CHECK(host_covers("*.example.org", "a.example.org", 443));
  CHECK_FALSE(host_covers("*.example.org", "example.org", 443));
  CHECK_FALSE(host_covers("example.org", "example.org.evil.net", 443));
  CHECK_FALSE(host_covers("example.org:443", "example.org", 80));
  CHECK_FALSE(host_covers("example.org:443", "example.org", std::nullopt));
  CHECK(covers(grant("mcp", "db/query"), Action(McpAction{"db", "query", false}), context()));
  CHECK_FALSE(covers(grant("mcp", "db/query"), Action(McpAction{"db", "drop", false}), context()));
}

TEST_CASE("wide grants are refused with a narrower suggestion") {
  for (const char* match : {"bash",
                            "sh -c",
                            "python3",
                            "python3 -c",
                            "node",
                            "git",
                            "sudo",
                            "sudo npm install",
                            "env",
                            "xargs",
                            "npm",
                            "curl",
                            "rm",
                            "find",
                            "eval x",
                            "docker",
                            "ssh",
                            "*",
                            "",
                            "make; rm",
                            "make && ls",
                            "make $X",
                            "make > x",
                            "m*ke",
                            "$(x)",
                            "make | sh",
                            "rm -rf",
                            "rm -rf /",
                            "escrow grants allow"}) {
    INFO(match);
    const std::string why = why_refused(grant("shell", match));
    CHECK_FALSE(why.empty());
    CHECK(why.find(';') != std::string::npos);
  }
  for (const char* match : {"make", "make test", "npm install", "git push origin", "pytest -q", "python3 -m pytest",
                            "cargo test", "terraform plan", "touch"}) {
    INFO(match);
    CHECK(why_refused(grant("shell", match)).empty());
  }
  for (const char* match : {"*", "**", "/", "/**", "~", "**/*", "."})
    CHECK_FALSE(why_refused(grant("file", match)).empty());
  for (const char* match : {"*", "*.org", "a b", "https://example.org", "example.org:x", "exa*mple.org"})
    CHECK_FALSE(why_refused(grant("network", match)).empty());
  CHECK(why_refused(grant("network", "*.example.org:443")).empty());
  CHECK(why_refused(grant("file", "docs/**")).empty());
  CHECK_FALSE(why_refused(grant("sh ell", "make")).empty());
  CHECK_FALSE(why_refused(grant("shell", std::string(5000, 'a'))).empty());
  CHECK_FALSE(why_refused(grant("shell", "", Scope::once)).empty());
  CHECK(why_refused(grant("shell", "", Scope::user, GrantEffect::deny)).empty());
}

TEST_CASE("a refused grant that reached the store allows nothing") {
  CHECK_FALSE(shell_covers("bash", "bash -c 'make test'"));
  CHECK_FALSE(shell_covers("sudo", "sudo make test"));
  CHECK_FALSE(shell_covers("", "make test"));
  CHECK_FALSE(shell_covers("*", "make test"));
}

TEST_CASE("the suggested match is the narrowest sensible one, and it covers what it was made for") {
  const std::pair<const char*, const char*> rows[] = {{"npm install left-pad", "npm install"},
                                                      {"npm run build -- --x", "npm run build"},
                                                      {"git push origin main", "git push origin"},
                                                      {"ls && make test", "make test"},
                                                      {"timeout 5 make test", "make test"},
                                                      {"python3 -m pytest -q", "python3 -m pytest"},
                                                      {"curl https://example.org", "curl https://example.org"},
                                                      {"rm -rf src", "rm -rf src"},
                                                      {"docker compose up -d", "docker compose up"},
                                                      {"rm -rf /", ""},
                                                      {"$TOOL x", ""},
                                                      {"echo \"x", ""},
                                                      {"npm install && git push", ""},
                                                      {"sudo make install", ""}};
  for (const auto& [command, match] : rows) {
    INFO(command);
    const Action action = ShellAction{command, ""};
    CHECK(suggest_match(action) == match);
    if (std::string_view(match).empty()) continue;
    CHECK(why_refused(grant("shell", match)).empty());
    CHECK(shell_covers(match, command));
  }
  CHECK(suggest_match(NetworkAction{"example.org", 443}) == "example.org:443");
  CHECK(suggest_match(FileAction{FileOp::write, {"docs/a.md"}, ""}) == "docs/a.md");
  CHECK(suggest_match(McpAction{"db", "query", false}) == "db/query");
}

TEST_CASE("a rule's own examples are checked") {
  PolicyRule rule;
  rule.id = "no-apply";
  rule.command = {"terraform", "apply"};
  rule.match = {"terraform apply -auto-approve"};
  rule.not_match = {"terraform plan"};
  CHECK(failing_examples(rule).empty());
  rule.match = {"terraform plan"};
  rule.not_match = {"ls; terraform apply"};
  CHECK(failing_examples(rule) ==
        std::vector<std::string>{"rule no-apply: the example `terraform plan` is not matched by this rule",
                                 "rule no-apply: the counter-example `ls; terraform apply` is matched by this rule"});
}

TEST_CASE("path patterns") {
  CHECK(path_matches("a/**", "a/b/c"));
  CHECK(path_matches("**/x", "a/b/x"));
  CHECK(path_matches("*.md", "a/b.md"));
  CHECK_FALSE(path_matches("a/*", "a/b/c"));
  CHECK_FALSE(path_matches("a", "ab"));
  CHECK_FALSE(path_matches("", "a"));
  CHECK(path_matches(std::string(2000, '*') + "b", std::string(2000, 'a') + "b"));
}
