#pragma once

#include <string_view>

/// The codes an error answer may carry. JSON-RPC's and LSP's are negative; Escrow's own are positive, outside the
/// ranges those two reserve.
namespace escrow::protocol {

// JSON-RPC 2.0, section 5.1.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;

// LSP 3.17, "Base Protocol".
inline constexpr int kServerNotInitialized = -32002;
inline constexpr int kRequestFailed = -32803;
inline constexpr int kServerCancelled = -32802;
inline constexpr int kContentModified = -32801;
inline constexpr int kRequestCancelled = -32800;

// Escrow's own; `data.kind` carries the name that kind_of() gives.
inline constexpr int kUnknownAgent = 4001;
inline constexpr int kRoleForbidden = 4003;
inline constexpr int kNotFound = 4004;
inline constexpr int kStateConflict = 4009;
inline constexpr int kNonceInvalid = 4010;
inline constexpr int kStale = 4012;
inline constexpr int kLimitExceeded = 4013;
inline constexpr int kBadChange = 4022;
inline constexpr int kOutsideRoots = 4030;
inline constexpr int kSymlinkOrDeviceRefused = 4031;
inline constexpr int kSandboxUnavailable = 4050;
inline constexpr int kExecNotRunning = 4051;
inline constexpr int kClientCannot = 4060;
inline constexpr int kLocked = 4070;

/// The stable name of a code, as in `data.kind`: `unknownAgent`, `stale`, …; empty for a code not listed here.
std::string_view kind_of(int code);

}  // namespace escrow::protocol
