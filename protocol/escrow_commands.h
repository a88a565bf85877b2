#pragma once

#include "protocol/escrow_common.h"

/// The one argument of each of our commands (workspace/executeCommand). See protocol/README.md, "Commands".
namespace escrow::protocol {

/// escrow.review.*, escrow.decision.*, escrow.apply. `show` and `deny` need no nonce.
struct MatterArgument {
  std::string reviewId;
  std::int32_t revision = 0;
  std::optional<std::string> nonce;
  std::optional<std::string> hunk;  ///< of approve and reject: this one only
  std::optional<Uri> uri;           ///< of show: which file
  static void fields(auto& f, auto& self) {
    f.required("reviewId", self.reviewId);
    f.required("revision", self.revision);
    f.optional("nonce", self.nonce);
    f.optional("hunk", self.hunk);
    f.optional("uri", self.uri);
  }
  bool operator==(const MatterArgument&) const = default;
};

/// escrow.undo.
struct UndoArgument {
  std::string undoId;
  std::string nonce;
  static void fields(auto& f, auto& self) {
    f.required("undoId", self.undoId);
    f.required("nonce", self.nonce);
  }
  bool operator==(const UndoArgument&) const = default;
};

/// escrow.remedy.grant.
struct RemedyArgument {
  std::string remedyId;
  std::string nonce;
  static void fields(auto& f, auto& self) {
    f.required("remedyId", self.remedyId);
    f.required("nonce", self.nonce);
  }
  bool operator==(const RemedyArgument&) const = default;
};

/// escrow.hunk.revert and escrow.risk.accept: a finding on an open document.
struct FindingArgument {
  Uri uri;
  std::string hunk;  ///< id: the text it is about, so that a later edit makes the click void
  std::optional<std::string> rule;
  static void fields(auto& f, auto& self) {
    f.required("uri", self.uri);
    f.required("hunk", self.hunk);
    f.optional("rule", self.rule);
  }
  bool operator==(const FindingArgument&) const = default;
};

/// escrow.exec.kill.
struct ExecArgument {
  std::string execId;
  static void fields(auto& f, auto& self) { f.required("execId", self.execId); }
  bool operator==(const ExecArgument&) const = default;
};

/// escrow.lock. Locking needs no nonce, unlocking does.
struct LockArgument {
  bool locked = true;
  std::optional<std::string> nonce;
  static void fields(auto& f, auto& self) {
    f.required("locked", self.locked);
    f.optional("nonce", self.nonce);
  }
  bool operator==(const LockArgument&) const = default;
};

}  // namespace escrow::protocol
