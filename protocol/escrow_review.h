#pragma once

#include "protocol/escrow_common.h"
#include "protocol/lsp_edit.h"

/// escrow/proposeDiff, escrow/review/…, escrow/apply. See protocol/README.md.
namespace escrow::protocol {

/// A unified diff, in git's format or plain.
struct PatchChange {
  Uri root;
  std::string text;
  static void fields(auto& f, auto& self) {
    f.constant("form", "patch");
    f.required("root", self.root);
    f.required("text", self.text);
  }
  bool operator==(const PatchChange&) const = default;
};

/// Whole files.
struct FilesChange {
  struct File {
    Uri uri;
    std::optional<std::string> newText;  ///< null: delete
    std::optional<std::string> mode;     ///< git's octal mode, such as "100755"
    static void fields(auto& f, auto& self) {
      f.required("uri", self.uri);
      f.nullable("newText", self.newText);
      f.optional("mode", self.mode);
    }
    bool operator==(const File&) const = default;
  };
  std::vector<File> files;
  static void fields(auto& f, auto& self) {
    f.constant("form", "files");
    f.required("files", self.files);
  }
  bool operator==(const FilesChange&) const = default;
};

/// LSP's own form.
struct EditChange {
  WorkspaceEdit edit;
  static void fields(auto& f, auto& self) {
    f.constant("form", "edit");
    f.required("edit", self.edit);
  }
  bool operator==(const EditChange&) const = default;
};

using Change = std::variant<PatchChange, FilesChange, EditChange>;
bool from_json(const json::value& value, Change& out, const Path& path);
json::value to_json(const Change& change);

/// What the agent believes a file was when it made its change.
struct Base {
  Uri uri;
  std::optional<std::string> sha256;  ///< hex, of the whole text or file
  std::optional<std::int32_t> version;
  bool exists = true;
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.optional("sha256", self.sha256);
    f.optional("version", self.version);
    f.required("exists", self.exists);
  }
  bool operator==(const Base&) const = default;
};

struct ProposeDiffParams : AgentCredential {
  std::string callId, title;
  std::optional<std::string> rationale;
  std::optional<double> confidence;  ///< 0..1
  Change change;
  std::optional<std::vector<Base>> bases;
  std::optional<std::string> supersedes;  ///< reviewId of an own proposal that this one replaces
  static void fields(auto& f, auto& self) {
    AgentCredential::fields(f, self);
    f.required("callId", self.callId);
    f.required("title", self.title);
    f.optional("rationale", self.rationale);
    f.optional("confidence", self.confidence);
    f.required("change", self.change);
    f.optional("bases", self.bases);
    f.optional("supersedes", self.supersedes);
  }
  bool operator==(const ProposeDiffParams&) const = default;
};

enum class ReviewState {
  pending,
  checking,
  approved,
  rejected,
  applied,
  stale,
  expired,
  withdrawn,
  failed,
  unverified
};
constexpr auto wire_names(ReviewState) {
  return std::array<WireName<ReviewState>, 10>{{{ReviewState::pending, "pending"},
                                                {ReviewState::checking, "checking"},
                                                {ReviewState::approved, "approved"},
                                                {ReviewState::rejected, "rejected"},
                                                {ReviewState::applied, "applied"},
                                                {ReviewState::stale, "stale"},
                                                {ReviewState::expired, "expired"},
                                                {ReviewState::withdrawn, "withdrawn"},
                                                {ReviewState::failed, "failed"},
                                                {ReviewState::unverified, "unverified"}}};
}

/// A review is about a tool call that waits, or about a change.
enum class ReviewKind { call, change };
constexpr auto wire_names(ReviewKind) {
  return std::array<WireName<ReviewKind>, 2>{{{ReviewKind::call, "call"}, {ReviewKind::change, "change"}}};
}

enum class FileStatus { added, modified, deleted, renamed, type_changed };
constexpr auto wire_names(FileStatus) {
  return std::array<WireName<FileStatus>, 5>{{{FileStatus::added, "A"},
                                              {FileStatus::modified, "M"},
                                              {FileStatus::deleted, "D"},
                                              {FileStatus::renamed, "R"},
                                              {FileStatus::type_changed, "T"}}};
}

enum class HunkMark { undecided, approved, rejected };
constexpr auto wire_names(HunkMark) {
  return std::array<WireName<HunkMark>, 3>{
      {{HunkMark::undecided, "undecided"}, {HunkMark::approved, "approved"}, {HunkMark::rejected, "rejected"}}};
}

struct ReviewHunk {
  std::string id;  ///< stable across revisions while the hunk's content is
  Range range;     ///< what it replaces in the file as it is now
  std::int32_t score = 0;
  std::vector<std::int32_t> signals;  ///< indices into the review's risk.signals
  std::optional<HunkMark> mark;       ///< absent: undecided
  static void fields(auto& f, auto& self) {
    f.required("id", self.id);
    f.required("range", self.range);
    f.required("score", self.score);
    f.required("signals", self.signals);
    f.optional("mark", self.mark);
  }
  bool operator==(const ReviewHunk&) const = default;
};

