#include "protocol/escrow_tool_call.h"

#include "protocol/union.h"

namespace escrow::protocol {

bool from_json(const json::value& value, ToolCallResult& out, const Path& path) {
  return read_union(value, "decision", path,
                    {alternative<ToolCallAllowed>(out, "allow"), alternative<ToolCallDenied>(out, "deny"),
                     alternative<ToolCallPending>(out, "pending")});
}

json::value to_json(const ToolCallResult& result) {
  return write_union(result);
}

}  // namespace escrow::protocol
