#include <boost/json.hpp>

#include "server/review/change.h"
#include "server/store/audit_log.h"
#include "server/store/grant_store.h"
#include "server/store/review_store.h"
#include "tests/catch.h"
#include "tests/server/temp_dir.h"

using namespace escrow;
using namespace escrow::server;
using escrow::test::TempDir;

namespace {

engine::Grant allow(const std::string& match, engine::Scope scope = engine::Scope::workspace) {
  engine::Grant grant;
  grant.effect = engine::GrantEffect::allow;
  grant.tool = "shell";
  grant.match = match;
  grant.scope = scope;
  grant.workspace = "/w";
  grant.session = "s";
  return grant;
}

}  // namespace

TEST_CASE("a grant written by one process is seen by another, and its revocation at once") {
  TempDir dir;
  GrantStore mine(dir / "grants.json"), theirs(dir / "grants.json");
  const auto added = mine.add(allow("npm install"));
  REQUIRE(added.has_value());
  REQUIRE(theirs.current(0).size() == 1);
  CHECK(theirs.current(0)[0] == *added);
  REQUIRE((theirs.revoke(added->id)).has_value());
  CHECK(mine.current(0).empty());
}

TEST_CASE("odd text in a grant survives the store") {
  TempDir dir;
  GrantStore store(dir / "grants.json");
  engine::Grant grant = allow("npm install");
  grant.reason = std::string("quotes \" newline \n tab \t \xE2\x82\xAC ") + std::string(65536, 'x');
  REQUIRE((store.add(grant)).has_value());
  GrantStore again(dir / "grants.json");
  REQUIRE(again.current(0).size() == 1);
  CHECK(again.current(0)[0].reason == grant.reason);
}

TEST_CASE("one damaged entry neither voids the rest, nor is lost, nor allows anything") {
  TempDir dir;
  GrantStore store(dir / "grants.json");
  REQUIRE((store.add(allow("npm install"))).has_value());
  auto root = boost::json::parse(dir.read("grants.json")).as_object();
  const std::string damage = GENERATE(
      R"({"effect":"allow"})", R"({"id":"g","effect":"ALLOW","tool":"shell","scope":"user","autonomy":"high"})",
      R"({"id":"g","effect":"allow","tool":"shell","match":"bash","scope":"user","autonomy":"high"})", "17", "null",
      R"({"id":"g","effect":"allow","tool":"shell","match":"ls","scope":"user","autonomy":"high","expiresAt":"never"})");
  root["grants"].as_array().push_back(boost::json::parse(damage));
  dir.write("grants.json", boost::json::serialize(root));
  CHECK(store.current(0).size() == 1);
  CHECK(store.notes().size() == 1);
  REQUIRE((store.add(allow("npm ci"))).has_value());
  CHECK(boost::json::parse(dir.read("grants.json")).as_object()["grants"].as_array().size() == 3);
}

TEST_CASE("a store that is not JSON allows nothing and is not overwritten") {
  TempDir dir;
  dir.write("grants.json", "{ half a file");
  GrantStore store(dir / "grants.json");
  CHECK(store.current(0).empty());
  CHECK(store.notes().size() == 1);
  CHECK_FALSE((store.add(allow("npm ci"))).has_value());
  CHECK(dir.read("grants.json") == "{ half a file");
}

TEST_CASE("expired grants are not there") {
  TempDir dir;
  GrantStore store(dir / "grants.json");
  engine::Grant grant = allow("npm install");
  grant.expires_ms = 1000;
  REQUIRE((store.add(grant)).has_value());
  CHECK(store.current(999).size() == 1);
  CHECK(store.current(1000).empty());
}

TEST_CASE("session grants never reach the disk, and die with their session") {
  TempDir dir;
  GrantStore store(dir / "grants.json");
  REQUIRE((store.add(allow("npm install", engine::Scope::session))).has_value());
  CHECK_FALSE(dir.exists("grants.json"));
  CHECK(store.current(0).size() == 1);
  store.end_session("s");
  CHECK(store.current(0).empty());
}

TEST_CASE("the audit chain holds, and any change to it shows") {
  TempDir dir;
  AuditLog log(dir / "audit.jsonl");
  for (int i = 0; i < 5; ++i) REQUIRE((log.append("event", {{"n", i}})).has_value());
  REQUIRE(log.verify().ok);
  CHECK(log.verify().entries == 5);
  const std::string good = dir.read("audit.jsonl");
  const auto lines = [&] {
    std::vector<std::string> all;
    std::istringstream in(good);
    for (std::string line; std::getline(in, line);) all.push_back(line + "\n");
    return all;
  }();
  SECTION("a changed line") {
    std::string bad = good;
    bad.replace(bad.find("\"n\":1"), 5, "\"n\":7");
    dir.write("audit.jsonl", bad);
    CHECK_FALSE(log.verify().ok);
  }
  SECTION("a removed line") {
    dir.write("audit.jsonl", lines[0] + lines[1] + lines[3] + lines[4]);
    CHECK(log.verify().problem.starts_with(log.file() + ":3: "));
  }
  SECTION("two lines swapped") {
    dir.write("audit.jsonl", lines[0] + lines[2] + lines[1] + lines[3] + lines[4]);
    CHECK_FALSE(log.verify().ok);
  }
  SECTION("a line of garbage in between") {
    dir.write("audit.jsonl", lines[0] + "garbage\n" + lines[1]);
    CHECK_FALSE(log.verify().ok);
  }
  SECTION("a cut tail is found by its anchor alone") {
    const std::string anchor = log.verify().last_hash;
    dir.write("audit.jsonl", lines[0] + lines[1]);
    CHECK(log.verify().ok);
    CHECK_FALSE(log.verify(anchor).ok);
  }
}