struct ReviewFile {
  Uri uri;
  FileStatus status = FileStatus::modified;
  std::optional<Uri> oldUri;                    ///< of a rename
  std::optional<std::string> oldMode, newMode;  ///< git's octal modes, where they differ
  std::int32_t added = 0, removed = 0;          ///< lines
  Uri before, after;                            ///< for escrow/review/content
  std::vector<ReviewHunk> hunks;
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.required("status", self.status);
    f.optional("oldUri", self.oldUri);
    f.optional("oldMode", self.oldMode);
    f.optional("newMode", self.newMode);
    f.required("added", self.added);
    f.required("removed", self.removed);
    f.required("before", self.before);
    f.required("after", self.after);
    f.required("hunks", self.hunks);
  }
  bool operator==(const ReviewFile&) const = default;
};

enum class CheckState { running, passed, failed, skipped };
constexpr auto wire_names(CheckState) {
  return std::array<WireName<CheckState>, 4>{{{CheckState::running, "running"},
                                              {CheckState::passed, "passed"},
                                              {CheckState::failed, "failed"},
                                              {CheckState::skipped, "skipped"}}};
}

struct Check {
  std::string name;
  CheckState state = CheckState::skipped;
  bool required = false;
  std::optional<std::string> detail;
  static void fields(auto& f, auto& self) {
    f.required("name", self.name);
    f.required("state", self.state);
    f.required("required", self.required);
    f.optional("detail", self.detail);
  }
  bool operator==(const Check&) const = default;
};

/// The result of escrow/proposeDiff, escrow/review/get, approve and reject.
struct Review {
  std::string reviewId;
  std::int32_t revision = 1;
  ReviewKind kind = ReviewKind::change;
  ReviewState state = ReviewState::pending;
  Lane lane = Lane::low;
  std::string title;
  Risk risk;
  std::optional<std::string> agent;  ///< its name
  std::optional<std::int64_t> createdAt, expiresAt;
  std::optional<Subject> subject;                 ///< of a call
  std::vector<ReviewFile> files;                  ///< of a change
  std::vector<Check> checks;                      ///< of a change
  std::optional<std::vector<std::string>> notes;  ///< such as `parse-error`
  std::optional<std::string> undoId;              ///< once applied
  static void fields(auto& f, auto& self) {
    f.required("reviewId", self.reviewId);
    f.required("revision", self.revision);
    f.required("kind", self.kind);
    f.required("state", self.state);
    f.required("lane", self.lane);
    f.required("title", self.title);
    f.required("risk", self.risk);
    f.optional("agent", self.agent);
    f.optional("createdAt", self.createdAt);
    f.optional("expiresAt", self.expiresAt);
    f.optional("subject", self.subject);
    f.required("files", self.files);
    f.required("checks", self.checks);
    f.optional("notes", self.notes);
    f.optional("undoId", self.undoId);
  }
  bool operator==(const Review&) const = default;
};

struct ReviewListParams {
  std::optional<std::vector<ReviewState>> states;  ///< absent: all that are not settled
  static void fields(auto& f, auto& self) { f.optional("states", self.states); }
  bool operator==(const ReviewListParams&) const = default;
};

struct ReviewListResult {
  std::vector<Review> reviews;  ///< newest first
  static void fields(auto& f, auto& self) { f.required("reviews", self.reviews); }
  bool operator==(const ReviewListResult&) const = default;
};

struct ReviewGetParams {
  std::string reviewId;
  static void fields(auto& f, auto& self) { f.required("reviewId", self.reviewId); }
  bool operator==(const ReviewGetParams&) const = default;
};

/// The `before` or `after` of a file.
struct ReviewContentParams {
  Uri uri;
  static void fields(auto& f, auto& self) { f.required("uri", self.uri); }
  bool operator==(const ReviewContentParams&) const = default;
};

struct ReviewContentResult {
  std::string text;
  static void fields(auto& f, auto& self) { f.required("text", self.text); }
  bool operator==(const ReviewContentResult&) const = default;
};

struct ReviewApproveParams {
  std::string reviewId;
  std::int32_t revision = 0;
  std::string nonce;
  std::optional<std::vector<std::string>> hunks;  ///< absent: the whole
  std::optional<std::string> note;
  static void fields(auto& f, auto& self) {
    f.required("reviewId", self.reviewId);
    f.required("revision", self.revision);
    f.required("nonce", self.nonce);
    f.optional("hunks", self.hunks);
    f.optional("note", self.note);
  }
  bool operator==(const ReviewApproveParams&) const = default;
};

