#include "server/lsp/from_protocol.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "server/lsp/same_enum.h"
#include "server/lsp/session.h"
#include "server/lsp/uri.h"

namespace escrow::server::lsp {
namespace {

Error invalid(const std::string& message) {
  return {ErrorKind::invalid_params, message};
}

std::string normal(const std::string& path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

Result<engine::Action> file_action(const protocol::FileSubject& subject) {
  engine::FileAction action{.op = same<engine::FileOp>(subject.op), .paths = {}, .to = {}};
  if (subject.uris.empty()) return invalid("params.subject.uris: expected at least one");
  for (const auto& uri : subject.uris) {
    auto path = file_path_from(uri);
    if (!path) return path.error();
    action.paths.push_back(std::move(*path));
  }
  if (subject.to) {
    auto path = file_path_from(*subject.to);
    if (!path) return path.error();
    action.to = std::move(*path);
  }
  return engine::Action(std::move(action));
}

bool read_only_hint(const protocol::McpSubject& subject) {
  const auto* hint = subject.annotations ? subject.annotations->if_contains("readOnlyHint") : nullptr;
  return hint != nullptr && hint->is_bool() && hint->get_bool();
}

struct SubjectVisitor {
  Result<engine::Action> operator()(const protocol::ShellSubject& subject) const {
    auto cwd = file_path_from(subject.cwd);
    if (!cwd) return cwd.error();
    return engine::Action(engine::ShellAction{.command = subject.command, .cwd = std::move(*cwd)});
  }
  Result<engine::Action> operator()(const protocol::ExecSubject& subject) const {
    auto cwd = file_path_from(subject.cwd);
    if (!cwd) return cwd.error();
    if (subject.argv.empty()) return invalid("params.subject.argv: expected at least the program");
    return engine::Action(engine::ExecAction{.argv = subject.argv,
                                             .cwd = std::move(*cwd),
                                             .env = subject.env.value_or(std::map<std::string, std::string>())});
  }
  Result<engine::Action> operator()(const protocol::FileSubject& subject) const { return file_action(subject); }
  Result<engine::Action> operator()(const protocol::NetworkSubject& subject) const {
    return engine::Action(engine::NetworkAction{.host = subject.host, .port = subject.port});
  }
  Result<engine::Action> operator()(const protocol::McpSubject& subject) const {
    return engine::Action(
        engine::McpAction{.server = subject.server, .tool = subject.tool, .read_only_hint = read_only_hint(subject)});
  }
  Result<engine::Action> operator()(const protocol::OtherSubject& subject) const {
    return engine::Action(engine::OtherAction{.label = subject.label});
  }
};

/// Collects what a change says about each path, all below one root.
class ChangeReader {
 public:
  ChangeReader(const Session& session, ProposeRequest& request) : session_(session), request_(request) {}

  Result<void> read(const protocol::PatchChange& change) {
    auto root = file_path_from(change.root);
    if (!root) return root.error();
    request_.root = *root;
    request_.patch_text = change.text;
    return {};
  }

  Result<void> read(const protocol::FilesChange& change) {
    for (const auto& file : change.files) {
      ProposedText text;
      if (auto placed = place(file.uri, text.path); !placed) return placed;
      text.new_text = file.newText;
      if (file.mode) {
        if (auto mode = read_mode(*file.mode, text); !mode) return mode;
      }
      request_.files.push_back(std::move(text));
    }
    return {};
  }

  Result<void> read(const protocol::EditChange& change) {
    if (change.edit.documentChanges) {
      for (const auto& each : *change.edit.documentChanges) {
        if (auto done = std::visit([&](const auto& item) { return read_document_change(item); }, each); !done)
          return done;
      }
      return {};
    }
    if (!change.edit.changes) return invalid("params.change.edit: neither changes nor documentChanges");
    for (const auto& [uri, edits] : *change.edit.changes) {
      if (auto done = read_edits(uri, edits); !done) return done;
    }
    return {};
  }

 private:
  Result<void> place(const std::string& uri, std::string& relative) {
    const auto path = file_path_from(uri);
    if (!path) return path.error();
    const auto [root, inside] = session_.place_of(*path);
    if (root.empty()) return Error{ErrorKind::outside_roots, uri + ": in no folder of this workspace"};
    if (!request_.root.empty() && request_.root != root) {
      return Error{ErrorKind::bad_change, "one change may touch one workspace folder, not two"};
    }
    request_.root = root;
    relative = inside;
    return {};
  }

  static Result<void> read_mode(const std::string& text, ProposedText& file) {
    std::uint32_t mode = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
    const bool known = mode == 0100644 || mode == 0100755 || mode == 0120000;
    if (error != std::errc() || end != text.data() + text.size() || !known) {
      return invalid("params.change.files.mode: expected 100644, 100755 or 120000");
    }
    file.mode = mode;
    return {};
  }

  Result<void> read_document_change(const protocol::TextDocumentEdit& edit) {
    return read_edits(edit.textDocument.uri, edit.edits);
  }
  Result<void> read_document_change(const protocol::CreateFile& create) {
    ProposedText text;
    if (auto placed = place(create.uri, text.path); !placed) return placed;
    text.new_text = "";
    return add(std::move(text));
  }
  Result<void> read_document_change(const protocol::DeleteFile& remove) {
    ProposedText text;
    if (auto placed = place(remove.uri, text.path); !placed) return placed;
    return add(std::move(text));
  }
  Result<void> read_document_change(const protocol::RenameFile& rename) {
    ProposedText text;
    if (auto placed = place(rename.oldUri, text.old_path); !placed) return placed;
    if (auto placed = place(rename.newUri, text.path); !placed) return placed;
    text.new_text = current(text.old_path);
    return add(std::move(text));
  }

  Result<void> read_edits(const std::string& uri, const std::vector<protocol::TextEdit>& edits) {
    std::string relative;
    if (auto placed = place(uri, relative); !placed) return placed;
    ProposedText* file = find(relative);
    std::string text = file != nullptr && file->new_text ? *file->new_text : current(relative);
    if (auto applied = apply_edits(text, edits); !applied) return applied;
    if (file != nullptr) {
      file->new_text = std::move(text);
      return {};
    }
    ProposedText added;
    added.path = relative;
    added.new_text = std::move(text);
    return add(std::move(added));
  }

  /// All ranges refer to the text before any of the edits (LSP 3.17, "TextEdit[]"): applied from the end backwards.
  Result<void> apply_edits(std::string& text, const std::vector<protocol::TextEdit>& edits) const {
    struct Span {
      std::size_t begin, end, order;
    };
    const LineIndex index(text);
    std::vector<Span> spans;
    for (std::size_t i = 0; i < edits.size(); ++i) {
      spans.push_back({index.to_offset(edits[i].range.start, session_.client.encoding),
                       index.to_offset(edits[i].range.end, session_.client.encoding), i});
      if (spans.back().end < spans.back().begin) return invalid("params.change.edit: a range ends before it starts");
    }
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < spans.size(); ++i) {
      if (spans[i].begin < spans[i - 1].end) return Error{ErrorKind::bad_change, "the edits of one file overlap"};
    }
    for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
      text.replace(span->begin, span->end - span->begin, edits[span->order].newText);
    }
    return {};
  }

