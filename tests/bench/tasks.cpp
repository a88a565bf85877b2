#include "tests/bench/tasks.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace escrow::bench {
namespace {

std::string load() {
  double averages[3] = {};
  if (::getloadavg(averages, 3) < 1) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", averages[0]);
  return text;
}

void measure_once(Task& task) {
  if (!task.failure.empty()) return;
  try {
    for (std::size_t i = 0; i < task.repeats; ++i) task.samples.add(task.measure());
  } catch (const std::exception& error) {
    task.failure = error.what();
    task.samples = {};
  }
}

}  // namespace

void must(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

Task prepare(std::string name, const std::function<std::function<double()>()>& make, std::size_t repeats) {
  Task task{.name = std::move(name), .measure = {}, .repeats = repeats};
  try {
    task.measure = make();
  } catch (const std::exception& error) {
    task.failure = error.what();
  }
  return task;
}

void show_progress(const char* what, std::size_t done, std::size_t all) {
  if (::isatty(STDERR_FILENO) != 1) return;
  std::fprintf(stderr, "\r\x1b[K%s %zu of %zu%s", what, done, all, done == all ? "\r\x1b[K" : "");
}

void take_turns(std::vector<Task>& tasks, std::size_t rounds) {
  for (std::size_t round = 0; round < rounds; ++round) {
    show_progress("round", round + 1, rounds);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      Task& task = tasks[(i + round) % tasks.size()];
      if (round % task.every == 0) measure_once(task);
    }
  }
}

const Task& find(const std::vector<Task>& tasks, const std::string& name) {
  return *std::find_if(tasks.begin(), tasks.end(), [&](const Task& task) { return task.name == name; });
}

Machine::Machine() : before_(load()) {}

void Machine::print(const std::vector<Row>& rows, std::size_t rounds) const {
  std::printf("%s\n", to_table(rows).c_str());
  std::printf(
      "%zu rounds, all rows in turn; %u CPUs, load %s before and %s after. With a load near or above the number\n"
      "of CPUs, read the ratios (both sides were measured under it) and the best times.\n",
      rounds, std::thread::hardware_concurrency(), before_.c_str(), load().c_str());
}

}  // namespace escrow::bench
