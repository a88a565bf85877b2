#include "protocol/escrow_admin.h"

namespace escrow::protocol {

bool from_json(const json::value& value, GrantsRevokeParams& out, const Path& path) {
  ObjectReader reader(value, path);
  reader.optional("grantId", out.grantId);
  reader.optional("all", out.all);
  if (!reader.ok()) return false;
  return out.grantId.has_value() != out.all.value_or(false) || path.fail("expected either grantId or all: true");
}

json::value to_json(const GrantsRevokeParams& params) {
  json::object object;
  ObjectWriter writer(object);
  writer.optional("grantId", params.grantId);
  writer.optional("all", params.all);
  return object;
}

}  // namespace escrow::protocol
