#pragma once

#include "protocol/escrow.h"
#include "protocol/lsp_types.h"
#include "server/error.h"
#include "server/lsp/reply.h"

namespace escrow::server::lsp {

class Binder;
struct Session;

/// What the person's views call: reviews, grants, policy, audit, status. What loosens takes a nonce that this
/// connection was given; a request for one that carries an agent's credential is refused.
class PersonMethods {
 public:
  explicit PersonMethods(Session& session) : session_(session) {}
  void bind(Binder& binder);

  protocol::Status status() const;

 private:
  void list(const protocol::ReviewListParams& params, Reply reply);
  void get(const protocol::ReviewGetParams& params, Reply reply);
  void content(const protocol::ReviewContentParams& params, Reply reply);
  void approve(const protocol::ReviewApproveParams& params, Reply reply);
  void reject(const protocol::ReviewRejectParams& params, Reply reply);
  void nonce(const protocol::ReviewNonceParams& params, Reply reply);
  void undo(const protocol::ApplyUndoParams& params, Reply reply);
  void grants_list(const protocol::NoParams& params, Reply reply);
  void grants_add(const protocol::GrantsAddParams& params, Reply reply);
  void grants_revoke(const protocol::GrantsRevokeParams& params, Reply reply);
  void grants_nonce(const protocol::GrantsNonceParams& params, Reply reply);
  void policy_get(const protocol::NoParams& params, Reply reply);
  void policy_explain(const protocol::PolicyExplainParams& params, Reply reply);
  void policy_reload(const protocol::NoParams& params, Reply reply);
  void audit_query(const protocol::AuditQueryParams& params, Reply reply);
  void audit_verify(const protocol::AuditVerifyParams& params, Reply reply);
  void answer_status(const protocol::NoParams& params, Reply reply);
  void text_document_content(const protocol::TextDocumentContentParams& params, Reply reply);
  template <class Params>
  Result<void> spend_for_hunks(const Params& params, std::string_view command);
  Result<std::string> review_text(const std::string& uri) const;

  Session& session_;
};

/// The verb a nonce is bound to, as the command id it lets through.
std::string_view command_of_verb(protocol::Verb verb);

}  // namespace escrow::server::lsp
