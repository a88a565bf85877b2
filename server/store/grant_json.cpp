#include "server/store/grant_json.h"

#include <boost/json.hpp>

#include "server/store/json_member.h"

namespace escrow::server {
namespace {

std::optional<std::int64_t> number_at(const boost::json::object& object, std::string_view key) {
  const auto* found = object.if_contains(key);
  if (found == nullptr || !found->is_int64()) return std::nullopt;
  return found->get_int64();
}

/// The enumerator named at `key`, or an error that says which names there are to choose from.
template <class E>
Result<E> enum_at(const boost::json::object& object, std::string_view key) {
  const std::string text = text_at(object, key);
  if (const auto value = engine::parse_enum<E>(text)) return *value;
  return Error{ErrorKind::invalid_params, "grant: unknown " + std::string(key) + " `" + text + "`"};
}

void put_if(boost::json::object& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

}  // namespace

boost::json::object to_json(const engine::Grant& grant) {
  boost::json::object object{{"id", grant.id},
                             {"effect", engine::name_of(grant.effect)},
                             {"tool", grant.tool},
                             {"scope", engine::name_of(grant.scope)},
                             {"autonomy", engine::name_of(grant.max_autonomy)},
                             {"createdAt", grant.created_ms}};
  put_if(object, "match", grant.match);
  put_if(object, "subject", grant.subject_hash);
  put_if(object, "callId", grant.call_id);
  put_if(object, "workspace", grant.workspace);
  put_if(object, "session", grant.session);
  put_if(object, "reason", grant.reason);
  if (grant.expires_ms) object["expiresAt"] = *grant.expires_ms;
  return object;
}

Result<engine::Grant> grant_from_json(const boost::json::value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return Error{ErrorKind::invalid_params, "grant: expected an object"};
  const auto effect = enum_at<engine::GrantEffect>(*object, "effect");
  if (!effect) return effect.error();
  const auto scope = enum_at<engine::Scope>(*object, "scope");
  if (!scope) return scope.error();
  const auto autonomy = enum_at<engine::Autonomy>(*object, "autonomy");
  if (!autonomy) return autonomy.error();
  engine::Grant grant{.id = text_at(*object, "id"),
                      .effect = *effect,
                      .tool = text_at(*object, "tool"),
                      .match = text_at(*object, "match"),
                      .subject_hash = text_at(*object, "subject"),
                      .call_id = text_at(*object, "callId"),
                      .scope = *scope,
                      .workspace = text_at(*object, "workspace"),
                      .session = text_at(*object, "session"),
                      .max_autonomy = *autonomy,
                      .created_ms = number_at(*object, "createdAt").value_or(0),
                      .expires_ms = number_at(*object, "expiresAt"),
                      .reason = text_at(*object, "reason")};
  if (grant.tool.empty()) return Error{ErrorKind::invalid_params, "grant: `tool` is missing"};
  if (object->contains("expiresAt") && !grant.expires_ms) {
    return Error{ErrorKind::invalid_params, "grant: `expiresAt` must be an integer (milliseconds)"};
  }
  return grant;
}

}  // namespace escrow::server
