#pragma once

#include "protocol/lsp_basic.h"

/// The words that Escrow's methods share. protocol/README.md is their specification; members have its spelling.
///
/// Times are milliseconds since 1970-01-01 UTC; durations are milliseconds; sizes are bytes.
namespace escrow::protocol {

enum class Level { none, low, medium, high, critical };
constexpr auto wire_names(Level) {
  return std::array<WireName<Level>, 5>{{{Level::none, "none"},
                                         {Level::low, "low"},
                                         {Level::medium, "medium"},
                                         {Level::high, "high"},
                                         {Level::critical, "critical"}}};
}

enum class Lane { low, medium, high };
constexpr auto wire_names(Lane) {
  return std::array<WireName<Lane>, 3>{{{Lane::low, "low"}, {Lane::medium, "medium"}, {Lane::high, "high"}}};
}

enum class Autonomy { low, medium, high };
constexpr auto wire_names(Autonomy) {
  return std::array<WireName<Autonomy>, 3>{
      {{Autonomy::low, "low"}, {Autonomy::medium, "medium"}, {Autonomy::high, "high"}}};
}

enum class Scope { once, session, workspace, user };
constexpr auto wire_names(Scope) {
  return std::array<WireName<Scope>, 4>{
      {{Scope::once, "once"}, {Scope::session, "session"}, {Scope::workspace, "workspace"}, {Scope::user, "user"}}};
}

/// How the workspace may be written by a command: into a copy, not at all, or for real.
enum class Writable { overlay, none, direct };
constexpr auto wire_names(Writable) {
  return std::array<WireName<Writable>, 3>{
      {{Writable::overlay, "overlay"}, {Writable::none, "none"}, {Writable::direct, "direct"}}};
}

/// How bytes stand in a JSON string.
enum class Encoding { utf8, base64 };
constexpr auto wire_names(Encoding) {
  return std::array<WireName<Encoding>, 2>{{{Encoding::utf8, "utf-8"}, {Encoding::base64, "base64"}}};
}

/// Who is asking, and the proof that it registered. A base of the parameters of everything an agent may call.
struct AgentCredential {
  std::string agentId;
  std::string token;
  static void fields(auto& f, auto& self) {
    f.required("agentId", self.agentId);
    f.required("token", self.token);
  }
  bool operator==(const AgentCredential&) const = default;
};

/// The same where a person's own view may ask too, with no credential.
struct OptionalCredential {
  std::optional<std::string> agentId;
  std::optional<std::string> token;
  static void fields(auto& f, auto& self) {
    f.optional("agentId", self.agentId);
    f.optional("token", self.token);
  }
  bool operator==(const OptionalCredential&) const = default;
};

/// A line for `bash -c`.
struct ShellSubject {
  std::string command;
  Uri cwd;
  static void fields(auto& f, auto& self) {
    f.constant("kind", "shell");
    f.required("command", self.command);
    f.required("cwd", self.cwd);
  }
  bool operator==(const ShellSubject&) const = default;
};

/// A program and its arguments; no shell reads them.
struct ExecSubject {
  std::vector<std::string> argv;
  Uri cwd;
  std::optional<std::map<std::string, std::string>> env;
  static void fields(auto& f, auto& self) {
    f.constant("kind", "exec");
    f.required("argv", self.argv);
    f.required("cwd", self.cwd);
    f.optional("env", self.env);
  }
  bool operator==(const ExecSubject&) const = default;
};

enum class FileOp { read, write, create, remove, move };
constexpr auto wire_names(FileOp) {
  return std::array<WireName<FileOp>, 5>{{{FileOp::read, "read"},
                                          {FileOp::write, "write"},
                                          {FileOp::create, "create"},
                                          {FileOp::remove, "delete"},
                                          {FileOp::move, "move"}}};
}

struct FileSubject {
  FileOp op = FileOp::read;
  std::vector<Uri> uris;
  std::optional<Uri> to;  ///< of a move
  static void fields(auto& f, auto& self) {
    f.constant("kind", "file");
    f.required("op", self.op);
    f.required("uris", self.uris);
    f.optional("to", self.to);
  }
  bool operator==(const FileSubject&) const = default;
};

struct NetworkSubject {
  std::string host;
  std::optional<std::int32_t> port;
  static void fields(auto& f, auto& self) {
    f.constant("kind", "network");
    f.required("host", self.host);
    f.optional("port", self.port);
  }
  bool operator==(const NetworkSubject&) const = default;
};

struct McpSubject {
  std::string server, tool;
  std::optional<json::object> annotations;  ///< as the MCP server gave them; believed only if policy trusts it
  static void fields(auto& f, auto& self) {
    f.constant("kind", "mcp");
    f.required("server", self.server);
    f.required("tool", self.tool);
    f.optional("annotations", self.annotations);
  }
  bool operator==(const McpSubject&) const = default;
};

struct OtherSubject {
  std::string label;
  static void fields(auto& f, auto& self) {
    f.constant("kind", "other");
    f.required("label", self.label);
  }
  bool operator==(const OtherSubject&) const = default;
};

/// What a tool call is about.
using Subject = std::variant<ShellSubject, ExecSubject, FileSubject, NetworkSubject, McpSubject, OtherSubject>;
bool from_json(const json::value& value, Subject& out, const Path& path);
json::value to_json(const Subject& subject);

/// One located finding.
struct Signal {
  std::string rule;
  Level severity = Level::none;
  std::int32_t weight = 0;  ///< 0..99 points
  std::string message;
  std::optional<Uri> uri;
  std::optional<Range> range;
  std::optional<std::vector<std::string>> cwe;
  static void fields(auto& f, auto& self) {
    f.required("rule", self.rule);
    f.required("severity", self.severity);
    f.required("weight", self.weight);
    f.required("message", self.message);
    f.optional("uri", self.uri);
    f.optional("range", self.range);
    f.optional("cwe", self.cwe);
  }
  bool operator==(const Signal&) const = default;
};

struct Risk {
  Level level = Level::none;
  std::int32_t score = 0;  ///< 0..100
  std::vector<std::string> categories;
  std::vector<Signal> signals;
  static void fields(auto& f, auto& self) {
    f.required("level", self.level);
    f.required("score", self.score);
    f.required("categories", self.categories);
    f.required("signals", self.signals);
  }
  bool operator==(const Risk&) const = default;
};

enum class GrantEffect { allow, deny };
constexpr auto wire_names(GrantEffect) {
  return std::array<WireName<GrantEffect>, 2>{{{GrantEffect::allow, "allow"}, {GrantEffect::deny, "deny"}}};
}

/// A remembered decision, as it also stands in grants.json.
struct Grant {
  std::optional<std::string> id;  ///< given by the server
  GrantEffect effect = GrantEffect::deny;
  std::string tool;
  std::optional<std::string> match;
  std::optional<std::string> subject;  ///< `once`: hash of the one action it is for
  std::optional<std::string> callId;   ///< `once`
  Scope scope = Scope::once;
  std::optional<std::string> workspace, session;
  Autonomy autonomy = Autonomy::medium;  ///< satisfies requests up to this
  std::optional<std::int64_t> createdAt, expiresAt;
  std::optional<std::string> reason;
  static void fields(auto& f, auto& self) {
    f.optional("id", self.id);
    f.required("effect", self.effect);
    f.required("tool", self.tool);
    f.optional("match", self.match);
    f.optional("subject", self.subject);
    f.optional("callId", self.callId);
    f.required("scope", self.scope);
    f.optional("workspace", self.workspace);
    f.optional("session", self.session);
    f.required("autonomy", self.autonomy);
    f.optional("createdAt", self.createdAt);
    f.optional("expiresAt", self.expiresAt);
    f.optional("reason", self.reason);
  }
  bool operator==(const Grant&) const = default;
};

/// A ready grant that would let the same thing through; shown to the person as a code action.
struct Remedy {
  std::string title;
  Grant grant;
  static void fields(auto& f, auto& self) {
    f.required("title", self.title);
    f.required("grant", self.grant);
  }
  bool operator==(const Remedy&) const = default;
};

}  // namespace escrow::protocol
