// library: escrow_protocol
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "protocol/escrow.h"
#include "protocol/lsp_types.h"
#include "protocol/message.h"

using namespace escrow::protocol;

namespace {

/// Boost.JSON reads some fractions an ulp off, so that text and value do not stay a pair.
bool has_fraction(const json::value& value) {
  const auto any = [](const auto& members, const auto& get) {
    return std::any_of(members.begin(), members.end(), [&](const auto& one) { return has_fraction(get(one)); });
  };
  if (value.is_array()) return any(value.get_array(), [](const json::value& one) -> const json::value& { return one; });
  if (value.is_object()) {
    return any(value.get_object(), [](const json::key_value_pair& one) -> const json::value& { return one.value(); });
  }
  return value.is_double();
}

/// A value that is read must be written as something that reads as the same value. Its text may differ from the input,
/// which has unknown members, nulls for absent ones, and numbers of other spellings.
template <class T>
void check(const json::value& value) {
  const auto first = read<T>(value);
  if (!first) {
    if (!first.error().message.starts_with("params")) std::abort();
    return;
  }
  const auto second = read<T>(to_json(*first));
  if (!second || !(*second == *first)) std::abort();
}

template <class... Ts>
void check_each(const json::value& value) {
  (check<Ts>(value), ...);
}

}  // namespace

/// A body is parsed, written and parsed again; its parameters are read as every type there is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto message = parse_message({reinterpret_cast<const char*>(data), size});
  if (!message) {
    if (message.error().error.message.empty()) std::abort();
    return 0;
  }
  const auto again = parse_message(encode(*message));
  if (!again) std::abort();
  const auto* request = std::get_if<Request>(&*message);
  if (!request || has_fraction(request->params)) return 0;
  if (!(*again == *message)) std::abort();
  check_each<InitializeParams, DidOpenTextDocumentParams, DidChangeTextDocumentParams, CodeActionParams, HoverParams,
             ExecuteCommandParams, ApplyWorkspaceEditParams, ProgressParams, PublishDiagnosticsParams, RegisterParams,
             ToolCallParams, ToolCallResult, ProposeDiffParams, Review, ReviewApproveParams, ReviewRejectParams,
             ReviewNonceParams, ApplyParams, ApplyResult, ExecuteParams, ExecuteResult, ExecuteOutputParams,
             ExecuteExitedParams, ExecuteReadParams, GrantsAddParams, GrantsRevokeParams, PolicyGetResult,
             PolicyExplainParams, AuditQueryResult, Status, EscrowServerCapabilities, MatterArgument>(request->params);
  return 0;
}