  std::string current(const std::string& relative) const { return session_.text_of(request_.root + "/" + relative); }

  ProposedText* find(const std::string& path) {
    const auto found = std::find_if(request_.files.begin(), request_.files.end(),
                                    [&](const ProposedText& file) { return file.path == path; });
    return found == request_.files.end() ? nullptr : &*found;
  }

  Result<void> add(ProposedText text) {
    request_.files.push_back(std::move(text));
    return {};
  }

  const Session& session_;
  ProposeRequest& request_;
};

/// What an agent wants of each limit is a number from 1 up; the broker then takes the smaller one.
Result<sandbox::Limits> limits_from(const protocol::ExecuteLimits& wire) {
  sandbox::Limits limits;
  std::string wrong;
  const auto read = [&](const char* name, const std::optional<std::int64_t>& wanted, auto take) {
    if (!wanted) return;
    if (*wanted < 1) wrong = "limits." + std::string(name) + ": expected a number from 1 up";
    take(std::max<std::int64_t>(*wanted, 1));
  };
  const auto size = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  read("wallMs", wire.wallMs, [&](std::int64_t value) { limits.wall = std::chrono::milliseconds(value); });
  read("cpuMs", wire.cpuMs, [&](std::int64_t value) { limits.cpu = std::chrono::milliseconds(value); });
  read("memoryBytes", wire.memoryBytes, [&](std::int64_t value) { limits.memory_bytes = size(value); });
  read("pids", wire.pids,
       [&](std::int64_t value) { limits.pids = static_cast<std::uint32_t>(std::min<std::int64_t>(value, 1 << 20)); });
  read("fileSizeBytes", wire.fileSizeBytes, [&](std::int64_t value) { limits.file_size_bytes = size(value); });
  read("outputBytes", wire.outputBytes, [&](std::int64_t value) { limits.output_shown_bytes = size(value); });
  if (!wrong.empty()) return invalid(wrong);
  return limits;
}

}  // namespace

