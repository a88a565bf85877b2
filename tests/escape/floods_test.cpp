#include <chrono>

#include "tests/escape/escape_fixture.h"

// Attacks on what the machine has. None is run without the cage: a control would be the harm itself.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kMiB = 1u << 20;

/// A cage in which little is allowed, so that a flood that is stopped has not cost much.
class SmallCage : public AttackedCage {
 public:
  SmallCage() {
    profile.limits.memory_bytes = 192 * kMiB;
    profile.limits.wall = 20s;
    profile.limits.pids = 64;
  }
};

struct Flood {
  const char* name;
  std::string attack;
  const char* limit;
};

bool names_limit(const Execution& execution, const std::string& limit) {
  const auto& list = execution.violations;
  return std::find(list.begin(), list.end(), Violation{ViolationKind::limit, limit}) != list.end();
}

}  // namespace

TEST_CASE("a guest that takes more memory than it may is ended, in whatever way it takes it") {
  for (const Flood& row : std::vector<Flood>{
           {"a mapping shared with nobody yet", "shared-map=400", "memory"},
           {"memory files that are never mapped", "memory-files=400", "memory"},
           {"System V segments that nobody has attached", "segments=400", "memory"},
           {"many processes, each of which takes little", "many-processes=640", "memory"},
           {"a mapping, while the watcher is kept busy with signals", "busy-runner=120", "memory"},
       }) {
    SmallCage cage;
    if (row.attack.starts_with("many-processes")) cage.profile.limits.pids = 500;
    const auto began = std::chrono::steady_clock::now();
    const Execution execution = cage.attack({row.attack});
    INFO(row.name << ": " << name_of(execution.reason) << " " << text(execution.out));
    CHECK(execution.reason == ExitReason::limit);
    CHECK(names_limit(execution, row.limit));
    CHECK(std::chrono::steady_clock::now() - began < 20s);
  }
}

TEST_CASE("a private mapping beyond the limit is not given") {
  SmallCage cage;
  CHECK(cage.attack_one("private-map=400") == "ENOMEM");
}

TEST_CASE("a guest that starts more threads or processes than it may is refused or ended") {
  for (const char* attack : {"threads=500", "many-processes=2000"}) {
    SmallCage cage;
    cage.profile.limits.memory_bytes = 1024 * kMiB;
    const Execution execution = cage.attack({attack});
    INFO(attack << " " << name_of(execution.reason) << " " << text(execution.out));
    const bool refused = outcome_in(text(execution.out)) == "EAGAIN";
    CHECK((refused || names_limit(execution, "pids") || execution.reason == ExitReason::timeout));
  }
}

TEST_CASE("a guest that opens files without end runs out of descriptors, and nobody else does") {
  SmallCage cage;
  CHECK(cage.attack_one("descriptors") == "EMFILE");
  CHECK(UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)));
}

TEST_CASE("a guest that fills what is memory finds it small") {
  for (const char* directory : {"/tmp", "/dev/shm"}) {
    SmallCage cage;
    INFO(directory);
    CHECK(cage.attack_one(std::string("fill=") + directory) == "ENOSPC");
  }
  SmallCage cage;
  CHECK(text(cage.sh("./attacker fill=$HOME").out) == "fill ENOSPC\n");
}

TEST_CASE("a guest that writes one file without end is ended") {
  SmallCage cage;
  cage.profile.limits.file_size_bytes = 4 * kMiB;
  const Execution execution = cage.sh("exec dd if=/dev/zero of=big bs=64k 2>/dev/null");
  CHECK(execution.reason == ExitReason::limit);
  CHECK(names_limit(execution, "file-size"));
}

TEST_CASE("a guest that fills the disk with files, seen or unseen, is ended") {
  for (const char* attack : {"fill=.", "fill-deleted=."}) {
    SmallCage cage;
    INFO(attack);
    cage.profile.limits.stage_bytes = 64 * kMiB;
    const Execution execution = cage.attack({attack});
    CHECK(execution.reason == ExitReason::limit);
    CHECK(names_limit(execution, "stage"));
  }
  SmallCage cage;
  cage.profile.limits.stage_bytes = 256 * kMiB;
  cage.tree.write("old", std::string(8 * kMiB, 'x'));
  const Execution execution =
      cage.sh("for i in 1 2 3 4 5 6; do cp old new$i; rm new$i; cp old copy$i; sleep 0.1; done");
  CHECK(execution.exit_code == 0);
}

TEST_CASE("a guest that prints without end is heard in part, and counted whole") {
  SmallCage cage;
  cage.profile.limits.output_shown_bytes = 64 << 10;
  cage.profile.limits.output_kept_bytes = 1 << 20;
  std::uint64_t handed_on = 0;
  cage.on_output = [&](Stream, std::string_view bytes) { handed_on += bytes.size(); };
  const Execution execution = cage.sh("echo first; yes 0123456789abcde | head -c 32000000; echo; echo last");
  CHECK(execution.out.total_bytes == 32'000'000 + 6 + 6);
  CHECK(text(execution.out).size() <= (64 << 10));
  CHECK(execution.out.head.starts_with("first\n"));
  CHECK(execution.out.tail.ends_with("last\n"));
  CHECK(handed_on <= (1 << 20));
}

TEST_CASE("a guest that never ends is ended, whatever it calls itself and however it ignores the request") {
  SmallCage cage;
  cage.profile.limits.wall = 600ms;
  for (const char* script : {"trap '' TERM INT HUP QUIT; while :; do :; done",
                             "./attacker disguised-sleeper; ./attacker sleep-for-ever", "kill -STOP $$"}) {
    INFO(script);
    const auto began = std::chrono::steady_clock::now();
    CHECK(cage.sh(script).reason == ExitReason::timeout);
    CHECK(std::chrono::steady_clock::now() - began < 10s);
  }
}

TEST_CASE("a guest in a new session, named as what watches it, ends with its command") {
  SmallCage cage;
  const Execution execution = cage.attack({"disguised-sleeper"});
  CHECK(execution.exit_code == 0);
  usleep(100'000);
  CHECK(run_bare({"/usr/bin/pgrep", "-f", "escrow-runner sleep-for-ever"}).empty());
}
