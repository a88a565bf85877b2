#include "server/lsp/to_protocol.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>

#include "engine/explain.h"
#include "engine/redact.h"
#include "protocol/error_codes.h"
#include "server/lsp/positions.h"
#include "server/lsp/same_enum.h"
#include "server/lsp/session.h"
#include "server/lsp/uri.h"
#include "server/lsp/wire_error.h"

namespace escrow::server::lsp {
namespace {

std::optional<std::string> text_or_absent(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

protocol::Signal signal_to_wire(const engine::Signal& signal) {
  protocol::Signal wire;
  wire.rule = signal.rule;
  wire.severity = same<protocol::Level>(signal.severity);
  wire.weight = signal.weight;
  wire.message = signal.message;
  if (!signal.cwe.empty()) wire.cwe = signal.cwe;
  return wire;
}

protocol::FileStatus status_to_wire(engine::FileStatus status) {
  switch (status) {
    case engine::FileStatus::added:
    case engine::FileStatus::copied:
      return protocol::FileStatus::added;
    case engine::FileStatus::modified:
      return protocol::FileStatus::modified;
    case engine::FileStatus::deleted:
      return protocol::FileStatus::deleted;
    case engine::FileStatus::renamed:
      return protocol::FileStatus::renamed;
    case engine::FileStatus::type_changed:
      return protocol::FileStatus::type_changed;
  }
  return protocol::FileStatus::modified;
}

std::string octal(std::uint32_t mode) {
  char text[16];
  const auto end = std::to_chars(std::begin(text), std::end(text), mode, 8).ptr;
  return {text, end};
}

bool lies_on(const engine::Signal& signal, const ReviewFile& file, const engine::Hunk& hunk) {
  if (signal.file != file.path && signal.file != file.patch.path()) return false;
  return signal.line >= hunk.new_start && signal.line <= hunk.new_start + std::max(hunk.new_count, 1u);
}

/// The base lines a hunk replaces, its context left out; 1-based. Where it only inserts, the line before which it does.
std::pair<std::uint32_t, std::uint32_t> replaced_lines(const engine::Hunk& hunk) {
  std::uint32_t first = 0, last = 0, next_old = hunk.old_start + (hunk.old_count == 0 ? 1 : 0), inserts_at = 0;
  for (const auto& line : hunk.lines) {
    if (line.kind == engine::LineKind::added) {
      if (inserts_at == 0) inserts_at = next_old;
      continue;
    }
    if (line.kind == engine::LineKind::removed) {
      if (first == 0) first = line.old_line;
      last = line.old_line;
    }
    next_old = line.old_line + 1;
  }
  if (first == 0) first = last = std::max<std::uint32_t>(inserts_at, 1);
  return {first, last};
}

protocol::Range hunk_range(const Session& session, const std::string& text, const engine::Hunk& hunk) {
  const auto [first, last] = replaced_lines(hunk);
  return lines_range(session, text, first, last);
}

/// A review's score is a whole's; a hunk's own is that of its signals alone, by the same formula.
std::int32_t hunk_score(const Review& review, const std::vector<std::int32_t>& signals) {
  double safe = 1.0;
  for (const std::int32_t index : signals) {
    safe *= 1.0 - review.risk.signals[static_cast<std::size_t>(index)].weight / 100.0;
  }
  return static_cast<std::int32_t>(std::lround(100.0 * (1.0 - safe)));
}

protocol::ReviewHunk hunk_to_wire(const Session& session, const Review& review, const ReviewFile& file,
                                  const ReviewHunk& hunk, const std::string& text) {
  protocol::ReviewHunk wire;
  wire.id = hunk.id;
  if (hunk.mark != HunkMark::undecided) wire.mark = same<protocol::HunkMark>(hunk.mark);
  const bool whole = file.patch.hunks.empty();
  wire.range = whole ? protocol::Range{} : hunk_range(session, text, file.patch.hunks[hunk.index]);
  for (std::size_t i = 0; i < review.risk.signals.size(); ++i) {
    const auto& signal = review.risk.signals[i];
    const bool here = whole ? signal.file == file.path : lies_on(signal, file, file.patch.hunks[hunk.index]);
    if (here) wire.signals.push_back(static_cast<std::int32_t>(i));
  }
  wire.score = hunk_score(review, wire.signals);
  return wire;
}

protocol::ReviewFile file_to_wire(const Session& session, const Review& review, const ReviewFile& file) {
  protocol::ReviewFile wire;
  wire.uri = uri_of(session, review.root + "/" + file.path);
  wire.status = status_to_wire(file.patch.status);
  if (file.old_path != file.path) wire.oldUri = uri_of(session, review.root + "/" + file.old_path);
  if (git_mode(file.before) != git_mode(file.after)) {
    if (file.before.exists()) wire.oldMode = octal(git_mode(file.before));
    if (file.after.exists()) wire.newMode = octal(git_mode(file.after));
  }
  const auto counts = engine::count_lines(file.patch);
  wire.added = static_cast<std::int32_t>(counts.added);
  wire.removed = static_cast<std::int32_t>(counts.removed);
  wire.before = review_uri(review, file, "before");
  wire.after = review_uri(review, file, "after");
  const std::string text = file.before.content;
  for (const auto& hunk : file.hunks) wire.hunks.push_back(hunk_to_wire(session, review, file, hunk, text));
  return wire;
}

protocol::CheckState check_state(const std::string& state) {
  if (state == "passed") return protocol::CheckState::passed;
  if (state == "failed") return protocol::CheckState::failed;
  if (state == "running") return protocol::CheckState::running;
  return protocol::CheckState::skipped;
}

protocol::Subject subject_to_wire(const Session& session, const engine::Action& action) {
  const auto uri = [&](const std::string& path) { return path.empty() ? path : uri_of(session, path); };
  struct Visitor {
    const decltype(uri)& to_uri;
    protocol::Subject operator()(const engine::ShellAction& a) const {
      return protocol::ShellSubject{.command = a.command, .cwd = to_uri(a.cwd)};
    }
    protocol::Subject operator()(const engine::ExecAction& a) const {
      return protocol::ExecSubject{.argv = a.argv, .cwd = to_uri(a.cwd), .env = a.env};
    }
    protocol::Subject operator()(const engine::FileAction& a) const {
      protocol::FileSubject file{.op = same<protocol::FileOp>(a.op), .uris = {}, .to = std::nullopt};
      for (const auto& path : a.paths) file.uris.push_back(to_uri(path));
      if (!a.to.empty()) file.to = to_uri(a.to);
      return file;
    }
    protocol::Subject operator()(const engine::NetworkAction& a) const {
      return protocol::NetworkSubject{.host = a.host, .port = a.port};
    }
    protocol::Subject operator()(const engine::McpAction& a) const {
      return protocol::McpSubject{.server = a.server, .tool = a.tool, .annotations = std::nullopt};
    }
    protocol::Subject operator()(const engine::OtherAction& a) const {
      return protocol::OtherSubject{.label = a.label};
    }
  };
  return std::visit(Visitor{uri}, action);
}

protocol::DiagnosticSeverity severity_to_wire(engine::Level level) {
  switch (level) {
    case engine::Level::critical:
    case engine::Level::high:
      return protocol::DiagnosticSeverity::error;
    case engine::Level::medium:
      return protocol::DiagnosticSeverity::warning;
    case engine::Level::low:
    case engine::Level::none:
      return protocol::DiagnosticSeverity::information;
  }
  return protocol::DiagnosticSeverity::information;
}

int code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::unknown_agent:
      return protocol::kUnknownAgent;
    case ErrorKind::role_forbidden:
      return protocol::kRoleForbidden;
    case ErrorKind::not_found:
      return protocol::kNotFound;
    case ErrorKind::state_conflict:
      return protocol::kStateConflict;
    case ErrorKind::nonce_invalid:
      return protocol::kNonceInvalid;
    case ErrorKind::stale:
      return protocol::kStale;
    case ErrorKind::limit_exceeded:
      return protocol::kLimitExceeded;
    case ErrorKind::bad_change:
      return protocol::kBadChange;
    case ErrorKind::outside_roots:
      return protocol::kOutsideRoots;
    case ErrorKind::symlink_or_device_refused:
      return protocol::kSymlinkOrDeviceRefused;
    case ErrorKind::sandbox_unavailable:
      return protocol::kSandboxUnavailable;
    case ErrorKind::exec_not_running:
      return protocol::kExecNotRunning;
    case ErrorKind::client_cannot:
      return protocol::kClientCannot;
    case ErrorKind::locked:
      return protocol::kLocked;
    case ErrorKind::invalid_params:
      return protocol::kInvalidParams;
    case ErrorKind::cancelled:
      return protocol::kRequestCancelled;
    case ErrorKind::io:
      return protocol::kRequestFailed;
  }
  return protocol::kRequestFailed;
}

boost::json::object data_of(const Error& error) {
  boost::system::error_code bad;
  const auto value = boost::json::parse(error.data, bad);
  return !bad && value.is_object() ? value.get_object() : boost::json::object{};
}

}  // namespace

