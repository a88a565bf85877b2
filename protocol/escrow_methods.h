#pragma once

#include <array>
#include <string_view>

/// Every name Escrow adds to LSP. See protocol/README.md.
namespace escrow::protocol {

/// Requests from the client.
namespace method {
inline constexpr std::string_view kAgentRegister = "escrow/agent/register";
inline constexpr std::string_view kAgentEnd = "escrow/agent/end";
inline constexpr std::string_view kToolCall = "escrow/toolCall";
inline constexpr std::string_view kProposeDiff = "escrow/proposeDiff";
inline constexpr std::string_view kReviewList = "escrow/review/list";
inline constexpr std::string_view kReviewGet = "escrow/review/get";
inline constexpr std::string_view kReviewContent = "escrow/review/content";
inline constexpr std::string_view kReviewApprove = "escrow/review/approve";
inline constexpr std::string_view kReviewReject = "escrow/review/reject";
inline constexpr std::string_view kReviewNonce = "escrow/review/nonce";
inline constexpr std::string_view kApply = "escrow/apply";
inline constexpr std::string_view kApplyUndo = "escrow/apply/undo";
inline constexpr std::string_view kExecute = "escrow/execute";
inline constexpr std::string_view kExecuteWait = "escrow/execute/wait";
inline constexpr std::string_view kExecuteRead = "escrow/execute/read";
inline constexpr std::string_view kExecuteWrite = "escrow/execute/write";
inline constexpr std::string_view kExecuteKill = "escrow/execute/kill";
inline constexpr std::string_view kGrantsList = "escrow/grants/list";
inline constexpr std::string_view kGrantsAdd = "escrow/grants/add";
inline constexpr std::string_view kGrantsRevoke = "escrow/grants/revoke";
inline constexpr std::string_view kGrantsNonce = "escrow/grants/nonce";
inline constexpr std::string_view kPolicyGet = "escrow/policy/get";
inline constexpr std::string_view kPolicyExplain = "escrow/policy/explain";
inline constexpr std::string_view kPolicyReload = "escrow/policy/reload";
inline constexpr std::string_view kAuditQuery = "escrow/audit/query";
inline constexpr std::string_view kAuditVerify = "escrow/audit/verify";
inline constexpr std::string_view kStatus = "escrow/status";
}  // namespace method

inline constexpr std::array kMethods = {
    method::kAgentRegister, method::kAgentEnd,    method::kToolCall,      method::kProposeDiff,
    method::kReviewList,    method::kReviewGet,   method::kReviewContent, method::kReviewApprove,
    method::kReviewReject,  method::kReviewNonce, method::kApply,         method::kApplyUndo,
    method::kExecute,       method::kExecuteWait, method::kExecuteRead,   method::kExecuteWrite,
    method::kExecuteKill,   method::kGrantsList,  method::kGrantsAdd,     method::kGrantsRevoke,
    method::kGrantsNonce,   method::kPolicyGet,   method::kPolicyExplain, method::kPolicyReload,
    method::kAuditQuery,    method::kAuditVerify, method::kStatus};

/// Notifications to the client, each sent only if the client names its group in `notifications`.
namespace notification {
inline constexpr std::string_view kReviewChanged = "escrow/review/changed";  // review
inline constexpr std::string_view kGrantsChanged = "escrow/grants/changed";  // grants
inline constexpr std::string_view kStatusChanged = "escrow/status/changed";  // status
inline constexpr std::string_view kExecuteOutput = "escrow/execute/output";  // exec
inline constexpr std::string_view kExecuteExited = "escrow/execute/exited";  // exec
}  // namespace notification

inline constexpr std::array kNotifications = {notification::kReviewChanged, notification::kGrantsChanged,
                                              notification::kStatusChanged, notification::kExecuteOutput,
                                              notification::kExecuteExited};

/// Ids for workspace/executeCommand: the same in every client.
namespace command {
inline constexpr std::string_view kReviewShow = "escrow.review.show";
inline constexpr std::string_view kReviewApprove = "escrow.review.approve";
inline constexpr std::string_view kReviewReject = "escrow.review.reject";
inline constexpr std::string_view kAllowOnce = "escrow.decision.allowOnce";
inline constexpr std::string_view kAllowSession = "escrow.decision.allowSession";
inline constexpr std::string_view kAllowWorkspace = "escrow.decision.allowWorkspace";
inline constexpr std::string_view kDeny = "escrow.decision.deny";
inline constexpr std::string_view kRemedyGrant = "escrow.remedy.grant";
inline constexpr std::string_view kApply = "escrow.apply";
inline constexpr std::string_view kUndo = "escrow.undo";
inline constexpr std::string_view kHunkRevert = "escrow.hunk.revert";
inline constexpr std::string_view kRiskAccept = "escrow.risk.accept";
inline constexpr std::string_view kExecKill = "escrow.exec.kill";
inline constexpr std::string_view kGrantsRevokeAll = "escrow.grants.revokeAll";
inline constexpr std::string_view kLock = "escrow.lock";
inline constexpr std::string_view kStatus = "escrow.status";
}  // namespace command

inline constexpr std::array kCommands = {command::kReviewShow, command::kReviewApprove,   command::kReviewReject,
                                         command::kAllowOnce,  command::kAllowSession,    command::kAllowWorkspace,
                                         command::kDeny,       command::kRemedyGrant,     command::kApply,
                                         command::kUndo,       command::kHunkRevert,      command::kRiskAccept,
                                         command::kExecKill,   command::kGrantsRevokeAll, command::kLock,
                                         command::kStatus};

}  // namespace escrow::protocol
