#include "protocol/escrow_capabilities.h"

namespace escrow::protocol {

Result<std::optional<EscrowClientCapabilities>> read_client_capabilities(const json::value& experimental) {
  const json::object* object = experimental.if_object();
  const json::value* ours = object ? object->if_contains("escrow") : nullptr;
  if (!ours || ours->is_null()) return std::optional<EscrowClientCapabilities>();
  auto read_ours = read<EscrowClientCapabilities>(*ours, "params.capabilities.experimental.escrow");
  if (!read_ours) return read_ours.error();
  return std::optional(std::move(*read_ours));
}

}  // namespace escrow::protocol
