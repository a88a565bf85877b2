#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "engine/evaluate.h"
#include "server/store/config.h"
#include "server/store/grant_store.h"
#include "tests/catch.h"
#include "tests/server/temp_dir.h"

using namespace escrow;
using namespace escrow::server;
using escrow::test::TempDir;

// tests/corpus/policy and tests/corpus/grants: malformed files, written by hand and found by fuzzing. Each must be
// refused with its place, and none may leave the person with less than the same place would have without it.

namespace {

std::vector<std::filesystem::path> corpus_of(const std::string& name) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(ESCROW_SOURCE_DIR) + "/tests/corpus/" + name))
    out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Of every level, in the cage and on the host.
const std::vector<engine::Action>& probes() {
  static const std::vector<engine::Action> kProbes = {
      engine::ShellAction{"ls", ""},
      engine::ShellAction{"make lint", ""},
      engine::ShellAction{"npm install left-pad", ""},
      engine::ShellAction{"npm publish", ""},
      engine::ShellAction{"rm -rf /", ""},
      engine::ShellAction{"git push --force", ""},
      engine::ExecAction{{"make", "lint"}, "", {}},
      engine::FileAction{engine::FileOp::write, {"docs/a.md"}, ""},
      engine::FileAction{engine::FileOp::write, {".git/hooks/pre-commit"}, ""},
      engine::NetworkAction{"docs.example.org", 443},
      engine::McpAction{"db", "query", false},
      engine::OtherAction{"deploy"},
  };
  return kProbes;
}

std::vector<engine::Verdict> verdicts(const engine::Policy& policy, GrantStore* store) {
  std::vector<engine::Verdict> out;
  for (const auto venue : {engine::Venue::cage, engine::Venue::host}) {
    for (const auto& action : probes()) {
      engine::ActionContext context;
      context.venue = venue;
      context.workspace_root = "/w";
      context.grant_context.workspace = "/w";
      context.grant_context.now_ms = 1000;
      if (store != nullptr) {
        context.grants_uncertain = store->uncertain();
        context.grant_index = &store->index();
      }
      out.push_back(engine::evaluate(action, context, policy).decision.verdict);
    }
  }
  return out;
}

bool never_looser(const std::vector<engine::Verdict>& now, const std::vector<engine::Verdict>& before) {
  return std::equal(now.begin(), now.end(), before.begin(), before.end(),
                    [](engine::Verdict a, engine::Verdict b) { return a >= b; });
}

bool every_line_is_located(const std::string& text, const std::string& file) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    static const std::regex kPlace(":[1-9][0-9]*:[1-9][0-9]*: .+");
    if (!line.starts_with(file) || !std::regex_match(line.substr(file.size()), kPlace)) return false;
    begin = end + 1;
  }
  return !text.empty();
}

}  // namespace

TEST_CASE("every malformed policy is refused with its place, and holds more strictly than no file") {
  const auto corpus = corpus_of("policy");
  CHECK(corpus.size() >= 40);
  const auto before = verdicts(engine::builtin_policy(), nullptr);
  for (const auto& path : corpus) {
    INFO(path.filename().string());
    const TempDir dir;
    std::filesystem::create_directories(dir / "config");
    const Places places{.config_dir = dir / "config",
                        .state_dir = dir / "state",
                        .runtime_dir = dir / "run",
                        .grants_file = dir / "state/grants.json",
                        .system_policy = dir / "none.yaml"};
    const bool by_person = GENERATE(true, false);
    const std::string name = by_person ? "config/policy.yaml" : "work/.escrow/policy.yaml";
    dir.write(name, bytes_of(path));
    ::chmod((dir / name).c_str(), 0600);
    const auto policy = load_policy(places, {dir / "work"});
    REQUIRE_FALSE(policy.has_value());
    CAPTURE(policy.error().message);
    CHECK(every_line_is_located(policy.error().message, dir / name));
    CHECK(policy.error().message.find('\x1b') == std::string::npos);
    const auto strict = load_policy_or_strict(places, {dir / "work"});
    CHECK(never_looser(verdicts(strict, nullptr), before));
    CHECK(strict.notes.at(0) == policy.error().message);
    CHECK(strict.mode == engine::Mode::enforce);
    CHECK(strict.network_allow.empty());
  }
}

TEST_CASE("every malformed grant store is refused with its place, and allows no more than none") {
  const auto corpus = corpus_of("grants");
  CHECK(corpus.size() >= 40);
  const engine::Policy policy = engine::builtin_policy();
  const auto before = verdicts(policy, nullptr);
  for (const auto& path : corpus) {
    INFO(path.filename().string());
    const TempDir dir;
    dir.write("grants.json", bytes_of(path));
    ::chmod((dir / "grants.json").c_str(), 0600);
    GrantStore store(dir / "grants.json");
    const auto now = verdicts(policy, &store);
    REQUIRE_FALSE(store.notes().empty());
    for (const auto& note : store.notes()) {
      CAPTURE(note);
      CHECK(every_line_is_located(note, store.file()));
      CHECK(note.find('\x1b') == std::string::npos);
    }
    // What the sound entries beside the damage allow is named for it; nothing else is looser than without a store.
    const bool has_sound_allow = path.filename().string().find("beside_allow") != std::string::npos;
    if (!has_sound_allow) CHECK(never_looser(now, before));
    // The file is left as it is, whatever is asked.
    const auto added = store.revoke("g-none");
    CHECK(bytes_of(dir / "grants.json") == bytes_of(path));
    CHECK((!added.has_value() || !*added));
  }
}