TEST_CASE("a torn audit line is closed, noted, and the chain goes on") {
  TempDir dir;
  AuditLog log(dir / "audit.jsonl");
  REQUIRE((log.append("one", {})).has_value());
  dir.write("audit.jsonl", dir.read("audit.jsonl") + R"({"seq":2,"time":1,"eve)");
  CHECK(log.verify().ok);
  CHECK(log.verify().note.starts_with(log.file() + ":2: cut off"));
  REQUIRE((log.append("two", {})).has_value());
  CHECK(log.verify().ok);
  CHECK(log.verify().note.empty());
  CHECK(log.tail(10).size() == 3);
  CHECK(log.tail(10)[1].at("event") == "torn");
}

TEST_CASE("a full audit log is set aside, and the chain goes on in its successor") {
  TempDir dir;
  AuditLog log(dir / "audit.jsonl", 600);
  for (int i = 0; i < 20; ++i) REQUIRE((log.append("event", {{"n", i}})).has_value());
  REQUIRE(log.files().size() > 3);
  CHECK(log.files().front() == dir / "audit-000001.jsonl");
  CHECK(log.verify().ok);
  CHECK(log.verify().entries == 20);
  const auto newest = log.tail(7);
  REQUIRE(newest.size() == 7);
  CHECK(newest.front().at("n") == 13);
  CHECK(newest.back().at("seq") == 20);
  const auto half = log.tail(100, {.kind = "event"});
  CHECK(half.size() == 20);
  SECTION("a torn last line is closed before the file is set aside") {
    dir.write("audit.jsonl", dir.read("audit.jsonl") + std::string(700, 'x'));
    REQUIRE((log.append("after", {})).has_value());
    CHECK(log.verify().problem.empty());
    CHECK(log.tail(2).front().at("event") == "torn");
  }
  SECTION("a file that was taken away is missed") {
    std::filesystem::remove(log.files().at(1));
    CHECK_FALSE(log.verify().ok);
  }
  SECTION("the first file taken away is missed") {
    std::filesystem::remove(log.files().front());
    CHECK(log.verify().problem.find("what stood before it is missing") != std::string::npos);
  }
}

TEST_CASE("a follower reads on through a rotation, and waits for the end of a line") {
  TempDir dir;
  AuditLog log(dir / "audit.jsonl", 600);
  REQUIRE((log.append("old", {})).has_value());
  AuditFollower follower(log.file());
  CHECK(follower.read_new().empty());
  REQUIRE((log.append("event", {{"n", 0}})).has_value());
  CHECK(follower.read_new().size() == 1);
  std::size_t seen = 1;
  for (int i = 1; i < 20; ++i) {
    REQUIRE((log.append("event", {{"n", i}})).has_value());
    for (const auto& entry : follower.read_new()) CHECK(entry.at("n") == static_cast<int>(seen++));
  }
  CHECK(log.files().size() > 3);
  CHECK(seen == 20);
}

TEST_CASE("an audit filter takes what names the agent, the kind, the file, the review and the time") {
  const boost::json::object entry{{"seq", 1},
                                  {"time", 1000},
                                  {"event", "grant.revoke"},
                                  {"agent", "coder"},
                                  {"reviewId", "r-1"},
                                  {"agentId", "a-1"},
                                  {"files", boost::json::array{"src/deep/a.txt"}}};
  CHECK(AuditFilter{}.wants(entry));
  CHECK(AuditFilter{.agent = "coder"}.wants(entry));
  CHECK(AuditFilter{.agent = "a-1"}.wants(entry));
  CHECK(AuditFilter{.kind = "grant"}.wants(entry));
  CHECK(AuditFilter{.file = "deep/a.txt"}.wants(entry));
  CHECK(AuditFilter{.review = "r-1"}.wants(entry));
  CHECK(AuditFilter{.since_ms = 1000, .until_ms = 1001}.wants(entry));
  CHECK_FALSE(AuditFilter{.until_ms = 1000}.wants(entry));
  CHECK_FALSE(AuditFilter{.kind = "gran"}.wants(entry));
  CHECK_FALSE(AuditFilter{.file = ".txt"}.wants(entry));
  CHECK_FALSE(AuditFilter{.agent = "other"}.wants(entry));
}

