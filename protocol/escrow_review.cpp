#include "protocol/escrow_review.h"

#include "protocol/union.h"

namespace escrow::protocol {

bool from_json(const json::value& value, Change& out, const Path& path) {
  return read_union(value, "form", path,
                    {alternative<PatchChange>(out, "patch"), alternative<FilesChange>(out, "files"),
                     alternative<EditChange>(out, "edit")});
}

json::value to_json(const Change& change) {
  return write_union(change);
}

}  // namespace escrow::protocol
