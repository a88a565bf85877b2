#include "protocol/escrow_common.h"

#include "protocol/union.h"

namespace escrow::protocol {

bool from_json(const json::value& value, Subject& out, const Path& path) {
  return read_union(value, "kind", path,
                    {alternative<ShellSubject>(out, "shell"), alternative<ExecSubject>(out, "exec"),
                     alternative<FileSubject>(out, "file"), alternative<NetworkSubject>(out, "network"),
                     alternative<McpSubject>(out, "mcp"), alternative<OtherSubject>(out, "other")});
}

json::value to_json(const Subject& subject) {
  return write_union(subject);
}

}  // namespace escrow::protocol