std::string uri_of(const Session& session, const std::string& path) {
  return session.documents.uri_of(path);
}

protocol::Range lines_range(const Session& session, const std::string& text, std::uint32_t line,
                            std::uint32_t end_line) {
  const std::uint32_t first = line == 0 ? 0 : line - 1;
  const std::uint32_t last = std::max(end_line, std::max(line, 1u)) - 1;
  return LineIndex(text).lines(first, last, session.client.encoding);
}

std::string review_uri(const Review& review, const ReviewFile& file, std::string_view side) {
  return std::string(protocol::kReviewScheme) + "://" + review.id + "/" + std::to_string(review.revision) + "/" +
         std::string(side) + "/" + percent_encode(side == "before" ? file.old_path : file.path);
}

std::optional<ReviewUri> parse_review_uri(const std::string& uri) {
  const std::string prefix = std::string(protocol::kReviewScheme) + "://";
  if (uri.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
  const auto id_end = uri.find('/', prefix.size());
  const auto revision_end = id_end == std::string::npos ? id_end : uri.find('/', id_end + 1);
  const auto side_end = revision_end == std::string::npos ? revision_end : uri.find('/', revision_end + 1);
  if (side_end == std::string::npos) return std::nullopt;
  ReviewUri parts;
  parts.review_id = uri.substr(prefix.size(), id_end - prefix.size());
  const std::string revision = uri.substr(id_end + 1, revision_end - id_end - 1);
  std::from_chars(revision.data(), revision.data() + revision.size(), parts.revision);
  parts.side = uri.substr(revision_end + 1, side_end - revision_end - 1);
  const auto path = percent_decode(uri.substr(side_end + 1));
  if (!path) return std::nullopt;
  parts.path = *path;
  return parts;
}

protocol::Risk to_wire(const engine::Risk& risk) {
  protocol::Risk wire;
  wire.level = same<protocol::Level>(risk.level);
  wire.score = risk.score;
  wire.categories = risk.categories;
  for (const auto& signal : risk.signals) wire.signals.push_back(signal_to_wire(signal));
  return wire;
}

protocol::Risk to_wire(const Session& session, const Review& review) {
  protocol::Risk wire = to_wire(review.risk);
  for (std::size_t i = 0; i < review.risk.signals.size(); ++i) {
    const auto& signal = review.risk.signals[i];
    for (const auto& file : review.files) {
      if (file.path != signal.file && file.patch.path() != signal.file) continue;
      const auto [line, end] = base_lines_of(file.patch, signal.line);
      wire.signals[i].uri = uri_of(session, review.root + "/" + file.old_path);
      wire.signals[i].range = lines_range(session, file.before.content, line, end);
      break;
    }
  }
  return wire;
}

protocol::Review review_to_wire(const Session& session, const Review& review) {
  protocol::Review wire;
  wire.reviewId = review.id;
  wire.revision = review.revision;
  wire.kind = same<protocol::ReviewKind>(review.kind);
  wire.state = same<protocol::ReviewState>(review.state);
  wire.lane = same<protocol::Lane>(review.lane);
  wire.title = review.title;
  wire.risk = to_wire(session, review);
  wire.agent = text_or_absent(review.agent);
  wire.createdAt = review.created_ms;
  wire.expiresAt = review.expires_ms;
  if (review.action) wire.subject = subject_to_wire(session, *review.action);
  for (const auto& file : review.files) wire.files.push_back(file_to_wire(session, review, file));
  for (const auto& check : review.checks) {
    wire.checks.push_back({.name = check.name,
                           .state = check_state(check.state),
                           .required = check.required,
                           .detail = text_or_absent(check.detail)});
  }
  if (!review.notes.empty()) wire.notes = review.notes;
  wire.undoId = text_or_absent(review.undo_id);
  return wire;
}

protocol::ReviewChangedParams changed_to_wire(const Review& review) {
  protocol::ReviewChangedParams wire;
  wire.reviewId = review.id;
  wire.revision = review.revision;
  wire.kind = same<protocol::ReviewKind>(review.kind);
  wire.state = same<protocol::ReviewState>(review.state);
  wire.lane = same<protocol::Lane>(review.lane);
  wire.title = review.title;
  return wire;
}

protocol::Grant to_wire(const engine::Grant& grant) {
  protocol::Grant wire;
  wire.id = text_or_absent(grant.id);
  wire.effect = same<protocol::GrantEffect>(grant.effect);
  wire.tool = grant.tool;
  wire.match = text_or_absent(grant.match);
  wire.subject = text_or_absent(grant.subject_hash);
  wire.callId = text_or_absent(grant.call_id);
  wire.scope = same<protocol::Scope>(grant.scope);
  wire.workspace = text_or_absent(grant.workspace);
  wire.session = text_or_absent(grant.session);
  wire.autonomy = same<protocol::Autonomy>(grant.max_autonomy);
  if (grant.created_ms != 0) wire.createdAt = grant.created_ms;
  wire.expiresAt = grant.expires_ms;
  wire.reason = text_or_absent(grant.reason);
  return wire;
}

protocol::Remedy to_wire(const engine::Remedy& remedy) {
  return {.title = remedy.title, .grant = to_wire(remedy.grant)};
}

protocol::ToolCallResult to_wire(const ToolCallAnswer& answer) {
  const engine::Decision& decision = answer.decision;
  switch (answer.outcome) {
    case ToolCallAnswer::Outcome::allow: {
      protocol::ToolCallAllowed wire;
      wire.risk = to_wire(decision.risk);
      wire.clause = text_or_absent(decision.clause);
      wire.grantId = text_or_absent(decision.grant_id);
      wire.executionToken = answer.execution_token;
      wire.expiresAt = answer.expires_ms;
      wire.constraints = {
          .profile = answer.profile, .network = answer.network, .writable = protocol::Writable::overlay};
      return wire;
    }
    case ToolCallAnswer::Outcome::deny: {
      protocol::ToolCallDenied wire;
      wire.risk = to_wire(decision.risk);
      wire.clause = decision.clause;
      wire.reason = decision.reason;
      wire.forAgent = decision.for_agent;
      for (const auto& remedy : decision.remedies) wire.remedies.push_back(to_wire(remedy));
      return wire;
    }
    case ToolCallAnswer::Outcome::pending: {
      protocol::ToolCallPending wire;
      wire.risk = to_wire(decision.risk);
      wire.reviewId = answer.review_id;
      wire.revision = answer.revision;
      wire.expiresAt = answer.expires_ms;
      return wire;
    }
  }
  return protocol::ToolCallDenied{};
}

protocol::ApplyResult to_wire(const Session& session, const ApplyOutcome& outcome, const std::string& root) {
  protocol::ApplyResult wire;
  wire.state = outcome.state == "applied"      ? protocol::ApplyState::applied
               : outcome.state == "unverified" ? protocol::ApplyState::unverified
                                               : protocol::ApplyState::refused;
  wire.reason = text_or_absent(outcome.reason);
  wire.undoId = text_or_absent(outcome.undo_id);
  for (const auto& file : outcome.files) {
    wire.files.push_back({.uri = uri_of(session, root + "/" + file.path),
                          .via = file.via == "editor" ? protocol::AppliedVia::editor : protocol::AppliedVia::disk,
                          .result = file.result,
                          .sha256 = text_or_absent(file.sha256)});
  }
  return wire;
}

protocol::Enforcement to_wire(const sandbox::Enforcement& enforcement) {
  return {.backend = enforcement.backend,
          .level = enforcement.level,
          .layers = enforcement.layers,
          .writable = enforcement.writable,
          .memory = enforcement.memory};
}

protocol::PoolState to_wire(const sandbox::PoolStatus& pool) {
  const auto milliseconds = [](auto time) { return std::chrono::duration<double, std::milli>(time).count(); };
  return {.ready = static_cast<std::int64_t>(pool.ready),
          .wanted = static_cast<std::int64_t>(pool.wanted),
          .warm = static_cast<std::int64_t>(pool.warm),
          .cold = static_cast<std::int64_t>(pool.cold),
          .slow = static_cast<std::int64_t>(pool.slow),
          .typicalMs = milliseconds(pool.typical),
          .worstMs = milliseconds(pool.worst),
          .goalMs = sandbox::kHandOffGoal.count()};
}

protocol::ExecuteExitedParams to_wire(const Session& session, const FinishedExecution& finished) {
  const sandbox::Execution& execution = finished.execution;
  protocol::ExecuteExitedParams wire;
  wire.execId = finished.exec_id;
  wire.exitCode = execution.exit_code;
  wire.signal = execution.signal;
  wire.reason = same<protocol::ExitReason>(execution.reason);
  if (finished.cage_error) {
    wire.reason = protocol::ExitReason::policy;
    wire.error = finished.cage_error->message;
  }
  wire.usage = {.cpuMs = execution.usage.cpu.count(),
                .maxRssBytes = static_cast<std::int64_t>(execution.usage.max_rss_bytes)};
  wire.durationMs = execution.duration.count();
  for (const auto& violation : execution.violations) {
    protocol::Violation item{
        .kind = same<protocol::ViolationKind>(violation.kind), .detail = violation.detail, .remedy = {}};
    for (const auto& remedy : finished.remedies) {
      if (remedy.grant.match == violation.detail) item.remedy = to_wire(remedy);
    }
    wire.violations.push_back(std::move(item));
  }
  std::vector<protocol::Signal> signals;
  for (const auto* stream : {&execution.out, &execution.err}) {
    for (const auto& signal : engine::scan_output(stream->head + stream->tail))
      signals.push_back(signal_to_wire(signal));
  }
  if (!signals.empty()) wire.outputSignals = std::move(signals);
  wire.enforcement = to_wire(execution.enforcement);
  const auto review = finished.review_id.empty() ? nullptr : session.broker->find_review(finished.review_id);
  if (review) {
    protocol::ExecuteChanges changes{.reviewId = review->id, .lane = same<protocol::Lane>(review->lane), .files = {}};
    for (const auto& file : review_to_wire(session, *review).files) {
      changes.files.push_back({.uri = file.uri, .status = file.status, .added = file.added, .removed = file.removed});
    }
    wire.changes = std::move(changes);
  }
  return wire;
}

namespace {

/// The page of a rule, or of the category that a clause names. A rule of the person's own has none.
std::optional<protocol::CodeDescription> page_of(const Session& session, std::string_view code) {
  constexpr std::string_view kClausePrefix = "command.";
  if (code.starts_with(kClausePrefix)) code.remove_prefix(kClausePrefix.size());
  if (!session.client.code_description || session.rules_dir.empty()) return std::nullopt;
  if (engine::find_rule_text(code) == nullptr) return std::nullopt;
  return protocol::CodeDescription{.href = to_uri(session.rules_dir + "/" + std::string(code) + ".md")};
}

}  // namespace

protocol::Diagnostic to_wire(const Session& session, const Finding& finding, const std::string& text) {
  protocol::Diagnostic wire;
  wire.range = lines_range(session, text, finding.line, finding.end_line);
  wire.severity = severity_to_wire(finding.severity);
  wire.code = finding.rule;
  wire.codeDescription = page_of(session, finding.rule);
  wire.source = "escrow";
  wire.message = engine::one_line(finding.message, 400);
  boost::json::object data;
  if (!finding.review_id.empty()) {
    data = {{"reviewId", finding.review_id}, {"revision", finding.revision}};
    if (finding.signal >= 0) data["signal"] = finding.signal;
  }
  if (!finding.remedy_id.empty()) data["remedyId"] = finding.remedy_id;
  if (!data.empty()) wire.data = std::move(data);
  return wire;
}

protocol::ResponseError to_wire(const Error& error) {
  const int code = code_of(error.kind);
  if (code < 0) return {code, error.message, nullptr};
  return escrow_error(code, error.message, data_of(error));
}

}  // namespace escrow::server::lsp