struct ReviewRejectParams {
  std::string reviewId;
  std::int32_t revision = 0;
  std::string nonce;
  std::optional<std::vector<std::string>> hunks;  ///< absent: the whole
  std::optional<std::string> reason;
  std::optional<Scope> remember;  ///< also deny the like of it from now on
  static void fields(auto& f, auto& self) {
    f.required("reviewId", self.reviewId);
    f.required("revision", self.revision);
    f.required("nonce", self.nonce);
    f.optional("hunks", self.hunks);
    f.optional("reason", self.reason);
    f.optional("remember", self.remember);
  }
  bool operator==(const ReviewRejectParams&) const = default;
};

/// What a nonce may be for.
enum class Verb { approve, reject, apply, undo, allowOnce, allowSession, allowWorkspace, allowUser, deny };
constexpr auto wire_names(Verb) {
  return std::array<WireName<Verb>, 9>{{{Verb::approve, "approve"},
                                        {Verb::reject, "reject"},
                                        {Verb::apply, "apply"},
                                        {Verb::undo, "undo"},
                                        {Verb::allowOnce, "allowOnce"},
                                        {Verb::allowSession, "allowSession"},
                                        {Verb::allowWorkspace, "allowWorkspace"},
                                        {Verb::allowUser, "allowUser"},
                                        {Verb::deny, "deny"}}};
}

/// For a plugin's own view. A credential in it means that an agent asks, which is refused.
struct ReviewNonceParams : OptionalCredential {
  std::string reviewId;
  std::int32_t revision = 0;
  Verb verb = Verb::approve;
  std::optional<std::string> hunk;
  static void fields(auto& f, auto& self) {
    OptionalCredential::fields(f, self);
    f.required("reviewId", self.reviewId);
    f.required("revision", self.revision);
    f.required("verb", self.verb);
    f.optional("hunk", self.hunk);
  }
  bool operator==(const ReviewNonceParams&) const = default;
};

struct NonceResult {
  std::string nonce;
  std::int64_t expiresAt = 0;
  static void fields(auto& f, auto& self) {
    f.required("nonce", self.nonce);
    f.required("expiresAt", self.expiresAt);
  }
  bool operator==(const NonceResult&) const = default;
};

/// An agent with its credential, or the person with a nonce.
struct ApplyParams : OptionalCredential {
  std::string reviewId;
  std::int32_t revision = 0;
  std::optional<std::string> nonce;
  std::optional<bool> save;  ///< also save the open documents it changed
  static void fields(auto& f, auto& self) {
    OptionalCredential::fields(f, self);
    f.required("reviewId", self.reviewId);
    f.required("revision", self.revision);
    f.optional("nonce", self.nonce);
    f.optional("save", self.save);
  }
  bool operator==(const ApplyParams&) const = default;
};

struct ApplyUndoParams {
  std::string undoId;
  std::string nonce;
  static void fields(auto& f, auto& self) {
    f.required("undoId", self.undoId);
    f.required("nonce", self.nonce);
  }
  bool operator==(const ApplyUndoParams&) const = default;
};

enum class ApplyState { applied, refused, unverified };
constexpr auto wire_names(ApplyState) {
  return std::array<WireName<ApplyState>, 3>{
      {{ApplyState::applied, "applied"}, {ApplyState::refused, "refused"}, {ApplyState::unverified, "unverified"}}};
}

enum class AppliedVia { editor, disk };
constexpr auto wire_names(AppliedVia) {
  return std::array<WireName<AppliedVia>, 2>{{{AppliedVia::editor, "editor"}, {AppliedVia::disk, "disk"}}};
}

struct AppliedFile {
  Uri uri;
  AppliedVia via = AppliedVia::disk;
  std::string result;                 ///< written, deleted, declined, unverified, stale, untouched
  std::optional<std::string> sha256;  ///< of what is there now
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.required("via", self.via);
    f.required("result", self.result);
    f.optional("sha256", self.sha256);
  }
  bool operator==(const AppliedFile&) const = default;
};

/// Of escrow/apply and escrow/apply/undo.
struct ApplyResult {
  ApplyState state = ApplyState::refused;
  std::optional<std::string> reason;  ///< why not applied
  std::vector<AppliedFile> files;
  std::optional<std::string> undoId;
  static void fields(auto& f, auto& self) {
    f.required("state", self.state);
    f.optional("reason", self.reason);
    f.required("files", self.files);
    f.optional("undoId", self.undoId);
  }
  bool operator==(const ApplyResult&) const = default;
};

/// Notification escrow/review/changed.
struct ReviewChangedParams {
  std::string reviewId;
  std::int32_t revision = 1;
  ReviewKind kind = ReviewKind::change;
  ReviewState state = ReviewState::pending;
  Lane lane = Lane::low;
  std::string title;
  static void fields(auto& f, auto& self) {
    f.required("reviewId", self.reviewId);
    f.required("revision", self.revision);
    f.required("kind", self.kind);
    f.required("state", self.state);
    f.required("lane", self.lane);
    f.required("title", self.title);
  }
  bool operator==(const ReviewChangedParams&) const = default;
};

}  // namespace escrow::protocol
