#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/samples.h"

/// What is measured, in turns.
namespace escrow::bench {

struct Setting {
  std::string escrow, workspace, scratch;
  std::size_t rounds = 40;
};

/// Something measured once or more a round.
struct Task {
  std::string name;
  std::function<double()> measure;  ///< nanoseconds
  std::size_t repeats = 1;          ///< samples a round
  std::size_t every = 1;            ///< measured in every so manieth round
  Samples samples = {};
  std::string failure = {};
};

/// Throws what the report says.
void must(bool holds, const char* what);

/// What needs a server or a file of its own may fail before the first round.
Task prepare(std::string name, const std::function<std::function<double()>()>& make, std::size_t repeats = 1);

/// Each round begins with another task: none always runs after the same neighbour.
void take_turns(std::vector<Task>& tasks, std::size_t rounds);

const Task& find(const std::vector<Task>& tasks, const std::string& name);

/// On a terminal only, and gone when it is done.
void show_progress(const char* what, std::size_t done, std::size_t all);

/// What else this machine did: taken at the beginning, printed with the report.
class Machine {
 public:
  Machine();
  void print(const std::vector<Row>& rows, std::size_t rounds) const;

 private:
  std::string before_;
};

}  // namespace escrow::bench
