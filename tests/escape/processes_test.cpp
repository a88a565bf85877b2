#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "tests/escape/escape_fixture.h"

// Attacks on other processes: the host's, and the runner inside.

using namespace escrow::sandbox;
using namespace escrow::sandbox::testing;

TEST_CASE("a process of the host cannot be signalled, steered or looked into") {
  AttackedCage cage;
  const Bystander bystander;
  const std::string pid = bystander.pid();
  for (const Attack& row : std::vector<Attack>{
           {"reading its environment", "open-environment=" + pid, "ENOENT"},
           {"reading where its memory lies", "open-maps=" + pid, "ENOENT"},
           {"opening its memory", "open-memory=" + pid, "ENOENT"},
           {"listing its descriptors", "list-descriptors=" + pid, "ENOENT"},
           {"going through its root", "list-root=" + pid, "ENOENT"},
           {"going through its working directory", "list-cwd=" + pid, "ENOENT"},
           {"changing its limits", "limit-other=" + pid, "ESRCH"},
           {"pinning it to a processor", "pin-other=" + pid, "ESRCH"},
           {"lowering its weight when memory is short", "lower-oom-score=" + pid, "ENOENT"},
       })
    check_attack(cage, row);
  // Last: outside of the cage it dies of it.
  CHECK(cage.attack_one("kill=" + pid) == "ESRCH");
  CHECK(is_one_of(cage.attack_one("kill-by-pidfd=" + pid), "ESRCH|EINVAL"));
  CHECK(bystander.is_alive());
  for (const char* attack : {"kill=", "kill-by-pidfd="}) {
    const Bystander victim;
    CHECK(outcome_in(run_bare({attacker_program().string(), attack + victim.pid()})) == "ok");
    usleep(50'000);
    CHECK_FALSE(victim.is_alive());
  }
}

TEST_CASE("a guest that kills everybody it can kills nobody else") {
  AttackedCage cage;
  const Bystander bystander;
  cage.attack_one("kill-everybody");
  CHECK(bystander.is_alive());
  skipped("control of: killing everybody", "it would end every process of this user");
}

TEST_CASE("the runner cannot be read, written, stopped or impersonated") {
  check_attacks({
      {"reading the runner's memory", "open-memory=1", "EACCES", Control::harmful, "process 1 is the host's"},
      {"reading the runner's environment", "open-environment=1", "EACCES", Control::harmful, "process 1 is the host's"},
      {"reading where its memory lies", "open-maps=1", "EACCES", Control::harmful, "process 1 is the host's"},
      {"taking one of its descriptors", "open-to-read=/proc/1/fd/0", "EACCES", Control::harmful,
       "process 1 is the host's"},
      {"going through its root", "list-root=1", "EACCES", Control::harmful, "process 1 is the host's"},
      {"going through its working directory", "list-cwd=1", "EACCES", Control::harmful, "process 1 is the host's"},
      {"making it the first to die when memory is short", "lower-oom-score=1", "EACCES", Control::harmful,
       "process 1 is the host's"},
      {"making oneself the last to die when memory is short", "lower-oom-score=self", "EACCES|EPERM"},
  });
  Cage cage;
  const Execution execution = cage.sh(
      "for s in KILL STOP TERM INT HUP SEGV USR1 CHLD CONT QUIT; do kill -$s 1; done; "
      "for fd in 3 4 64 65 66; do echo forged > /proc/1/fd/$fd; done; "
      "for fd in 3 4 5 64 65 66; do (echo forged >&$fd) 2>/dev/null; done; exit 5");
  CHECK(execution.exit_code == 5);
  CHECK(execution.reason == ExitReason::exit);
}

TEST_CASE("what a guest prints is never taken for a report of the runner") {
  Cage cage;
  // Packets as the protocol has them, by type.
  const Execution execution = cage.sh(
      "for t in 1 2 3 4 5 6 7; do printf \"\\00$t\\000\\000\\000\\000\"; printf \"\\00$t\\000\" >&2; done; exit 7");
  CHECK(execution.exit_code == 7);
  CHECK(execution.out.total_bytes == 35);
  CHECK(execution.err.total_bytes == 14);
}

TEST_CASE("memory and queues that the host's processes share cannot be opened") {
  AttackedCage cage;
  const std::string name = "/escrow-test-" + std::to_string(getpid());
  const key_t key = 0x45530000 + (getpid() & 0xffff);
  const int segment = shmget(key, 4096, IPC_CREAT | 0666);
  REQUIRE(segment >= 0);
  const int memory = shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  const mqd_t queue = mq_open(name.c_str(), O_CREAT | O_RDWR, 0644, nullptr);
  check_attack(cage, {"a System V segment", "shared-segment=" + std::to_string(key), "ENOENT"});
  check_attack(cage, {"a POSIX segment", "posix-memory=" + name, "ENOENT"});
  check_attack(cage, {"a POSIX message queue", "message-queue=" + name, "ENOENT"});
  shmctl(segment, IPC_RMID, nullptr);
  shm_unlink(name.c_str());
  if (queue != -1) mq_close(queue);
  mq_unlink(name.c_str());
  close(memory);
}
