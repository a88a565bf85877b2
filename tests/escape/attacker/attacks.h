#pragma once

#include <cerrno>
#include <string>
#include <vector>

/// What the attacker tries. Each attack is harmless even where it succeeds: what it needs it makes itself, and what it
/// opens it does not write to.
namespace attacker {

/// 0: it worked. Otherwise errno, or `kSignal` and the number of the signal that killed it.
using Outcome = int;
inline constexpr Outcome kSignal = 1000;

struct Attack {
  const char* name;
  Outcome (*run)(const std::string& argument);
};

std::vector<Attack> process_attacks();
std::vector<Attack> kernel_attacks();
std::vector<Attack> file_attacks();
std::vector<Attack> network_attacks();
std::vector<Attack> flood_attacks();

inline Outcome of(bool succeeded) {
  return succeeded ? 0 : errno;
}

/// The call's outcome as it is, without libc in between.
Outcome raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);

template <class T>
long word(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

/// The outcome of a child that does this and ends.
Outcome in_child(Outcome (*action)());

/// A child that waits until it is killed. Ended with this object.
class Victim {
 public:
  Victim();
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  int pid() const { return pid_; }

 private:
  int pid_;
};

}  // namespace attacker
