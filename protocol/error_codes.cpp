#include "protocol/error_codes.h"

namespace escrow::protocol {

std::string_view kind_of(int code) {
  switch (code) {
    case kParseError:
      return "parseError";
    case kInvalidRequest:
      return "invalidRequest";
    case kMethodNotFound:
      return "methodNotFound";
    case kInvalidParams:
      return "invalidParams";
    case kInternalError:
      return "internalError";
    case kServerNotInitialized:
      return "serverNotInitialized";
    case kRequestFailed:
      return "requestFailed";
    case kServerCancelled:
      return "serverCancelled";
    case kContentModified:
      return "contentModified";
    case kRequestCancelled:
      return "requestCancelled";
    case kUnknownAgent:
      return "unknownAgent";
    case kRoleForbidden:
      return "roleForbidden";
    case kNotFound:
      return "notFound";
    case kStateConflict:
      return "stateConflict";
    case kNonceInvalid:
      return "nonceInvalid";
    case kStale:
      return "stale";
    case kLimitExceeded:
      return "limitExceeded";
    case kBadChange:
      return "badChange";
    case kOutsideRoots:
      return "outsideRoots";
    case kSymlinkOrDeviceRefused:
      return "symlinkOrDeviceRefused";
    case kSandboxUnavailable:
      return "sandboxUnavailable";
    case kExecNotRunning:
      return "execNotRunning";
    case kClientCannot:
      return "clientCannot";
    case kLocked:
      return "locked";
    default:
      return {};
  }
}

}  // namespace escrow::protocol
