#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "server/store/audit_log.h"
#include "server/store/grant_store.h"
#include "tests/catch.h"
#include "tests/server/temp_dir.h"

using namespace escrow;
using namespace escrow::server;
using escrow::test::TempDir;

// The stores under many processes at once, as several editors, agents' hooks and terminals of one person are. Writers
// report what they were told is stored; readers check everything that they see; victims are killed at any moment.

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kWriters = 30, kReaders = 5;  // a process under a sanitizer takes a hundred times as long to start
#else
constexpr int kWriters = 200, kReaders = 20;
#endif
constexpr int kGrantsEach = 2;
constexpr long kVictimLifeNs = 10'000'000;

/// Ends without the test framework's own endings, which are the parent's.
[[noreturn]] void leave(bool fine) {
  ::_exit(fine ? 0 : 1);
}

pid_t spawn(const std::function<bool()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) leave(body());
  return pid;
}

void nap(long ns) {
  const timespec span{0, ns};
  ::nanosleep(&span, nullptr);
}

/// A pipe that many may write short lines to.
struct Report {
  int ends[2] = {-1, -1};
  Report() {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    ::fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
  }
  ~Report() {
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }
  void say(const std::string& line) const { (void)!::write(ends[1], (line + "\n").c_str(), line.size() + 1); }
  std::set<std::string> take() {
    ::close(std::exchange(ends[1], -1));
    std::string text(1 << 20, '\0');
    std::size_t size = 0;
    for (ssize_t got = 0; (got = ::read(ends[0], text.data() + size, text.size() - size)) > 0;)
      size += static_cast<std::size_t>(got);
    std::set<std::string> lines;
    for (std::size_t begin = 0; begin < size;) {
      const std::size_t end = text.find('\n', begin);
      lines.insert(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return lines;
  }
};

/// Writers, readers, and a victim each ten milliseconds until the writers are done.
struct Crowd {
  std::function<bool(int number)> write;
  std::function<bool(int stop_fd)> read;
  std::function<void(int number)> write_for_ever;

  int killed = 0;

  bool run() {
    int stop[2];
    if (::pipe2(stop, O_CLOEXEC) != 0) return false;
    std::vector<pid_t> writers, readers;
    for (int i = 0; i < kReaders; ++i)
      readers.push_back(spawn([&] {
        ::close(stop[1]);
        return read(stop[0]);
      }));
    for (int i = 0; i < kWriters; ++i) writers.push_back(spawn([&, i] { return write(i); }));
    bool fine = wait_and_kill(writers);
    ::close(stop[1]);
    for (const pid_t pid : readers) fine = ended_well(pid) && fine;
    ::close(stop[0]);
    return fine;
  }

 private:
  static bool ended_well(pid_t pid) {
    int status = 0;
    return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  bool wait_and_kill(const std::vector<pid_t>& writers) {
    bool fine = true;
    std::size_t done = 0;
    std::set<pid_t> open(writers.begin(), writers.end());
    while (done < writers.size()) {
      const pid_t victim = spawn([&] {
        for (int n = 0;; ++n) write_for_ever(kWriters + 1000 * (killed + 1) + n);
        return true;
      });
      nap(kVictimLifeNs);
      ::kill(victim, SIGKILL);
      ::waitpid(victim, nullptr, 0);
      ++killed;
      for (auto at = open.begin(); at != open.end();) {
        int status = 0;
        if (::waitpid(*at, &status, WNOHANG) != *at) {
          ++at;
          continue;
        }
        fine = fine && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        at = open.erase(at);
        ++done;
      }
    }
    return fine;
  }
};

/// True once the parent has closed its end.
bool is_closed(int fd) {
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  char c = 0;
  return ::read(fd, &c, 1) == 0;
}

engine::Grant grant_of(int writer, int n) {
  engine::Grant grant;
  grant.effect = writer % 2 == 0 ? engine::GrantEffect::allow : engine::GrantEffect::deny;
  grant.tool = "shell";
  grant.scope = engine::Scope::user;
  grant.match = "make w" + std::to_string(writer) + "-" + std::to_string(n);
  grant.reason = "because of " + grant.match;
  return grant;
}

/// Whole, and what one writer wrote.
bool is_sound(const engine::Grant& grant) {
  return grant.reason == "because of " + grant.match && grant.match.starts_with("make w") && !grant.id.empty();
}

}  // namespace

TEST_CASE("two hundred processes writing grants, twenty reading and one killed each ten milliseconds lose nothing") {
  const TempDir dir;
  const std::string file = dir / "grants.json";
  Report stored;
  Crowd crowd;
  const auto add = [&](int writer, int n) {
    GrantStore store(file);
    const auto added = store.add(grant_of(writer, n));
    if (added) stored.say(added->match);
    return added.has_value();
  };
  crowd.write = [&](int number) {
    bool fine = true;
    for (int n = 0; n < kGrantsEach; ++n) fine = add(number, n) && fine;
    return fine;
  };
  crowd.write_for_ever = [&](int number) { (void)add(number, 0); };
  crowd.read = [&](int stop_fd) {
    GrantStore store(file);
    std::set<std::string> before;
    while (!is_closed(stop_fd)) {
      std::set<std::string> now;
      for (const auto& grant : store.current(1)) {
        if (!is_sound(grant)) return false;
        now.insert(grant.match);
      }
      // Nothing is revoked here: whatever was there once stays there.
      if (!store.notes().empty() || store.uncertain()) return false;
      if (!std::includes(now.begin(), now.end(), before.begin(), before.end())) return false;
      before = std::move(now);
      nap(1'000'000);
    }
    return !before.empty();
  };
  CHECK(crowd.run());
  CHECK(crowd.killed > 10);

  GrantStore store(file);
  std::multiset<std::string> kept;
  for (const auto& grant : store.current(1)) {
    CHECK(is_sound(grant));
    kept.insert(grant.match);
  }
  CHECK(store.notes().empty());
  for (int writer = 0; writer < kWriters; ++writer)
    for (int n = 0; n < kGrantsEach; ++n) CHECK(kept.count(grant_of(writer, n).match) == 1);
  for (const std::string& match : stored.take()) CHECK(kept.count(match) == 1);
  std::size_t leftovers = 0;
  REQUIRE(store.add(grant_of(0, 99)).has_value());
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    leftovers += entry.path().filename().string().find(".new-") != std::string::npos ? 1 : 0;
  CHECK(leftovers == 0);
}

TEST_CASE("the audit log keeps one chain through two hundred writers, rotations and kills") {
  const TempDir dir;
  const std::string file = dir / "audit.jsonl";
  constexpr std::int64_t kSmall = kWriters * 82;  // so that there are rotations, however many write
  Report stored;
  Crowd crowd;
  const auto append = [&](int writer, int n) {
    AuditLog log(file, kSmall);
    const std::string name = "w" + std::to_string(writer) + "-" + std::to_string(n);
    const bool fine = log.append("event", {{"name", name}, {"text", std::string(100, 'x')}}).has_value();
    if (fine) stored.say(name);
    return fine;
  };
  crowd.write = [&](int number) {
    bool fine = true;
    for (int n = 0; n < kGrantsEach; ++n) fine = append(number, n) && fine;
    return fine;
  };
  crowd.write_for_ever = [&](int number) { (void)append(number, 0); };
  crowd.read = [&](int stop_fd) {
    const AuditLog log(file, kSmall);
    std::size_t before = 0;
    while (!is_closed(stop_fd)) {
      const auto verified = log.verify();
      if (!verified.ok || verified.entries < before) return false;
      before = verified.entries;
      nap(5'000'000);
    }
    return before > 0;
  };
  CHECK(crowd.run());
  CHECK(crowd.killed > 10);

  const AuditLog log(file, kSmall);
  const auto verified = log.verify();
  CHECK(verified.problem.empty());
  CHECK(log.files().size() > 2);
  std::multiset<std::string> kept;
  std::int64_t last = 0;
  for (const auto& entry : log.tail(100'000)) {
    CHECK(entry.at("seq").as_int64() == ++last);
    if (entry.contains("name")) kept.insert(std::string(entry.at("name").as_string()));
  }
  for (int writer = 0; writer < kWriters; ++writer)
    for (int n = 0; n < kGrantsEach; ++n)
      CHECK(kept.count("w" + std::to_string(writer) + "-" + std::to_string(n)) == 1);
  for (const std::string& name : stored.take()) CHECK(kept.count(name) == 1);
}
