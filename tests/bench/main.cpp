#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/action_signals.h"
#include "engine/evaluate.h"
#include "server/store/config.h"
#include "server/store/grant_store.h"
#include "tests/bench/bare_bwrap.h"
#include "tests/bench/child.h"
#include "tests/bench/inputs.h"
#include "tests/bench/samples.h"
#include "tests/bench/sandbox_bench.h"
#include "tests/bench/session.h"
#include "tests/bench/tasks.h"

// escrow_bench ESCROW WORKSPACE SCRATCH [ROUNDS]: the speed and memory goals of the project, measured and printed as
// one table. tests/bench/run makes the directories and the environment.
//
// All rows take turns in every round, so that whatever else the machine does falls on a row and on what it is compared
// with alike; what counts is the ratio. Nothing passes or fails by its time. A row whose work comes out wrong is said
// to be not measured: a fast wrong answer is no figure.

namespace escrow::bench {
namespace {

constexpr std::uint64_t kSeed = 20260101;

// ---- What is measured

std::function<double()> scoring(std::string diff, engine::Policy policy = engine::builtin_policy()) {
  return [diff = std::move(diff), policy = std::move(policy)] {
    const double began = now_ns();
    const engine::ParsedPatch change = engine::parse_diff(diff);
    const engine::PatchEvaluation verdict = engine::evaluate(change, {}, policy);
    const double took = now_ns() - began;
    must(change.issues.empty() && !change.patch.files.empty(), "the diff was not read whole");
    must(verdict.risk.score >= 0, "no score");
    return took;
  };
}

/// As many rules of one's own as a policy file may hold.
engine::Policy policy_with_rules() {
  engine::PolicyLayer layer;
  for (std::size_t i = 0; i < engine::kMaxOwnRules; ++i) {
    engine::OwnRule rule;
    rule.id = "r" + std::to_string(i);
    rule.pattern = "\\bforbidden" + std::to_string(i) + "_\\w+\\(";
    rule.paths = {"src/**"};
    rule.weight = 40;
    rule.severity = engine::Level::medium;
    rule.message = "not here";
    layer.own_rules.push_back(std::move(rule));
  }
  return engine::merge_layers({layer});
}

std::function<double()> classifying() {
  return [policy = engine::builtin_policy(), next = std::size_t{0}]() mutable {
    const std::string& command = typical_commands()[next++ % typical_commands().size()];
    engine::ActionContext context;
    context.venue = engine::Venue::cage;
    context.workspace_root = "/work/app";
    const engine::Action action = engine::ShellAction{command, "/work/app"};
    const double began = now_ns();
    const engine::Evaluation verdict = engine::evaluate(action, context, policy);
    const double took = now_ns() - began;
    must(!verdict.commands.empty(), "the command was not read");
    return took;
  };
}

/// A thousand grants of all kinds, as a busy year may leave them; one of them is the one looked for.
void fill_store(const std::string& file) {
  std::ofstream out(file);
  out << R"({"version":1,"grants":[)"
      << "\n";
  for (int i = 0; i < 1000; ++i) {
    const std::string n = std::to_string(i);
    const std::string what = i % 10 < 7   ? R"("tool":"shell","match":"tool)" + n + " run\""
                             : i % 10 < 9 ? R"("tool":"network","match":"host)" + n + R"(.example.org:443")"
                                          : R"("tool":"mcp","match":"server)" + n + R"(/query")";
    out << R"({"id":"g)" << n << R"(","effect":")" << (i % 3 == 0 ? "deny" : "allow") << "\"," << what
        << R"(,"scope":"user","autonomy":"medium","createdAt":)" << n << "},\n";
  }
  out << R"({"id":"wanted","effect":"allow","tool":"shell","match":"npm install","scope":"user","autonomy":"medium",)"
      << R"("createdAt":2000}]})";
}

/// What a judgement asks the store: is the file the one I read, and which grants could speak of this.
std::function<double()> looking_up_grants(const Setting& setting) {
  const std::string file = setting.scratch + "/grants.json";
  fill_store(file);
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  auto store = std::make_shared<server::GrantStore>(file);
  const engine::Action action = engine::ShellAction{"cd app && npm install left-pad", ""};
  const engine::ActionJudgement judged = engine::judge_action(action, {});
  must(store->index().all().size() == 1001 && store->notes().empty(), "the store was not read");
  return [store, action, judged] {
    constexpr int kTimes = 200;
    const double began = now_ns();
    std::size_t found = 0;
    for (int i = 0; i < kTimes; ++i) found += store->uncertain() ? 0 : store->index().about(action, judged).size();
    const double took = now_ns() - began;
    must(found == kTimes, "not the one grant was found");
    return took / kTimes;
  };
}

