#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

/// Other programs, started the cheapest way there is (posix_spawn), with this program's environment and directory.
/// Everything here throws std::runtime_error with a sentence for the report when it does not work.
namespace escrow::bench {

double now_ns();

/// Runs a program to its end with its output thrown away; the wall time in nanoseconds, spawn and wait included.
/// `stdin_file` empty is /dev/null. Anything but exit code 0 throws.
double time_program(const std::vector<std::string>& argv, const std::string& stdin_file = {});

/// A program under way, with pipes on its stdin and stdout; its stderr is thrown away.
class PipedProgram {
 public:
  explicit PipedProgram(const std::vector<std::string>& argv);
  ~PipedProgram();  ///< closes the pipes and waits for its end
  PipedProgram(const PipedProgram&) = delete;
  PipedProgram& operator=(const PipedProgram&) = delete;

  void write(std::string_view bytes);
  /// Some bytes, at least one; throws at the end of its output.
  std::string read();
  /// Resident memory, as the kernel counts it.
  double resident_bytes() const;

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
};

}  // namespace escrow::bench