TEST_CASE("a review survives its process, contents and marks included") {
  TempDir dir;
  Review review;
  review.id = "r-1";
  review.root = "/w";
  review.title = "a title";
  review.files.push_back(make_review_file("a.txt", "a.txt",
                                          {.kind = ImageKind::file, .mode = 0644, .content = "a\nb\n"},
                                          {.kind = ImageKind::file, .mode = 0755, .content = "a\nB\n"}));
  review.files.push_back(
      make_review_file("gone", "gone", {.kind = ImageKind::symlink, .mode = 0777, .content = "a.txt"}, {}));
  review.files[0].hunks[0].mark = HunkMark::approved;
  review.risk.signals.push_back({.rule = "secret-literal",
                                 .file = "a.txt",
                                 .line = 2,
                                 .end_line = 2,
                                 .severity = engine::Level::critical,
                                 .weight = 85,
                                 .message = "m",
                                 .cwe = {"CWE-798"}});
  ReviewStore store(dir / "reviews");
  REQUIRE((store.put(review)).has_value());
  const auto again = ReviewStore(dir / "reviews").get("r-1");
  REQUIRE(again.has_value());
  CHECK(again->files[0].after == review.files[0].after);
  CHECK(again->files[0].hunks[0].mark == HunkMark::approved);
  CHECK(again->files[0].patch == review.files[0].patch);
  CHECK(again->files[1].before == review.files[1].before);
  CHECK(again->risk == review.risk);
}

TEST_CASE("attack: a review whose stored content was exchanged is not believed") {
  TempDir dir;
  Review review;
  review.id = "r-1";
  review.files.push_back(
      make_review_file("a", "a", {}, {.kind = ImageKind::file, .mode = 0644, .content = "reviewed\n"}));
  ReviewStore store(dir / "reviews");
  REQUIRE((store.put(review)).has_value());
  for (const auto& blob : std::filesystem::directory_iterator(dir / "reviews/blobs")) {
    std::ofstream(blob.path()) << "something else\n";
  }
  // Whoever reviewed it still has what was reviewed; whoever reads it from the disk has nothing.
  CHECK(store.get("r-1").value().files[0].after.content == "reviewed\n");
  CHECK_FALSE((ReviewStore(dir / "reviews").get("r-1")).has_value());
}

TEST_CASE("sweeping keeps every content that a review needs, and takes away the others") {
  TempDir dir;
  Review review;
  review.id = "r-1";
  for (const char* name : {"a", "b", "c"})
    review.files.push_back(
        make_review_file(name, name, {.kind = ImageKind::file, .mode = 0644, .content = "old\n"},
                         {.kind = ImageKind::file, .mode = 0644, .content = std::string(name) + "\n"}));
  ReviewStore store(dir / "reviews");
  REQUIRE((store.put(review)).has_value());
  Review settled = review;
  settled.id = "r-2";
  settled.state = ReviewState::rejected;
  settled.files.resize(1);
  settled.files[0] = make_review_file("z", "z", {}, {.kind = ImageKind::file, .mode = 0644, .content = "only here\n"});
  REQUIRE((store.put(settled)).has_value());
  ReviewStore(dir / "reviews").sweep(1);
  const auto again = ReviewStore(dir / "reviews").get("r-1");
  REQUIRE(again.has_value());
  CHECK(again->files.size() == 3);
  CHECK(again->files[2].after.content == "c\n");
  CHECK_FALSE(ReviewStore(dir / "reviews").get("r-2").has_value());
  const auto blobs = std::filesystem::directory_iterator(dir / "reviews/blobs");
  CHECK(std::distance(begin(blobs), end(blobs)) == 4);
}

TEST_CASE("a settled review is listed without its contents, an open one with them") {
  TempDir dir;
  Review review;
  review.id = "r-1";
  review.root = "/w";
  for (const char* name : {"a", "b"})
    review.files.push_back(
        make_review_file(name, name, {}, {.kind = ImageKind::file, .mode = 0644, .content = std::string(name) + "\n"}));
  ReviewStore store(dir / "reviews");
  REQUIRE((store.put(review)).has_value());
  review.id = "r-2";
  review.state = ReviewState::applied;
  review.undo_id = "u-1";
  REQUIRE((store.put(review)).has_value());
  const ReviewStore fresh(dir / "reviews");
  REQUIRE(fresh.open("/w").size() == 1);
  CHECK(fresh.open("/w")[0]->files[1].after.content == "b\n");
  REQUIRE(fresh.settled("/w").size() == 1);
  CHECK(fresh.settled("/w")[0]->undo_id == "u-1");
  CHECK(fresh.settled("/w")[0]->files[1].path == "b");
  CHECK(fresh.settled("/w")[0]->files[1].after.content.empty());
  CHECK(fresh.get("r-2").value().files[1].after.content == "b\n");
  CHECK(fresh.open("/elsewhere").empty());
}

TEST_CASE("attack: a review id is never a path") {
  TempDir dir;
  dir.write("secret.json", "{}");
  ReviewStore store(dir / "reviews");
  const std::string id = GENERATE("../secret", "/etc/passwd", "", "a/b", "r-1.json");
  const auto review = store.get(id);
  REQUIRE_FALSE(review.has_value());
  CHECK(review.error().kind == ErrorKind::not_found);
}