Result<std::string> file_path_from(const std::string& uri) {
  const auto path = to_path(uri);
  if (!path) return invalid("`" + uri + "` is not the URI of a local file");
  return normal(*path);
}

Result<engine::Action> action_from(const protocol::Subject& subject) {
  return std::visit(SubjectVisitor{}, subject);
}

Result<engine::Action> action_from(const protocol::ExecuteCommand& command, const std::string& cwd_uri,
                                   const std::optional<std::map<std::string, std::string>>& env) {
  auto cwd = file_path_from(cwd_uri);
  if (!cwd) return cwd.error();
  if (command.argv) {
    return engine::Action(engine::ExecAction{
        .argv = *command.argv, .cwd = std::move(*cwd), .env = env.value_or(std::map<std::string, std::string>())});
  }
  if (env && !env->empty()) return invalid("params.env: goes with command.argv; in a shell line, set it in the line");
  return engine::Action(engine::ShellAction{.command = command.shell.value_or(""), .cwd = std::move(*cwd)});
}

Credential credential_from(const protocol::AgentCredential& agent) {
  return {.agent_id = agent.agentId, .token = agent.token};
}

Result<ProposeRequest> proposal_from(const protocol::ProposeDiffParams& params, const Session& session,
                                     const std::string& body_hash) {
  ProposeRequest request;
  request.agent = credential_from(params);
  request.call_id = params.callId;
  request.title = params.title;
  request.confidence = params.confidence;
  request.supersedes = params.supersedes.value_or("");
  request.body_hash = body_hash;
  ChangeReader reader(session, request);
  const auto read = std::visit([&](const auto& change) { return reader.read(change); }, params.change);
  if (!read) return read.error();
  for (const auto& base : params.bases.value_or(std::vector<protocol::Base>())) {
    const auto path = file_path_from(base.uri);
    if (!path) return path.error();
    const auto [root, relative] = session.place_of(*path);
    if (root.empty() || root != request.root)
      return Error{ErrorKind::outside_roots, base.uri + ": not below the root of this change"};
    request.bases.push_back({.path = relative, .sha256 = base.sha256, .version = base.version, .exists = base.exists});
  }
  return request;
}

Result<ExecuteRequest> execution_from(const protocol::ExecuteParams& params) {
  auto action = action_from(params.command, params.cwd, params.env);
  if (!action) return action.error();
  ExecuteRequest request;
  request.agent = credential_from(params);
  request.call_id = params.callId;
  request.execution_token = params.executionToken.value_or("");
  request.action = std::move(*action);
  request.stdin_text = params.stdin_;
  if (params.pty) {
    const auto cells = [](std::uint32_t value) { return static_cast<unsigned short>(std::clamp(value, 1u, 1000u)); };
    request.pty = sandbox::PtySize{.cols = cells(params.pty->cols), .rows = cells(params.pty->rows)};
  }
  if (params.profile) request.profile = *params.profile;
  if (params.writable) request.writable = same<sandbox::Writable>(*params.writable);
  if (params.network) request.network = *params.network;
  if (params.limits) {
    auto limits = limits_from(*params.limits);
    if (!limits) return limits.error();
    request.limits = *limits;
  }
  if (params.autonomy) request.autonomy = same<engine::Autonomy>(*params.autonomy);
  return request;
}

engine::Grant grant_from(const protocol::Grant& wire) {
  engine::Grant grant;
  grant.effect = same<engine::GrantEffect>(wire.effect);
  grant.tool = wire.tool;
  grant.match = wire.match.value_or("");
  grant.subject_hash = wire.subject.value_or("");
  grant.call_id = wire.callId.value_or("");
  grant.scope = same<engine::Scope>(wire.scope);
  grant.workspace = wire.workspace.value_or("");
  grant.session = wire.session.value_or("");
  grant.max_autonomy = same<engine::Autonomy>(wire.autonomy);
  grant.expires_ms = wire.expiresAt;
  grant.reason = wire.reason.value_or("");
  return grant;
}

}  // namespace escrow::server::lsp
