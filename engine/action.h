#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/enum_names.h"

/// What an agent wants to do, as values. Paths are absolute host paths or workspace-relative, '/'-separated.
namespace escrow::engine {

/// A line for `bash -c`.
struct ShellAction {
  std::string command;
  std::string cwd;
  bool operator==(const ShellAction&) const = default;
};

/// A program and its arguments: no shell reads them.
struct ExecAction {
  std::vector<std::string> argv;
  std::string cwd;
  std::map<std::string, std::string> env;  ///< delta over the profile's environment
  bool operator==(const ExecAction&) const = default;
};

enum class FileOp { read, write, create, remove, move };
BOOST_DESCRIBE_ENUM(FileOp, read, write, create, remove, move)

struct FileAction {
  FileOp op = FileOp::read;
  std::vector<std::string> paths;
  std::string to;  ///< destination of a move
  bool operator==(const FileAction&) const = default;
};

struct NetworkAction {
  std::string host;
  std::optional<int> port;
  bool operator==(const NetworkAction&) const = default;
};

struct McpAction {
  std::string server;
  std::string tool;
  bool read_only_hint = false;
  bool operator==(const McpAction&) const = default;
};

struct OtherAction {
  std::string label;
  bool operator==(const OtherAction&) const = default;
};

using Action = std::variant<ShellAction, ExecAction, FileAction, NetworkAction, McpAction, OtherAction>;

/// One line that shows the action whole: full argv, hidden and bidirectional characters made visible.
std::string describe(const Action& action);

/// A stable text that two equal actions share and any difference changes; callers hash it (`once` grants,
/// execution tokens).
std::string canonical_text(const Action& action);

}  // namespace escrow::engine
