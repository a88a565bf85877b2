#include "tests/bench/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <stdexcept>

extern char** environ;

namespace escrow::bench {
namespace {

[[noreturn]] void give_up(const std::string& what, int error) {
  throw std::runtime_error(what + ": " + std::strerror(error));
}

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void open(int fd, const char* path, int flags) { ::posix_spawn_file_actions_addopen(&actions_, fd, path, flags, 0); }
  void duplicate(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

pid_t spawn(const std::vector<std::string>& argv, const FileActions& actions) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, words[0], actions.get(), nullptr, words.data(), environ);
  if (error != 0) give_up("cannot start " + argv.front(), error);
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) give_up("waitpid", errno);
  }
  return status;
}

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) give_up("pipe", errno);
  return ends;
}

}  // namespace

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

double time_program(const std::vector<std::string>& argv, const std::string& stdin_file) {
  FileActions actions;
  actions.open(STDIN_FILENO, stdin_file.empty() ? "/dev/null" : stdin_file.c_str(), O_RDONLY);
  actions.open(STDOUT_FILENO, "/dev/null", O_WRONLY);
  actions.open(STDERR_FILENO, "/dev/null", O_WRONLY);
  const double began = now_ns();
  const int status = wait_for(spawn(argv, actions));
  const double took = now_ns() - began;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(argv.front() + " failed (" +
                             (WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                                                : "signal " + std::to_string(WTERMSIG(status))) +
                             ")");
  }
  return took;
}

PipedProgram::PipedProgram(const std::vector<std::string>& argv) {
  const auto to_child = make_pipe();
  const auto from_child = make_pipe();
  FileActions actions;
  actions.duplicate(to_child[0], STDIN_FILENO);
  actions.duplicate(from_child[1], STDOUT_FILENO);
  actions.open(STDERR_FILENO, "/dev/null", O_WRONLY);
  pid_ = spawn(argv, actions);
  ::close(to_child[0]);
  ::close(from_child[1]);
  in_ = to_child[1];
  out_ = from_child[0];
}

PipedProgram::~PipedProgram() {
  ::close(in_);
  ::close(out_);
  int status = 0;
  ::waitpid(pid_, &status, 0);
}

void PipedProgram::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(in_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up("the server no longer reads", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string PipedProgram::read() {
  std::string bytes(65536, '\0');
  while (true) {
    const ssize_t got = ::read(out_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw std::runtime_error("the server has ended");
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
  }
}

double PipedProgram::resident_bytes() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) * 1024;
  }
  throw std::runtime_error("the kernel does not say how large the server is");
}

}  // namespace escrow::bench
