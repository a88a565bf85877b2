#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "sandbox/executor.h"
#include "sandbox/host_facts.h"
#include "tests/catch.h"

namespace escrow::sandbox {

/// What a failed REQUIRE of a Result prints.
inline std::ostream& operator<<(std::ostream& out, const Error& error) {
  return out << error.message;
}
inline std::ostream& operator<<(std::ostream& out, const Execution& execution) {
  return out << name_of(execution.reason) << ' ' << execution.exit_code.value_or(-1) << '\n' << execution.err.head;
}

}  // namespace escrow::sandbox

/// A throw-away directory with a workspace, a place for Escrow's state and one for what lies outside.
namespace escrow::sandbox::testing {

namespace fs = std::filesystem;

inline std::string libexec_dir() {
  // Another user can't read the build directory perhaps; the programs are copied for it then.
  const char* elsewhere = std::getenv("ESCROW_TEST_LIBEXEC");
  return elsewhere ? elsewhere : ESCROW_BINARY_DIR "/libexec/escrow";
}

class TempTree {
 public:
  TempTree() {
    std::string pattern = (fs::canonical(fs::temp_directory_path()) / "escrow-test-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    fs::permissions(root_, fs::perms(0755));
    fs::create_directory(root_ / "ws");
    fs::create_directory(root_ / "outside");
  }
  ~TempTree() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;

  fs::path workspace() const { return root_ / "ws"; }
  fs::path outside() const { return root_ / "outside"; }
  fs::path state() const { return root_ / "state"; }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((workspace() / path).parent_path());
    std::ofstream(workspace() / path, std::ios::binary) << text;
  }
  std::string read(const std::string& path) const {
    std::ifstream file(workspace() / path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

 private:
  fs::path root_;
};

/// Every path below `root` with type, mode, size, link count, times and content: what "untouched" means.
inline std::vector<std::string> snapshot(const fs::path& root) {
  std::vector<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    std::ostringstream line;
    const fs::file_status status = entry.symlink_status();
    line << entry.path().string() << ' ' << int(status.type()) << ' ' << int(status.permissions()) << ' ';
    if (!fs::is_symlink(status))
      line << entry.last_write_time().time_since_epoch().count() << ' ' << entry.hard_link_count() << ' ';
    if (fs::is_regular_file(status)) line << std::ifstream(entry.path()).rdbuf();
    lines.push_back(line.str());
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Runs commands in the real sandbox and waits for them.
class Cage {
 public:
  Cage() { profile.workspace = tree.workspace().string(); }

  Result<Execution> run(Command command) {
    boost::asio::io_context loop;
    options.state_dir = tree.state().string();
    options.libexec_dir = libexec_dir();
    const std::unique_ptr<Executor> executor = make_bwrap_executor(loop, options);
    std::optional<Result<Execution>> outcome;
    if (command.cwd.empty()) command.cwd = profile.workspace;
    ExecutionEvents events;
    events.on_output = on_output;
    events.on_done = [&](Result<Execution> result) { outcome.emplace(std::move(result)); };
    Result<std::unique_ptr<RunningExecution>> running = executor->start(std::move(command), profile, std::move(events));
    if (!running) return running.error();
    if (on_start) on_start(loop, **running);
    loop.run();
    REQUIRE(outcome);
    return std::move(*outcome);
  }

  /// A shell script that is expected to run, whatever it ends with.
  Execution sh(const std::string& script) {
    Result<Execution> result = run({.argv = {"/bin/sh", "-c", script}});
    if (!result) FAIL(result.error().message);
    return std::move(*result);
  }

  TempTree tree;
  Profile profile;
  ExecutorOptions options;
  std::function<void(Stream, std::string_view)> on_output;
  std::function<void(boost::asio::io_context&, RunningExecution&)> on_start;
};

inline std::string text(const Captured& captured) {
  return captured.head + captured.tail;
}

/// `A path`, `M path`, `D path`, with the note behind it if there is one.
inline std::vector<std::string> summary(const TreeChanges& changes) {
  std::vector<std::string> lines;
  for (const TreeChange& change : changes.changes) {
    const bool was = change.before.kind != EntryKind::absent, is = change.after.kind != EntryKind::absent;
    std::string line = std::string(!was ? "A " : !is ? "D " : "M ") + change.path;
    if (!change.note.empty()) line += " (" + change.note + ")";
    lines.push_back(line);
  }
  return lines;
}

}  // namespace escrow::sandbox::testing
