#pragma once

#include "protocol/escrow_review.h"
#include "protocol/escrow_tool_call.h"

/// escrow/execute and what follows it. See protocol/README.md.
namespace escrow::protocol {

/// One of the two.
struct ExecuteCommand {
  std::optional<std::vector<std::string>> argv;
  std::optional<std::string> shell;
  bool operator==(const ExecuteCommand&) const = default;
};
bool from_json(const json::value& value, ExecuteCommand& out, const Path& path);
json::value to_json(const ExecuteCommand& command);

struct PtySize {
  std::uint32_t cols = 80, rows = 24;
  static void fields(auto& f, auto& self) {
    f.required("cols", self.cols);
    f.required("rows", self.rows);
  }
  bool operator==(const PtySize&) const = default;
};

/// A caller may ask for less than policy gives, never for more.
struct ExecuteLimits {
  std::optional<std::int64_t> wallMs, cpuMs, memoryBytes, pids, fileSizeBytes, outputBytes;
  static void fields(auto& f, auto& self) {
    f.optional("wallMs", self.wallMs);
    f.optional("cpuMs", self.cpuMs);
    f.optional("memoryBytes", self.memoryBytes);
    f.optional("pids", self.pids);
    f.optional("fileSizeBytes", self.fileSizeBytes);
    f.optional("outputBytes", self.outputBytes);
  }
  bool operator==(const ExecuteLimits&) const = default;
};

struct ExecuteParams : AgentCredential {
  std::string callId;
  std::optional<std::string> executionToken;  ///< absent: judged here, as by escrow/toolCall with runner "escrow"
  ExecuteCommand command;
  Uri cwd;
  std::optional<std::map<std::string, std::string>> env;
  std::optional<std::string> stdin_;  ///< wire: `stdin`, which is a macro in C
  std::optional<PtySize> pty;
  std::optional<std::string> profile;
  std::optional<Writable> writable;
  std::optional<std::vector<std::string>> network;
  std::optional<ExecuteLimits> limits;
  std::optional<Autonomy> autonomy;
  std::optional<ProgressToken> workDoneToken;
  static void fields(auto& f, auto& self) {
    AgentCredential::fields(f, self);
    f.required("callId", self.callId);
    f.optional("executionToken", self.executionToken);
    f.required("command", self.command);
    f.required("cwd", self.cwd);
    f.optional("env", self.env);
    f.optional("stdin", self.stdin_);
    f.optional("pty", self.pty);
    f.optional("profile", self.profile);
    f.optional("writable", self.writable);
    f.optional("network", self.network);
    f.optional("limits", self.limits);
    f.optional("autonomy", self.autonomy);
    f.optional("workDoneToken", self.workDoneToken);
  }
  bool operator==(const ExecuteParams&) const = default;
};

/// The boundary that really held.
struct Enforcement {
  std::string backend, level;
  std::vector<std::string> layers;
  std::string writable, memory;
  static void fields(auto& f, auto& self) {
    f.required("backend", self.backend);
    f.required("level", self.level);
    f.required("layers", self.layers);
    f.required("writable", self.writable);
    f.required("memory", self.memory);
  }
  bool operator==(const Enforcement&) const = default;
};

struct ExecuteStarted {
  std::string execId, backend;
  Enforcement enforcement;
  std::int64_t startedAt = 0;
  static void fields(auto& f, auto& self) {
    f.constant("decision", "allow");
    f.required("execId", self.execId);
    f.required("backend", self.backend);
    f.required("enforcement", self.enforcement);
    f.required("startedAt", self.startedAt);
  }
  bool operator==(const ExecuteStarted&) const = default;
};

/// Told apart by `decision`: the command runs; or it was judged without a token and nothing ran.
using ExecuteResult = std::variant<ExecuteStarted, ToolCallDenied, ToolCallPending>;
bool from_json(const json::value& value, ExecuteResult& out, const Path& path);
json::value to_json(const ExecuteResult& result);

enum class OutputStream { out, err };
constexpr auto wire_names(OutputStream) {
  return std::array<WireName<OutputStream>, 2>{{{OutputStream::out, "out"}, {OutputStream::err, "err"}}};
}

/// Notification escrow/execute/output.
struct ExecuteOutputParams {
  std::string execId;
  std::int64_t seq = 0;  ///< counts the notifications of this execution, from 0
  OutputStream stream = OutputStream::out;
  std::string data;
  Encoding encoding = Encoding::utf8;
  std::int64_t offset = 0;              ///< of data's first byte in its stream
  std::optional<std::int64_t> dropped;  ///< bytes left out just before
  static void fields(auto& f, auto& self) {
    f.required("execId", self.execId);
    f.required("seq", self.seq);
    f.required("stream", self.stream);
    f.required("data", self.data);
    f.required("encoding", self.encoding);
    f.required("offset", self.offset);
    f.optional("dropped", self.dropped);
  }
  bool operator==(const ExecuteOutputParams&) const = default;
};

enum class ExitReason { exit, timeout, limit, killed, policy };
constexpr auto wire_names(ExitReason) {
  return std::array<WireName<ExitReason>, 5>{{{ExitReason::exit, "exit"},
                                              {ExitReason::timeout, "timeout"},
                                              {ExitReason::limit, "limit"},
                                              {ExitReason::killed, "killed"},
                                              {ExitReason::policy, "policy"}}};
}

struct Usage {
  std::int64_t cpuMs = 0, maxRssBytes = 0;
  static void fields(auto& f, auto& self) {
    f.required("cpuMs", self.cpuMs);
    f.required("maxRssBytes", self.maxRssBytes);
  }
  bool operator==(const Usage&) const = default;
};

enum class ViolationKind { egress, path, syscall, limit, socket, symlink, outside_workspace };
constexpr auto wire_names(ViolationKind) {
  return std::array<WireName<ViolationKind>, 7>{{{ViolationKind::egress, "egress"},
                                                 {ViolationKind::path, "path"},
                                                 {ViolationKind::syscall, "syscall"},
                                                 {ViolationKind::limit, "limit"},
                                                 {ViolationKind::socket, "socket"},
                                                 {ViolationKind::symlink, "symlink"},
                                                 {ViolationKind::outside_workspace, "outside-workspace"}}};
}

/// Something the cage did not let the command do.
struct Violation {
  ViolationKind kind = ViolationKind::egress;
  std::string detail;
  std::optional<Remedy> remedy;
  static void fields(auto& f, auto& self) {
    f.required("kind", self.kind);
    f.required("detail", self.detail);
    f.optional("remedy", self.remedy);
  }
  bool operator==(const Violation&) const = default;
};

struct ExecuteChanges {
  struct File {
    Uri uri;
    FileStatus status = FileStatus::modified;
    std::int32_t added = 0, removed = 0;
    static void fields(auto& f, auto& self) {
      f.required("uri", self.uri);
      f.required("status", self.status);
      f.required("added", self.added);
      f.required("removed", self.removed);
    }
    bool operator==(const File&) const = default;
  };
  std::string reviewId;
  Lane lane = Lane::low;
  std::vector<File> files;
  static void fields(auto& f, auto& self) {
    f.required("reviewId", self.reviewId);
    f.required("lane", self.lane);
    f.required("files", self.files);
  }
  bool operator==(const ExecuteChanges&) const = default;
};

/// Notification escrow/execute/exited, and the result of escrow/execute/wait (null when it still runs).
struct ExecuteExitedParams {
  std::string execId;
  std::optional<std::int32_t> exitCode, signal;
  ExitReason reason = ExitReason::exit;
  std::optional<std::string> error;  ///< the cage failed and nothing ran
  Usage usage;
  std::optional<std::int64_t> durationMs;
  std::vector<Violation> violations;
  std::optional<ExecuteChanges> changes;  ///< absent: nothing changed
  std::optional<std::vector<Signal>>
      outputSignals;  ///< secrets, injected instructions, hidden characters in the output
  Enforcement enforcement;
  static void fields(auto& f, auto& self) {
    f.required("execId", self.execId);
    f.nullable("exitCode", self.exitCode);
    f.nullable("signal", self.signal);
    f.required("reason", self.reason);
    f.optional("error", self.error);
    f.required("usage", self.usage);
    f.optional("durationMs", self.durationMs);
    f.required("violations", self.violations);
    f.optional("changes", self.changes);
    f.optional("outputSignals", self.outputSignals);
    f.required("enforcement", self.enforcement);
  }
  bool operator==(const ExecuteExitedParams&) const = default;
};

struct ExecuteWaitParams {
  std::string execId;
  std::optional<std::int64_t> timeoutMs;
  static void fields(auto& f, auto& self) {
    f.required("execId", self.execId);
    f.optional("timeoutMs", self.timeoutMs);
  }
  bool operator==(const ExecuteWaitParams&) const = default;
};

/// Kept output.
struct ExecuteReadParams {
  std::string execId;
  std::optional<OutputStream> stream;  ///< absent: out
  std::int64_t offset = 0;
  std::optional<std::int64_t> max;
  static void fields(auto& f, auto& self) {
    f.required("execId", self.execId);
    f.optional("stream", self.stream);
    f.required("offset", self.offset);
    f.optional("max", self.max);
  }
  bool operator==(const ExecuteReadParams&) const = default;
};

struct ExecuteReadResult {
  std::string data;
  Encoding encoding = Encoding::utf8;
  std::int64_t offset = 0;      ///< of data's first byte; later than asked for if the bytes were dropped
  std::int64_t nextOffset = 0;  ///< where to read on
  bool end = false;             ///< the stream has ended and nothing follows
  static void fields(auto& f, auto& self) {
    f.required("data", self.data);
    f.required("encoding", self.encoding);
    f.required("offset", self.offset);
    f.required("nextOffset", self.nextOffset);
    f.required("end", self.end);
  }
  bool operator==(const ExecuteReadResult&) const = default;
};

/// Standard input of a running command. The result is null.
struct ExecuteWriteParams {
  std::string execId, data;
  std::optional<Encoding> encoding;  ///< absent: utf-8
  std::optional<bool> eof;           ///< close it afterwards
  static void fields(auto& f, auto& self) {
    f.required("execId", self.execId);
    f.required("data", self.data);
    f.optional("encoding", self.encoding);
    f.optional("eof", self.eof);
  }
  bool operator==(const ExecuteWriteParams&) const = default;
};

/// The result is null; escrow/execute/exited follows.
struct ExecuteKillParams {
  std::string execId;
  static void fields(auto& f, auto& self) { f.required("execId", self.execId); }
  bool operator==(const ExecuteKillParams&) const = default;
};

}  // namespace escrow::protocol
