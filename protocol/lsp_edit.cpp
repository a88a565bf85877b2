#include "protocol/lsp_edit.h"

#include "protocol/union.h"

namespace escrow::protocol {

bool from_json(const json::value& value, DocumentChange& out, const Path& path) {
  const json::object* object = value.if_object();
  if (!object) return path.fail("expected object");
  if (!object->contains("kind")) return from_json(value, out.emplace<TextDocumentEdit>(), path);
  return read_union(value, "kind", path,
                    {alternative<CreateFile>(out, "create"), alternative<RenameFile>(out, "rename"),
                     alternative<DeleteFile>(out, "delete")});
}

json::value to_json(const DocumentChange& change) {
  return write_union(change);
}

}  // namespace escrow::protocol
