#include "protocol/escrow_execute.h"

#include "protocol/union.h"

namespace escrow::protocol {

bool from_json(const json::value& value, ExecuteCommand& out, const Path& path) {
  ObjectReader reader(value, path);
  reader.optional("argv", out.argv);
  reader.optional("shell", out.shell);
  if (!reader.ok()) return false;
  if (out.argv.has_value() == out.shell.has_value()) return path.fail("expected either argv or shell");
  if (out.argv && out.argv->empty()) return path.field("argv").fail("expected at least the program");
  return true;
}

json::value to_json(const ExecuteCommand& command) {
  json::object object;
  ObjectWriter writer(object);
  writer.optional("argv", command.argv);
  writer.optional("shell", command.shell);
  return object;
}

bool from_json(const json::value& value, ExecuteResult& out, const Path& path) {
  return read_union(value, "decision", path,
                    {alternative<ExecuteStarted>(out, "allow"), alternative<ToolCallDenied>(out, "deny"),
                     alternative<ToolCallPending>(out, "pending")});
}

json::value to_json(const ExecuteResult& result) {
  return write_union(result);
}

}  // namespace escrow::protocol