TEST_CASE("damage beside sound entries voids neither the allow nor the deny, and the next writer keeps it aside") {
  const TempDir dir;
  dir.write("grants.json", R"({"version":1,"grants":[
{"id":"a","effect":"allow","tool":"shell","scope":"user","autonomy":"medium","createdAt":1,"match":"npm install"},
{"id":"x","effect":"allow","tool":"shell","scope":"user","autonomy":"medium","createdAt":2,"match":"bash"},
{"id":"d","effect":"deny","tool":"shell","scope":"user","autonomy":"high","createdAt":3,"match":"npm publish"}
]})");
  ::chmod((dir / "grants.json").c_str(), 0600);
  GrantStore store(dir / "grants.json");
  CHECK(store.current(5).size() == 2);
  CHECK(store.notes() ==
        std::vector<std::string>{store.file() +
                                 ":3:100: match: grant: `bash` alone would allow too much; name the program that the "
                                 "shell would run, as in `make lint` (grant 2 allows nothing)"});
  CHECK_FALSE(store.uncertain());  // what says allow is no lost deny
  engine::Grant deny;
  deny.tool = "shell";
  deny.match = "make deploy";
  deny.created_ms = 9;
  deny.scope = engine::Scope::user;
  REQUIRE(store.add(deny).has_value());
  CHECK(store.current(5).size() == 3);
  CHECK(dir.read("grants.json").find(R"("match":"bash")") != std::string::npos);
  CHECK(store.notes().at(0).starts_with(store.file() + ":3:"));
  REQUIRE(store.revoke("x").has_value());
  CHECK(store.current(5).size() == 3);
  CHECK(store.notes().empty());
}

TEST_CASE("the schema version of the store is exported, written, and every other one refused") {
  const TempDir dir;
  GrantStore store(dir / "grants.json");
  engine::Grant deny;
  deny.tool = "shell";
  deny.scope = engine::Scope::user;
  REQUIRE(store.add(deny).has_value());
  CHECK(dir.read("grants.json").starts_with("{\"version\":" + std::to_string(kGrantStoreVersion) + ","));
  dir.write("grants.json", R"({"version":2,"grants":[]})");
  CHECK(store.current(1).empty());
  CHECK(store.notes().at(0) == store.file() +
                                   ":1:12: version 2, and this Escrow reads version 1 only; nothing in this store is "
                                   "used: mend it, or move it away");
  CHECK_FALSE(store.add(deny).has_value());
}

TEST_CASE("sort order is stable over more than two entries, whoever wrote them") {
  const TempDir dir;
  GrantStore store(dir / "grants.json");
  for (const std::int64_t created : {30, 10, 20, 10}) {
    engine::Grant deny;
    deny.tool = "shell";
    deny.scope = engine::Scope::user;
    deny.created_ms = created;
    REQUIRE(store.add(deny).has_value());
  }
  const auto grants = store.current(100);
  REQUIRE(grants.size() == 4);
  CHECK(std::is_sorted(grants.begin(), grants.end(), [](const auto& a, const auto& b) {
    return std::tie(a.created_ms, a.id) < std::tie(b.created_ms, b.id);
  }));
  const std::string before = dir.read("grants.json");
  REQUIRE(store.revoke(store.add(grants[0])->id).has_value());
  CHECK(dir.read("grants.json") == before);
}

TEST_CASE("an attack: a store that others may write, or that is a link, allows nothing") {
  const TempDir dir;
  dir.write("real.json", R"({"version":1,"grants":[{"id":"a","effect":"allow","tool":"shell","scope":"user",)"
                         R"("autonomy":"medium","createdAt":1,"match":"npm install"}]})");
  const auto why = [](GrantStore&& store) {
    CHECK(store.current(5).empty());
    CHECK(store.uncertain());
    return store.notes().empty() ? std::string() : store.notes().at(0);
  };
  ::chmod((dir / "real.json").c_str(), 0666);
  CHECK(why(GrantStore(dir / "real.json")).find("can be written by others") != std::string::npos);
  ::chmod((dir / "real.json").c_str(), 0600);
  std::filesystem::create_symlink(dir / "real.json", dir / "grants.json");
  CHECK(why(GrantStore(dir / "grants.json")).find("symbolic link") != std::string::npos);
  std::filesystem::create_directory(dir / "dir.json");
  CHECK(why(GrantStore(dir / "dir.json")).find("not a regular file") != std::string::npos);
}