constexpr const char* kPolicyText = R"(version: 1
autonomy: medium
risk_bands:
  low:    { max_score: 30, actions: [unit_tests, lint, semgrep], human_review: false, auto_merge: true }
  medium: { min_score: 31, max_score: 70, actions: [unit_tests, codeql], human_review: false, auto_merge: true }
  high:   { min_score: 71, actions: [unit_tests, codeql], human_review: true, auto_merge: false }
checks: { unit_tests: { run: "npm test", timeout: 5m, required: true } }
rules:
  - { id: docs-host, effect: allow, network: "docs.example.org:443" }
  - { id: no-apply, effect: deny, command: [terraform, apply], match: [terraform apply -auto-approve], not_match: [terraform plan] }
sandbox: { limits: { wall: 10m, memory: 4G }, env_allow: [LANG, TERM], mask: ["secrets/**"] }
)";

/// All layers from their files, the ratchet's included.
std::function<double()> loading_policy(const Setting& setting) {
  const std::string base = setting.scratch + "/policy";
  for (const char* folder : {"/config", "/repository/.escrow"}) std::filesystem::create_directories(base + folder);
  std::ofstream(base + "/config/policy.yaml") << kPolicyText;
  std::filesystem::permissions(base + "/config/policy.yaml", std::filesystem::perms(0600));
  std::ofstream(base + "/repository/.escrow/policy.yaml")
      << "rules:\n  - { id: no-push, effect: deny, command: [git, push] }\n";
  server::Places places;
  places.config_dir = base + "/config";
  places.state_dir = base + "/state";
  places.system_policy = base + "/none.yaml";
  return [places, root = base + "/repository"] {
    const double began = now_ns();
    const auto policy = server::load_policy(places, {root});
    const double took = now_ns() - began;
    must(policy.has_value() && policy->rules.size() == 3, "the policy was not read");
    return took;
  };
}

std::string write_input(const Setting& setting, const std::string& name, const std::string& text) {
  std::string path = setting.scratch + "/" + name;
  std::ofstream(path) << text;
  return path;
}

double time_start(const Setting& setting) {
  const double began = now_ns();
  Session session(setting.escrow, setting.workspace);
  session.initialize();
  return now_ns() - began;
}

