#include "protocol/lsp_window.h"

#include "protocol/union.h"

namespace escrow::protocol {

bool from_json(const json::value& value, WorkDoneProgress& out, const Path& path) {
  return read_union(value, "kind", path,
                    {alternative<WorkDoneProgressBegin>(out, "begin"),
                     alternative<WorkDoneProgressReport>(out, "report"), alternative<WorkDoneProgressEnd>(out, "end")});
}

json::value to_json(const WorkDoneProgress& progress) {
  return write_union(progress);
}

}  // namespace escrow::protocol