/// A server with a document open, and one character typed and taken back in it by turns.
std::function<double()> typing(const Setting& setting) {
  auto session = std::make_shared<Session>(setting.escrow, setting.workspace);
  session->initialize();
  const std::string uri = session->uri_of("incoming.patch");
  session->notify(
      "textDocument/didOpen",
      {{"textDocument",
        json::object{
            {"uri", uri}, {"languageId", "diff"}, {"version", 1}, {"text", "A change\n" + make_diff(10'000, kSeed)}}}});
  must(!session->wait_for("textDocument/publishDiagnostics").at("diagnostics").as_array().empty(), "no diagnostics");
  return [session, uri, version = 1]() mutable {
    const bool typed = ++version % 2 == 0;
    const json::object start{{"line", 0}, {"character", 0}}, end{{"line", 0}, {"character", typed ? 0 : 1}};
    const json::array changes{
        json::object{{"range", json::object{{"start", start}, {"end", end}}}, {"text", typed ? "x" : ""}}};
    const double began = now_ns();
    session->notify("textDocument/didChange",
                    {{"textDocument", json::object{{"uri", uri}, {"version", version}}}, {"contentChanges", changes}});
    const json::object published = session->wait_for("textDocument/publishDiagnostics");
    const double took = now_ns() - began;
    must(published.at("version") == json::value(version), "diagnostics of another version");
    return took;
  };
}

/// `escrow/execute` sent until `exited` received.
std::function<double()> executing(const Setting& setting) {
  auto session = std::make_shared<Session>(setting.escrow, setting.workspace);
  session->initialize();
  session->register_agent();
  return [session, call = 0]() mutable {
    const json::object command{{"argv", json::array{"/bin/true"}}};
    const json::object params = session->as_agent(
        {{"callId", "x" + std::to_string(++call)}, {"cwd", "file://" + session->root()}, {"command", command}});
    const double began = now_ns();
    const json::value started = session->call("escrow/execute", params);
    must(started.at("decision").as_string() == "allow", "the command was not allowed");
    const json::object exited = session->wait_for("escrow/execute/exited");
    const double took = now_ns() - began;
    must(exited.at("exitCode") == json::value(0), "the command did not exit with 0");
    return took;
  };
}

std::vector<Task> make_tasks(const Setting& setting) {
  const std::string diff = write_input(setting, "change.diff", make_diff(10'000, kSeed));
  std::vector<Task> tasks;
  const auto add = [&](const char* name, std::function<double()> measure, std::size_t repeats, std::size_t every) {
    tasks.push_back({.name = name, .measure = std::move(measure), .repeats = repeats, .every = every});
  };
  add("score 60", scoring(make_diff(60, kSeed)), 20, 1);
  add("score 1000", scoring(make_diff(1'000, kSeed)), 4, 1);
  add("score 10000", scoring(make_diff(10'000, kSeed)), 2, 1);
  add("score own", scoring(make_diff(10'000, kSeed), policy_with_rules()), 2, 1);
  add("score 100000", scoring(make_diff(100'000, kSeed)), 1, 4);
  add("classify", classifying(), typical_commands().size(), 1);
  add(
      "spawn", [] { return time_program({"/bin/true"}); }, 2, 1);
  add(
      "score process",
      [=] {
        return time_program({setting.escrow, "score"}, diff);
      },
      1, 1);
  tasks.push_back(prepare(
      "grants", [&] { return looking_up_grants(setting); }, 5));
  tasks.push_back(prepare(
      "policy", [&] { return loading_policy(setting); }, 5));
  tasks.push_back(prepare(
      "grants", [&] { return looking_up_grants(setting); }, 5));
  tasks.push_back(prepare(
      "policy", [&] { return loading_policy(setting); }, 5));
  add(
      "classify process",
      [=] {
        return time_program({setting.escrow, "classify", "--", "git status --short"});
      },
      1, 1);
  add(
      "start", [=] { return time_start(setting); }, 1, 2);
  add(
      "exec process",
      [=] {
        return time_program({setting.escrow, "exec", "--no-input", "--", "true"});
      },
      1, 1);
  tasks.push_back(prepare("bwrap", [&] {
    const auto argv = bare_bwrap(setting.workspace, setting.scratch, {"/bin/true"});
    return [argv] { return time_program(argv); };
  }));
  tasks.push_back(prepare(
      "type", [&] { return typing(setting); }, 2));
  tasks.push_back(prepare("execute", [&] { return executing(setting); }));
  tasks.push_back(prepare("burst", [&] {
    auto session = std::make_shared<Session>(setting.escrow, setting.workspace);
    session->initialize();
    constexpr std::size_t kRequests = 5'000;
    return [session] { return session->time_burst("escrow/status", kRequests) / kRequests; };
  }));
  return tasks;
}

// ---- Memory

/// A proposal that adds one small file, and its application.
void propose_and_apply(Session& session, std::size_t number) {
  const std::string name = "notes/note" + std::to_string(number) + ".txt", id = std::to_string(number);
  const std::string patch = "diff --git a/" + name + " b/" + name + "\nnew file mode 100644\n--- /dev/null\n+++ b/" +
                            name + "\n@@ -0,0 +1,2 @@\n+Note " + id + "\n+is short.\n";
  const json::object change{{"form", "patch"}, {"root", "file://" + session.root()}, {"text", patch}};
  const json::value review = session.call(
      "escrow/proposeDiff", session.as_agent({{"callId", "p" + id}, {"title", "Note " + id}, {"change", change}}));
  const json::value applied = session.call(
      "escrow/apply", session.as_agent({{"reviewId", review.at("reviewId")}, {"revision", review.at("revision")}}));
  must(applied.at("state").as_string() == "applied", "a proposal was not applied");
}

std::vector<Row> measure_memory(const Setting& setting) {
  constexpr std::size_t kProposals = 1'000, kMore = 250;
  Row idle{"server memory, idle", Unit::bytes, {}, {}, {}, "<= 25 MB", {}};
  Row busy{"server memory, 1,000 proposals applied", Unit::bytes, {}, {}, {}, "<= 60 MB", {}};
  Row growth{"server memory, growth a proposal after that", Unit::bytes, {}, {}, {}, "none", {}};
  Row proposal{"proposal scored, approved, applied", Unit::time, {}, {}, {}, "", {}};
  Row late{"the same, the last 250 of 1,250", Unit::time, {}, "the first 250", {}, "", {}};
  try {
    Session session(setting.escrow, setting.workspace);
    session.initialize();
    session.register_agent();
    idle.samples.add(session.resident_bytes());
    std::size_t number = 0;
    const auto propose = [&](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        const double began = now_ns();
        propose_and_apply(session, number++);
        const double took = now_ns() - began;
        proposal.samples.add(took);
        if (number <= kMore) late.peer.add(took);
        if (number > kProposals) late.samples.add(took);
        if (number % 50 == 0) show_progress("proposal", number, kProposals + kMore);
      }
    };
    propose(kProposals);
    const double before = session.resident_bytes();
    busy.samples.add(before);
    propose(kMore);
    growth.samples.add((session.resident_bytes() - before) / kMore);
  } catch (const std::exception& error) {
    for (Row* row : {&idle, &busy, &growth, &proposal, &late}) row->not_measured = error.what();
  }
  return {idle, busy, growth, proposal, late};
}

// ---- Report

struct Line {
  const char* work;
  const char* task;
  const char* target;
  const char* peer = nullptr;
  const char* against = "";
};

constexpr Line kLines[] = {
    {"score, 60-line diff, in-process", "score 60", "<= 200 us"},
    {"score, 1,000-line diff, in-process", "score 1000", ""},
    {"score, 10,000-line diff, in-process", "score 10000", "<= 5 ms; <= 11 x", "score 1000", "1,000 lines"},
    {"score, 100,000-line diff, in-process", "score 100000", "<= 11 x", "score 10000", "10,000 lines"},
    {"score, 10,000-line diff, 100 rules of one's own", "score own", "", "score 10000", "without"},
    {"score, 10,000-line diff, whole process", "score process", "<= 15 ms", "spawn", "posix_spawn"},
    {"classify one command, in-process", "classify", "<= 60 us"},
    {"classify one command, whole process", "classify process", "<= 6 ms", "spawn", "posix_spawn"},
    {"grant look-up among 1,000", "grants", "<= 5 us"},
    {"policy load, user and workspace file", "policy", "<= 5 ms"},
    {"plain posix_spawn of /bin/true", "spawn", ""},
    {"initialize -> result, server start included", "start", "<= 30 ms"},
    {"keystroke -> diagnostics, 10,000-line patch", "type", "p50 <= 5 ms, p99 <= 15 ms"},
    {"bare bubblewrap, same mounts, true", "bwrap", "", "spawn", "posix_spawn"},
    {"escrow exec -- true, cold, whole process", "exec process", "<= 1.5 x", "bwrap", "bare bubblewrap"},
    {"escrow/execute -> exited, /bin/true", "execute", "p50 <= 1.6 x, p99 <= 3 x", "spawn", "posix_spawn"},
};

std::vector<Row> report(const std::vector<Task>& tasks) {
  std::vector<Row> rows;
  for (const Line& line : kLines) {
    const Task& task = find(tasks, line.task);
    Row row{line.work, Unit::time, task.samples, line.against, {}, line.target, task.failure};
    if (line.peer != nullptr) row.peer = find(tasks, line.peer).samples;
    rows.push_back(std::move(row));
  }
  const Task& burst = find(tasks, "burst");
  rows.push_back({"small JSON-RPC requests, 5,000 at once",
                  Unit::per_second,
                  burst.samples,
                  "",
                  {},
                  ">= 50,000 /s",
                  burst.failure});
  return rows;
}

int run(const Setting& setting) {
  Machine machine;
  std::vector<Task> tasks = make_tasks(setting);
  take_turns(tasks, setting.rounds);
  std::vector<Row> rows = report(tasks);
  tasks.clear();  // and the servers in them
  const std::vector<Row> memory = measure_memory(setting);
  rows.insert(rows.end(), memory.begin(), memory.end());
  machine.print(rows, setting.rounds);
  return 0;
}

}  // namespace
}  // namespace escrow::bench

int main(int argc, char** argv) {
  if (argc < 4 || argc > 6) {
    std::fputs("usage: escrow_bench ESCROW WORKSPACE SCRATCH [ROUNDS [sandbox]]; tests/bench/run calls it\n", stderr);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  escrow::bench::Setting setting{argv[1], argv[2], argv[3]};
  if (argc >= 5) setting.rounds = std::max<std::size_t>(1, std::strtoul(argv[4], nullptr, 10));
  return argc == 6 ? escrow::bench::run_sandbox(setting) : escrow::bench::run(setting);
}
